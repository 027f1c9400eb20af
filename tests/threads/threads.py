"""The Python package used by several threads: threads.py MODULE NETWORK. scripts/check_threads runs it under ThreadSanitizer; MODULE is
host_test_kernels, NETWORK a recorded one of BM1684X."""
import os
import pathlib
import sys
import threading

import numpy as np

import softtpu

THREADS, ROUNDS, WORDS = 4, 6, 256


def use(number, shared, module, network):
    """One thread: an own device now and then, and the one that all share."""
    recorded = {ending: np.fromfile(network.with_suffix(f".{ending}.bin"), np.uint8) for ending in ("input", "output")}
    for turn in range(ROUNDS):
        own = softtpu.Device(chip="bm1684x") if turn % 3 == 0 else None
        device = own or shared
        loaded = device.load(module)
        words = device.zeros(WORDS, np.int32)
        loaded.kernel("write_kernel", "Qii")(words, WORDS, number * 1000 + turn)
        assert np.array_equal(words.numpy(), np.arange(WORDS) + number * 1000 + turn)
        with device.load_model(network) as model:
            run_network(model, recorded)
        loaded.unload()
        if own is not None:
            own.close()


def run_network(model, recorded):
    inputs, at = {}, 0
    for tensor in model.inputs():
        count = int(np.prod(tensor.shapes[0])) * np.dtype(tensor.dtype).itemsize
        inputs[tensor.name] = recorded["input"][at:at + count].view(tensor.dtype).reshape(tensor.shapes[0])
        at += count
    outputs = model(**inputs)
    got = [np.ascontiguousarray(outputs[tensor.name]).view(np.uint8).reshape(-1) for tensor in model.outputs()]
    assert np.array_equal(np.concatenate(got), recorded["output"])


def main():
    module, network = map(pathlib.Path, sys.argv[1:])
    os.environ.pop("LD_PRELOAD", None)  # the sanitizer is for this process; devices are not instrumented
    failures = []

    def guarded(number):
        try:
            use(number, shared, module, network)
        except BaseException as problem:  # a thread's own end would go unnoticed
            failures.append(problem)
    with softtpu.Device(chip="bm1684x") as shared:
        threads = [threading.Thread(target=guarded, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


if __name__ == "__main__":
    main()
