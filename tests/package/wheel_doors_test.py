#!/usr/bin/env python3
"""Makes the wheel of a build, installs it into a fresh environment beside the system's distributed, and runs wheel_doors.py there.
Ends with 77 where no wheel can be made: of a quick build, or without the packages of scripts/setup that make one."""
import argparse
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

FOLDER = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=500)
    if done.returncode:
        sys.exit(f"FAILED ({done.returncode}): {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build tree")
    parser.add_argument("--wheel", type=pathlib.Path, help="a wheel that exists, instead of one of the build")
    options = parser.parse_args()
    cache = (options.build / "CMakeCache.txt").read_text()
    if options.wheel is None and re.search(r"^SOFTTPU_NATIVE_SIMD:BOOL=ON$", cache, re.M):
        print("skipped: a quick build (SOFTTPU_NATIVE_SIMD) makes no wheel")
        sys.exit(SKIPPED)
    if options.wheel is None and (shutil.which("patchelf") is None or importlib.util.find_spec("build") is None):
        print("skipped: the wheel needs patchelf and python3-build (scripts/setup)")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        wheel = options.wheel
        if wheel is None:
            run(sys.executable, FOLDER.parent.parent / "scripts/make_wheel.py", "--build", options.build, "--dist", folder / "dist")
            wheel, = (folder / "dist").glob("softtpu-*.whl")
        program = "softtpu/_native/lib/softtpu_aarch64_modules"
        with zipfile.ZipFile(wheel) as archive:
            has = program in archive.namelist()
        if options.wheel is None and has != (options.build / "lib/softtpu_aarch64_modules").exists():
            sys.exit(f"FAILED: {program} is {'' if has else 'not '}in the wheel, unlike in the build")
        # NumPy, cloudpickle and distributed are those of the system.
        run(sys.executable, "-m", "venv", "--system-site-packages", folder / "env")
        run(folder / "env/bin/pip", "install", "--quiet", "--no-index", "--no-deps", wheel)
        sys.exit(subprocess.run([folder / "env/bin/python", FOLDER / "wheel_doors.py"], check=False, timeout=700).returncode)


if __name__ == "__main__":
    main()
