"""Ctrl-C anywhere in the package: nothing stays open."""
import gc
import os
import pathlib
import sys

import numpy as np
import pytest

import softtpu

PACKAGE = str(pathlib.Path(softtpu.__file__).parent)


class CtrlC:
    """Raises KeyboardInterrupt before the given instruction of the package's own code; counts them."""

    def __init__(self, at):
        self.at, self.seen = at, 0

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)

    def _enter(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame, event, argument):
        if event == "opcode":
            self.seen += 1
            if self.seen == self.at:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self._step


def use_a_device():
    with softtpu.Device(chip="demo4") as dev:
        with dev.stream():
            dev.array(np.arange(4, dtype=np.int32)).numpy()


def open_files():
    gc.collect()
    softtpu.Device(chip="demo4").close()  # what an interrupted end has left is found by the next device
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_any_instruction_leaves_no_file_open():
    use_a_device()
    before = open_files()
    with CtrlC(0) as counted:
        use_a_device()
    step = max(1, counted.seen // 40)
    for at in range(1, counted.seen, step):
        try:
            with CtrlC(at):
                use_a_device()
        except KeyboardInterrupt:
            pass
    assert counted.seen > 500
    assert open_files() == before
