"""A program whose children become its own: the first process of a container, or one that adopts orphans."""
import subprocess
import sys

PROGRAM = """
import ctypes, pathlib, softtpu
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
for _ in range(3):
    softtpu.Device().close()
def state(folder):
    try:
        return (folder / "stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
import os
left = [s for s in map(state, pathlib.Path("/proc").glob("[0-9]*")) if s and s[0] == "Z" and int(s[1]) == os.getpid()]
print(len(left), "zombies")
"""


def test_devices_that_were_closed_leave_no_zombies():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100)
    assert done.stdout == "0 zombies\n", done.stdout + done.stderr
