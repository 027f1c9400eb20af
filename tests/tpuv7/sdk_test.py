#!/usr/bin/env python3
"""Lays out the trees of `softtpu sdk tpuv7` and `softtpu sdk ppl`, builds projects of the SDKs' own shapes against them with nothing
edited, and uses the launcher's commands on the programs: checks, times, records, dumps, a shared device."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "samples"
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("SOFTTPU_", "LD_LIBRARY_PATH", "TPUKERNEL_", "PPL_", "CHIP"))}


def finish(status, *command, cwd=None, **variables):
    """Runs a command that has to end with this status; both of its outputs."""
    result = subprocess.run([str(word) for word in command], env={**CLEAN, **variables}, capture_output=True, text=True, timeout=200, cwd=cwd)
    if result.returncode != status:
        sys.exit(f"FAILED ({result.returncode}): {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def run(*command, **variables):
    return finish(0, *command, **variables)


def check(text, expected):
    if expected not in text:
        sys.exit(f"FAILED: {expected!r} is not in {text!r}")


def build_tpuv7(launcher, folder):
    """A host program and a kernel, with the link names of the SDK."""
    sdk = folder / "tpuv7"
    check(run(launcher, "sdk", "tpuv7", sdk), "tpuv7_rt")
    source = SAMPLES / "tpuv7_stream"
    run("gcc", "-std=gnu11", "-g", "-shared", "-fPIC", "-DUSING_CMODEL", f"-I{sdk}/include", "-o", folder / "kernel.so", source / "kernel.c",
        f"-L{sdk}/lib", "-ltpuv7_emulator", "-Wl,--no-undefined")
    program = folder / "tpuv7_stream"
    run("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f'-DKERNEL_MODULE="{folder}/kernel.so"', f"-I{sdk}/include", "-o", program,
        source / "main.c", f"-L{sdk}/lib", "-ltpuv7_rt", "-lcdm_daemon_emulator", f"-Wl,-rpath,{sdk}/lib")
    check(run(program), "0 of 131072 numbers wrong")
    return program


def use_commands(launcher, program, folder):
    """What works for programs on libbmlib works for these."""
    check(run(launcher, "run", "--check=all", "--", program), "0 of 131072 numbers wrong")
    check(run(launcher, "run", "--time", "--", program), "axpy")
    report = folder / "report.json"
    run(launcher, "run", "--check=all", f"--report=json:{report}", "--", program)
    json.loads(report.read_text())
    run(launcher, "report", "-o", folder / "page.html", "--", program)
    check((folder / "page.html").read_text(), "axpy")
    record = folder / "second.launch"
    run(launcher, "run", "--record", record, "--record-launch", "2", "--", program)
    run(launcher, "replay", "--check=all", record)
    trace = folder / "trace.json"
    run(program, SOFTTPU_TRACE=str(trace))
    check(trace.read_text(), "axpy")
    check(run(program, SOFTTPU_TRANSPORT="stream"), "0 of 131072 numbers wrong")
    commands = folder / "commands.gdb"
    commands.write_text("backtrace 1\n")
    if shutil.which("gdb"):
        check(run(launcher, "run", "--gdb-commands", commands, "--", program), "axpy")


def use_shared_device(launcher, program, folder):
    """Two programs on one served device; the server's end is an error with one line."""
    runtime = folder / "run"
    runtime.mkdir(mode=0o700)
    socket = runtime / "device.sock"
    server = subprocess.Popen([str(launcher), "serve", "--check=all", "--socket", str(socket)], env={**CLEAN, "XDG_RUNTIME_DIR": str(runtime)},
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        server.stdout.readline()
        device = f"unix:{socket}"
        check(run(program, SOFTTPU_DEVICE=device), "0 of 131072 numbers wrong")
        check(run(launcher, "info", SOFTTPU_DEVICE=device), "bm1684x")
        check(run(launcher, "dump", "--address", "0", "--bytes", "16", SOFTTPU_DEVICE=device), "00000000")
    finally:
        server.terminate()
        server.wait(timeout=30)
    check(finish(1, program, SOFTTPU_DEVICE=device), "[tpurt][error] tpuRtSetDevice: ")


def build_ppl(launcher, folder):
    """The sample's own build file, which knows PPL_RUNTIME_PATH and CHIP_ARCH only."""
    sdk = folder / "ppl"
    check(run(launcher, "sdk", "ppl", sdk), "PPL_RUNTIME_PATH")
    project = folder / "project"
    shutil.copytree(SAMPLES / "ppl_project", project)
    variables = {"PPL_RUNTIME_PATH": str(sdk), "CHIP_ARCH": "bm1684x"}
    run("cmake", "-G", "Ninja", "-S", project, "-B", folder / "built", **variables)
    run("cmake", "--build", folder / "built", **variables)
    program = folder / "built/test_case"
    text = run(program, **variables)
    check(text, "1 workitem: 0 of 7680 numbers wrong")
    check(text, "8 workitems: 0 of 7680 numbers wrong")
    shutil.move(folder / "built/libcmodel.so", folder / "kernels.so")
    check(run(program, PPL_KERNEL_PATH=str(folder / "kernels.so"), TPU_RT_CORE_NUM="1"), "8 workitems: 0 of 7680")
    check(finish(1, program), "No such file or directory")
    check(run(launcher, "run", "--check=all", "--", program, PPL_KERNEL_PATH=str(folder / "kernels.so")), "8 workitems: 0 of 7680")
    text = finish(1, "cmake", "-G", "Ninja", "-S", project, "-B", folder / "other", PPL_RUNTIME_PATH=str(sdk), CHIP_ARCH="bm9999")
    check(text, "chip bm9999 is not one of")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="the build tree, or where softtpu is installed")
    options = parser.parse_args()
    launcher = pathlib.Path(options.build).resolve() / "bin/softtpu"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = build_tpuv7(launcher, folder)
        use_commands(launcher, program, folder)
        use_shared_device(launcher, program, folder)
        build_ppl(launcher, folder)
        check(finish(2, launcher, "sdk", "nothing", folder / "x").replace("\n", " "), "nothing")
    print("projects of tpuv7 and PPL build and run unchanged")


if __name__ == "__main__":
    main()
