#!/usr/bin/env python3
"""Kernels that their compiler has instrumented (-fsanitize), and kernels that want functions of closed libraries: built with each
compiler that is here, loaded and launched through libbmlib."""
import argparse
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

KERNELS = r"""
#include "tpu_kernel.h"
#include <stdlib.h>

typedef struct { unsigned long long address; int count, value; } param_t;

void fine(const void* args) {
  char* block = malloc(100);
  memset(block, 1, 100);
  free(block);
  *(int*)tpu_global_mem_addr(((const param_t*)args)->address) = 4711;
}
TPUKERNEL_FUNC_REGISTER(fine)

__attribute__((noinline)) static void write_at(char* block, int index) { block[index] = 1; }
void heap(const void* args) {
  char* volatile block = malloc(12);
  write_at(block, ((const param_t*)args)->value);
  free(block);
}
TPUKERNEL_FUNC_REGISTER(heap)

void freed(const void* args) {
  char* volatile block = malloc(40);
  free(block);
  write_at(block, ((const param_t*)args)->value);
}
TPUKERNEL_FUNC_REGISTER(freed)

void stack(const void* args) {
  char volatile block[16];
  write_at((char*)block, 4 + ((const param_t*)args)->value);
}
TPUKERNEL_FUNC_REGISTER(stack)

void copied(const void* args) {
  char* volatile block = malloc(12);
  memset(block, 0, ((const param_t*)args)->value + 1);
  free(block);
}
TPUKERNEL_FUNC_REGISTER(copied)

void overflow(const void* args) {
  volatile int sum = 0x7fffffff;
  sum += ((const param_t*)args)->value;
}
TPUKERNEL_FUNC_REGISTER(overflow)

void segv(const void* args) { (void)args; *(volatile int*)16 = 1; }
TPUKERNEL_FUNC_REGISTER(segv)
"""

CLOSED = r"""
#include "tpu_kernel.h"
void nodechip_softmax(int);
void nodechip_active(int);
void wants(const void* args) { (void)args; nodechip_softmax(1); nodechip_active(2); }
TPUKERNEL_FUNC_REGISTER(wants)
"""


def child(options):
    """The host program: loads the module, launches each kernel, prints the statuses; the library prints why."""
    lib = ctypes.CDLL(str(options.bmlib))
    lib.tpu_kernel_load_module_file.restype = ctypes.c_void_p
    lib.bm_malloc_device_mem.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_ulonglong), ctypes.c_int, ctypes.c_ulonglong]
    handle, address = ctypes.c_void_p(), ctypes.c_ulonglong()
    assert lib.bm_dev_request(ctypes.byref(handle), 0) == 0

    def allocate():
        assert lib.bm_malloc_device_mem(handle, ctypes.byref(address), 0, 4096) == 0

    if options.allocate_first:
        allocate()
    if not lib.tpu_kernel_load_module_file(handle, str(options.module).encode()):
        print("not loaded")
        return 3
    if not options.allocate_first:
        allocate()
    for name in options.launch.split(","):
        args = (ctypes.c_ulonglong * 2)(address.value, 12 << 32)
        print(f"{name}: status {lib.tpu_kernel_launch_sync(handle, name.encode(), args, 16)}", flush=True)
    return 0


def build(options, folder, name, compiler, flags, text=KERNELS):
    source, module = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    command = [compiler, "-O1", "-g", "-fno-builtin", "-fPIC", "-shared", f"-I{options.include}", "-o", module, source, *flags]
    subprocess.run(list(map(str, command)), check=True)
    return module


