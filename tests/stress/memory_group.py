"""A shared device in a memory cgroup: a kernel that takes more than there is loses its core; no other client loses anything.

Ends with 77 where this machine lets no memory group be made."""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import softtpu

LIMIT = 256 << 20
KERNEL = """
#include <stdlib.h>
#include <string.h>
#include <tpu_kernel.h>
typedef struct { unsigned long long dst; int count, mib; } args_t;
void put(const void* raw) {
  const args_t* args = raw;
  for (int i = 0; i < args->mib; ++i) {
    char* block = malloc(1 << 20);
    if (block != NULL) memset(block, i + 1, 1 << 20);
  }
  int* out = tpu_global_mem_addr(args->dst);
  for (int i = 0; i < args->count; ++i) out[i] = args->mib + i;
}
TPUKERNEL_FUNC_REGISTER(put)
"""


def make_group():
    """A folder whose `cgroup.procs` takes processes; None: there cannot be one."""
    for root, limit in ((pathlib.Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"), (pathlib.Path("/sys/fs/cgroup"), "memory.max")):
        group = root / f"softtpu-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(LIMIT))
            return group
        except OSError:
            group.rmdir()
    return None


def works(device):
    out = device.empty(4, np.int32)
    device.put.put(out, 4, 1)
    return out.numpy().tolist() == [1, 2, 3, 4]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--softtpu", required=True)
    softtpu_program = parser.parse_args().softtpu
    group = make_group()
    if group is None:
        print("no memory group can be made here")
        return 77
    folder = tempfile.TemporaryDirectory()
    socket = pathlib.Path(folder.name) / "device.sock"
    log = pathlib.Path(folder.name) / "log"
    server = subprocess.Popen([softtpu_program, "serve", "--socket", str(socket), "--chip", "bm1684x", "--log-file", str(log)],
                              stdout=subprocess.DEVNULL, preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
    try:
        while not socket.exists():
            time.sleep(0.05)
        witness, greedy = (softtpu.Device(device=f"unix:{socket}") for _ in range(2))
        for device in (witness, greedy):
            device.put = device.compile(KERNEL)
            assert works(device)
        for _ in range(3):
            try:
                greedy.put.put(greedy.empty(4, np.int32), 4, 4 * LIMIT >> 20)
                raise AssertionError("the kernel got more memory than there is")
            except softtpu.LaunchError as error:
                print(str(error).splitlines()[0])
            assert works(witness), "another client goes on"
        assert works(greedy), "so does this one"
        assert server.poll() is None
        witness.close()
        greedy.close()
    finally:
        server.send_signal(signal.SIGTERM)
        ended = server.wait(20)
        time.sleep(0.2)
        group.rmdir()
    assert ended == 0
    print("good")
    return 0


if __name__ == "__main__":
    sys.exit(main())
