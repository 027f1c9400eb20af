#!/usr/bin/env python3
"""The samples in the comments of softtpu's own headers compile and run as they stand (ctest header_samples).

    header_samples_test.py --prefix INSTALLED

A sample is a run of lines in a comment that are indented by three; a line of dots stands for code of the reader."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from document_test import environment, without_spaces  # noqa: E402

HEADERS = pathlib.Path(__file__).resolve().parent.parent.parent / "host/include/softtpu"
PROGRAM = """#include <bmlib_runtime.h>
#include <softtpu/device.h>
#include <stdio.h>
int main(void) {
%s  return 0;
}
"""
KERNEL = """#include <%s>
#include <softtpu/layout.h>
typedef struct { unsigned long long global; } args_t;
void sample(const void* raw) {
  const args_t* args = raw;
  const unsigned long long global = args->global;
  const local_addr_t local = 0;
  const softtpu_conv_block_t block = {.npu_num = 64, .eu_bytes = 64, .oc = 80, .ic = 40, .kh = 3, .kw = 3, .ic_pack = SOFTTPU_32IC,
                                      .element_bytes = 2, .bias_bytes = 4};
  const int n = 5, c = 3, h = 2, w = 7;
  (void)block, (void)n, (void)c, (void)h, (void)w;
  %s_initialize();
%s  %s_poll();
}
%s(sample)
"""
LAUNCH = """import numpy, softtpu
with softtpu.Device(chip="{chip}") as device:
    memory = device.array(numpy.zeros(1 << 20, numpy.uint8))
    device.compile("sample.c", flags="-Wl,--no-as-needed,-lsofttpu_layout,-rpath,{prefix}/lib").sample(memory)
"""


def samples(header):
    """The samples of a header's comments, as C."""
    for block in re.findall(r"(?:^ \*   \S.*\n)+", header.read_text(), re.M):
        lines = [line[5:] for line in block.splitlines() if not line[5:].startswith("...")]
        yield "".join(f"  {line}\n" for line in lines)


def run(command, folder, prefix):
    done = subprocess.run(command, cwd=folder, env=environment(prefix), capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        sys.exit(f"FAILED: {' '.join(command)}\n{done.stdout}{done.stderr}\n{pathlib.Path(folder, 'sample.c').read_text()}")


def try_sample(text, prefix):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "sample.c"
        if "softtpu_device_open" in text:
            source.write_text(PROGRAM % text)
            run(["gcc", "-Wall", "-Wextra", "-Werror", "sample.c", "-o", "sample", f"-I{prefix}/include", f"-L{prefix}/lib", "-lbmlib",
                 f"-Wl,-rpath,{prefix}/lib"], folder, prefix)
            run(["./sample"], folder, prefix)
            return
        okk = "okk_" in text
        names = ("okk.h", "okk", text, "okk", "OKKERNEL_FUNC_REGISTER") if okk else ("tpu_kernel.h", "tpu", text, "tpu", "TPUKERNEL_FUNC_REGISTER")
        source.write_text(KERNEL % names)
        (pathlib.Path(folder) / "launch.py").write_text(LAUNCH.format(chip="bm1684" if okk else "bm1684x", prefix=prefix))
        run(["/usr/bin/python3", "launch.py"], folder, prefix)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=pathlib.Path, required=True, help="where softtpu is installed")
    options = parser.parse_args()
    found = [text for header in sorted(HEADERS.glob("*.h")) for text in samples(header)]
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.fspath(without_spaces(options.prefix, folder))
        for text in found:
            try_sample(text, prefix)
    print(f"{len(found)} samples in comments compile and run")
    return 0 if len(found) >= 3 else 1


if __name__ == "__main__":
    sys.exit(main())
