#!/usr/bin/env python3
"""Lays out the tree of the OKKernel SDK, builds a project with host/, device/ and a makefile against it, and runs it both ways: kernels
inside each program, and kernels as a module in a device process."""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).parent / "project"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("SOFTTPU_", "LD_LIBRARY_PATH", "TPUKERNEL_"))}


def finish(status, *command, **variables):
    """Runs a command that has to end with this status; both of its outputs."""
    result = subprocess.run([str(word) for word in command], env={**CLEAN, **variables}, capture_output=True, text=True, timeout=100)
    if result.returncode != status:
        sys.exit(f"FAILED ({result.returncode}): {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def run(*command, **variables):
    return finish(0, *command, **variables)


def files_of(tree):
    return sorted(str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file())


def check(text, expected):
    if expected not in text:
        sys.exit(f"FAILED: {expected!r} is not in {text!r}")


def check_faults_inside(program):
    """Kernels that break down inside the program: a failed launch that names the cause, or an end that does."""
    text = run(program)
    check(text, "faults: 0 wrong")
    for cause in ("kernel \"fault_pointer\" was stopped by signal 11 (Segmentation fault) at address 0x10",
                  "kernel \"fault_division\" was stopped by signal 8 (Floating point exception)",
                  "kernel \"fault_call\" was stopped by signal 11 (Segmentation fault) at address 0x0",
                  "kernel \"fault_argument\" was stopped by signal 11 (Segmentation fault) at address 0x1",
                  "kernel \"fault_copy\" was stopped by signal 11",
                  "kernel \"fault_local_memory\" was stopped by signal 11",
                  "kernel \"fault_recursion\" needs more stack than the 64 MiB that a kernel has",
                  "kernel \"fault_array\" needs more stack than the 64 MiB that a kernel has"):
        check(text, cause)
    text = finish(-signal.SIGSEGV, program, "fault_in_library")
    check(text, "kernel \"fault_in_library\" was stopped by signal 11 (Segmentation fault) at address 0x10, outside its own code")
    check(finish(233, program, "fault_assertion"), "Assertion \"nothing == 1\" failed")


def check_command(launcher, project):
    """`softtpu run` and `softtpu report` start programs of this tree, also through a script, and say nothing about symbols."""
    scale = project / "build/scale"
    check(run(launcher, "run", "--", scale), "scale: 0 of 327680 wrong")
    check(run(launcher, "run", "--check=all", "--", "sh", "-c", f"{scale} && echo through a script"), "through a script")
    page = project / "page.html"
    check(run(launcher, "report", "-o", page, "--", scale), "1 launch in")
    check(page.read_text(), "scale")


def check_devices_without_the_kernels(project, folder):
    """A device that does not have the program's kernels: found from the tree, and the program is told what to do."""
    scale = project / "build/scale"
    modules = {"SOFTTPU_DEVICE": "embedded", "TPUKERNEL_FIRMWARE_PATH": str(project / "build/kernels.so")}
    check(run(scale, **modules), "scale: 0 of 327680 wrong")
    hints = ('kernel "scale" is not found: no module registers it.', "linked in, which run in the program itself only: unset SOFTTPU_DEVICE",
             "TPUKERNEL_FIRMWARE_PATH")
    text = finish(6, scale, SOFTTPU_DEVICE="embedded")
    for hint in hints:
        check(text, hint)
    socket = folder / "device.sock"
    server = subprocess.Popen([str(project.parent / "second/bin/softtpu-device"), "--serve", "--socket", str(socket)],
                              env={**CLEAN, "SOFTTPU_CHIP": "bm1684"}, stdout=subprocess.PIPE)
    try:
        server.stdout.readline()
        text = finish(6, scale, SOFTTPU_DEVICE=f"unix:{socket}")
        for hint in hints:
            check(text, hint)
    finally:
        server.terminate()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="the build tree")
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tree = folder / "okkernel"
        run("cmake", "--install", build, "--component", "okkernel", "--prefix", tree)
        for needed in ("include/okk.h", "include/bm_atomic.h", "include/bmlib_runtime.h", "lib/cmodel/libbmlib.so"):
            check("\n".join(files_of(tree)), needed)
        launcher = build / "bin/softtpu"
        if launcher.exists() and "sdk" in run(launcher, "--help"):
            second = folder / "second"
            run(launcher, "sdk", "okkernel", second)
            run(launcher, "sdk", "okkernel", second)  # again, over it
            check(str([file for file in files_of(second) if not file.startswith("bin/")]), str(files_of(tree)))
            tree = second
        project = folder / "project"
        shutil.copytree(PROJECT, project)
        make = ("make", "-C", project, f"OKKERNEL={tree}", "USING_CMODEL=1")
        run(*make)
        check(run(project / "build/scale"), "scale: 0 of 327680 wrong")
        check(run(project / "build/stack"), "stack: 0 wrong")
        check(run(project / "build/atomic"), "bm_atomic_max_pool: this older interface (bm_atomic.h) has no description")
        check(run(project / "build/scale", BMLIB_LOG="40"), "okkernel_load_firmware: the emulator needs no firmware")
        check_faults_inside(project / "build/faults")
        run(*make, "module")
        apart = {"TPUKERNEL_FIRMWARE_PATH": str(project / "build/kernels.so"),
                 "SOFTTPU_DEVICE_BINARY": str(build / "bin/softtpu-device")}
        check(run(project / "build/scale_alone", **apart), "scale: 0 of 327680 wrong")
        check(run(project / "build/stack_alone", **apart), "stack: 0 wrong")
        check(run(project / "build/faults_alone", **apart), "faults: 0 wrong")
        if (tree / "bin").exists():
            check_command(launcher, project)
            check_devices_without_the_kernels(project, folder)
        check(run(project / "build/faults_alone", "fault_in_library", **apart), "fault_in_library: status 2")
        check(run(project / "build/faults_alone", "fault_assertion", **apart), "fault_assertion: status 2")
    print("the OKKernel project runs with its kernels inside the programs and as a module")


if __name__ == "__main__":
    main()
