"""The libraries in sub-interpreters of one process. NumPy does not load a second time there, so the package itself is for the first one that
imports it."""
import os
import subprocess
import sys

import softtpu

PROGRAM = """
import _xxsubinterpreters as interpreters, os, sys
use = '''
import ctypes
library = ctypes.CDLL(%r)
handle = ctypes.c_void_p()
assert library.bm_dev_request(ctypes.byref(handle), 0) == 0
library.bm_dev_free(handle)
''' % sys.argv[1]
counts = []
for _ in range(4):
    made = interpreters.create()
    interpreters.run_string(made, use)
    interpreters.destroy(made)
    counts.append(len(os.listdir("/proc/self/fd")))
print("good" if counts[1] == counts[-1] else counts)
"""


def test_each_interpreter_of_a_process_can_use_a_device():
    library = os.fspath(softtpu._native.tree().lib / "libbmlib.so")
    done = subprocess.run([sys.executable, "-c", PROGRAM, library], capture_output=True, text=True, timeout=60)
    assert done.stdout == "good\n", done.stdout + done.stderr
