#!/usr/bin/env python3
"""Installs the build tree, moves the result elsewhere, and builds and runs a small project against it: once with find_package, once
with pkg-config and plain compiler calls."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).parent / "project"
# Nothing of the build tree may be found by accident.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("SOFTTPU_", "LD_LIBRARY_PATH", "TPUKERNEL_"))}


def run(*command, **variables):
    result = subprocess.run([str(word) for word in command], env={**CLEAN, **variables}, capture_output=True, text=True, timeout=120)
    if result.returncode:
        sys.exit(f"FAILED ({result.returncode}): {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def trial(program, module):
    output = run(program, module)
    if "status 0" not in output:
        sys.exit(f"FAILED: {program} printed {output!r}")


def with_cmake(prefix, folder):
    run("cmake", "-G", "Ninja", "-S", PROJECT, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder)
    trial(folder / "trial", folder / "trial_kernel.so")


def with_pkg_config(prefix, folder):
    def flags(package):
        return run("pkg-config", "--cflags", "--libs", package, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig")).split()
    folder.mkdir()
    run("gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-DUSING_CMODEL", "-o", folder / "kernel.so",
        PROJECT / "device_trial.c", *flags("cmodel_firmware"), "-Wl,--no-undefined")
    run("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", folder / "trial", PROJECT / "host_trial.cpp", *flags("bmlib"))
    trial(folder / "trial", folder / "kernel.so")


def debian_package(build, folder):
    """The package of the program for modules of the chips' processor, where the build has that program. It is small; the others take long."""
    program, config = build / "lib/softtpu_aarch64_modules", build / "CPackConfig.cmake"
    # A quick build makes no packages; what an earlier build has left counts for nothing.
    quick = re.search("^SOFTTPU_NATIVE_SIMD:BOOL=ON$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    if quick or not program.exists() or not config.exists() or shutil.which("dpkg-deb") is None:
        return
    run("cpack", "-G", "DEB", "--config", config, "-B", folder, "-D", "CPACK_COMPONENTS_ALL=aarch64;debian-softtpu-aarch64",
        "-D", f"CPACK_PACKAGE_DIRECTORY={folder}")
    package, = folder.glob("softtpu-aarch64_*.deb")
    run("dpkg-deb", "--extract", package, folder / "tree")
    packed = folder / "tree/usr/lib/softtpu/lib/softtpu_aarch64_modules"
    if packed.read_bytes() != program.read_bytes() or not os.access(packed, os.X_OK):
        sys.exit("FAILED: the package has another softtpu_aarch64_modules than the build")
    depends = run("dpkg-deb", "--field", package, "Depends")
    for name in ("softtpu (=", "qemu-user", "libc6-arm64-cross"):
        if name not in depends:
            sys.exit(f"FAILED: the package depends on {depends!r}, not on {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="the build tree")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run("cmake", "--install", options.build, "--prefix", folder / "first")
        prefix = folder / "moved here"
        shutil.move(folder / "first", prefix)
        with_cmake(prefix, folder / "cmake")
        # pkg-config splits at blanks, so it gets a place without one.
        shutil.move(prefix, folder / "again")
        with_pkg_config(folder / "again", folder / "pkg")
        debian_package(pathlib.Path(options.build), folder / "debian")
    print("the installed tree works where it was moved to, with CMake and with pkg-config")


if __name__ == "__main__":
    main()