def run(options, module, launch, status=0, flags=(), **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SOFTTPU_", "LD_", "ASAN_"))}
    command = [sys.executable, __file__, "--bmlib", options.bmlib, "--module", module, "--launch", launch, *flags]
    result = subprocess.run(list(map(str, command)), env={**clean, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, timeout=120)
    if result.returncode != status:
        sys.exit(f"FAILED: status {result.returncode}, expected {status}\n{' '.join(map(str, command))}\n{result.stdout}")
    return result.stdout


def check(output, *expected, absent=()):
    for text in expected:
        if text not in output:
            sys.exit(f"FAILED: {text!r} is not in\n{output}")
    for text in absent:
        if text in output:
            sys.exit(f"FAILED: {text!r} is in\n{output}")


def address(options, folder, compiler):
    module = build(options, folder, f"address_{compiler}", compiler, ["-fsanitize=address"])
    output = run(options, module, "fine,heap,freed,stack,copied,segv,fine")
    check(output, 'kernel "heap" on core 0 was ended by AddressSanitizer: heap-buffer-overflow on address',
          "12-byte region", "heap: status 2",
          'kernel "freed" on core 0 was ended by AddressSanitizer: heap-use-after-free',
          'kernel "stack" on core 0 was ended by AddressSanitizer: stack-buffer-overflow',
          'kernel "copied" on core 0 was ended by AddressSanitizer: heap-buffer-overflow',
          'kernel "segv" on core 0 was ended by signal 11', f"address_{compiler}.c:15",
          absent=("fine: status 2", "softtpu::"))
    if output.count("fine: status 0") != 2:
        sys.exit(f"FAILED: a launch after a report\n{output}")
    # A device that is in use cannot start again; what to do is said.
    output = run(options, module, "fine", 3, ["--allocate-first"])
    check(output, "is built with -fsanitize=address", "SOFTTPU_PRELOAD=/" if compiler == "clang" else "SOFTTPU_PRELOAD=libasan.so")
    preload = output.split("SOFTTPU_PRELOAD=")[1].split()[0].rstrip(".")
    check(run(options, module, "fine,heap", 0, ["--allocate-first"], SOFTTPU_PRELOAD=preload), "fine: status 0",
          "was ended by AddressSanitizer: heap-buffer-overflow")
    output = run(options, module, "fine", 1, SOFTTPU_PRELOAD="/nowhere/libasan.so")
    check(output, 'SOFTTPU_PRELOAD: "/nowhere/libasan.so": No such file or directory')
    # The module that the environment names is known before the device starts.
    check(run(options, module, "heap", 0, ["--allocate-first"], TPUKERNEL_FIRMWARE_PATH=str(module)), "AddressSanitizer: heap-buffer-overflow")


def behaviour(options, folder, compiler):
    printing = build(options, folder, f"printing_{compiler}", compiler, ["-fsanitize=undefined"])
    check(run(options, printing, "overflow,fine"), "runtime error: signed integer overflow: ", f"printing_{compiler}.c:45",
          'kernel "overflow" on core 0: a sanitizer reports', "overflow: status 0", "fine: status 0")
    ending = build(options, folder, f"ending_{compiler}", compiler, ["-fsanitize=undefined", "-fno-sanitize-recover=all"])
    check(run(options, ending, "overflow,fine"),
          'kernel "overflow" on core 0 was ended by UndefinedBehaviorSanitizer: signed integer overflow: ',
          f"ending_{compiler}.c:45", "overflow: status 2", "fine: status 0")
    flag = "-fsanitize-undefined-trap-on-error" if compiler == "gcc" else "-fsanitize-trap=undefined"
    trapping = build(options, folder, f"trapping_{compiler}", compiler, ["-fsanitize=undefined", flag])
    check(run(options, trapping, "overflow,fine"), 'kernel "overflow" on core 0 was ended by signal 4', "a sanitizer's trapping checks",
          "overflow: status 2", "fine: status 0")
    both = build(options, folder, f"both_{compiler}", compiler, ["-fsanitize=address,undefined"])
    check(run(options, both, "overflow,heap,fine"), "signed integer overflow: ", "AddressSanitizer: heap-buffer-overflow",
          "fine: status 0")


def others(options, folder, compiler):
    thread = build(options, folder, f"thread_{compiler}", compiler, ["-fsanitize=thread"])
    check(run(options, thread, "fine", 3), "is built with -fsanitize=thread", "-fsanitize=address and -fsanitize=undefined")


def closed(options, folder):
    module = build(options, folder, "closed", "gcc", [], CLOSED)
    check(run(options, module, "wants", 3), "it needs nodechip_active and nodechip_softmax. nodechip_* are not TPUKernel or OKKernel functions",
          "closed backend", absent=("Bad file descriptor",))
    newer = build(options, folder, "newer", "gcc", [], CLOSED.replace("nodechip_softmax", "tpu_bdc_of_next_year").replace("nodechip_", "tpu_bdc_"))
    check(run(options, newer, "wants", 3), "it needs tpu_bdc_active and tpu_bdc_of_next_year, which this softtpu does not have")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bmlib", type=pathlib.Path, required=True)
    parser.add_argument("--include", type=pathlib.Path)
    parser.add_argument("--module", type=pathlib.Path)
    parser.add_argument("--launch")
    parser.add_argument("--allocate-first", action="store_true")
    options = parser.parse_args()
    if options.module:
        return child(options)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        closed(options, folder)
        for compiler in ("gcc", "clang"):
            if not shutil.which(compiler):
                print(f"{compiler} is not installed, left out")
                continue
            address(options, folder, compiler)
            behaviour(options, folder, compiler)
            others(options, folder, compiler)
            print(f"{compiler}: address, undefined (printing, ending, trapping), both; thread is refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
