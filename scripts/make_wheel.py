#!/usr/bin/env python3
"""Builds the wheel: Python's package with programs, libraries and headers inside, and with those libraries of this system that other systems
may lack. Its tag names the oldest glibc whose symbols anything in it needs. Called by scripts/package."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What every system with glibc and numpy has: the C library's parts, and GCC's runtime libraries, which numpy needs too.
OF_THE_SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util)|libstdc\+\+|libgcc_s)\.so\b")


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def is_elf(path):
    """Whether it is a program or library for this machine. One is for the chips' processor, and finds its libraries itself."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file, open("/proc/self/exe", "rb") as own:
        return _machine(file) == _machine(own)


def _machine(file):
    """The processor in an ELF header; None: the file has none."""
    head = file.read(20)
    return head[18:20] if head[:4] == b"\x7fELF" else None


def needed(path):
    """Names and places of the libraries that a program or library is loaded with."""
    found = {}
    for line in output("ldd", path).splitlines():
        match = re.match(r"\s*(\S+) => (\S+)", line)
        if match:
            if match[2] == "not":
                sys.exit(f"scripts/make_wheel.py: {path} needs {match[1]}, which is not found.")
            found[match[1]] = pathlib.Path(match[2])
    return found


def bundle(native):
    """Copies foreign libraries to lib/bundled and lets everything look for them there. Each file's own folder stays the first place."""
    folder = native / "lib/bundled"
    own = [path for path in native.rglob("*") if is_elf(path)]
    inside = {path.name for path in native.rglob("*.so*")}
    folder.mkdir()
    for path in own:
        for name, place in needed(path).items():
            if OF_THE_SYSTEM.match(name) or name in inside or (folder / name).exists():
                continue
            shutil.copy(place, folder / name)
            (folder / name).chmod(0o755)
    for path in own:
        to_lib = os.path.relpath(native / "lib", path.parent)
        path_list = ":".join(["$ORIGIN", f"$ORIGIN/{to_lib}", f"$ORIGIN/{to_lib}/bundled"])
        subprocess.run(["patchelf", "--set-rpath", path_list, path], check=True)
    for path in folder.iterdir():
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", path], check=True)


def oldest_glibc(native):
    """The version of glibc that the newest symbol needs."""
    newest = (2, 17)
    for path in filter(is_elf, native.rglob("*")):
        versions = re.findall(r"GLIBC_(\d+)\.(\d+)", output("objdump", "-T", path))
        newest = max([newest, *((int(major), int(minor)) for major, minor in versions)])
    return newest


def stage(build, folder):
    """The project as setuptools takes it, with the installed tree in softtpu/_native."""
    shutil.copytree(ROOT / "python", folder, ignore=shutil.ignore_patterns("__pycache__", "_native", "build", "*.egg-info"))
    native = folder / "softtpu/_native"
    for component in ("runtime", "development", "aarch64"):
        output("cmake", "--install", build, "--prefix", native, "--component", component, "--strip")
    # A wheel is a zip archive, which has no links: names of one file that programs ask for become copies, others go.
    for path in [path for path in native.rglob("*") if path.is_symlink()]:
        target = path.resolve()
        path.unlink()
        shutil.copy(target, path)
    shutil.rmtree(native / "lib/cmake", ignore_errors=True)
    shutil.rmtree(native / "lib/pkgconfig", ignore_errors=True)
    return native


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="the build tree")
    parser.add_argument("--dist", required=True, type=pathlib.Path, help="the folder that the wheel goes to")
    options = parser.parse_args()
    if re.search("^SOFTTPU_NATIVE_SIMD:BOOL=ON$", (options.build / "CMakeCache.txt").read_text(), re.MULTILINE):
        sys.exit(f"make_wheel.py: {options.build} is a quick build, with loops for this machine alone (SOFTTPU_NATIVE_SIMD): build without --quick")
    with tempfile.TemporaryDirectory() as name:
        project = pathlib.Path(name) / "python"
        native = stage(options.build, project)
        bundle(native)
        major, minor = oldest_glibc(native)
        platform = f"manylinux_{major}_{minor}_{os.uname().machine}"
        # In a file, since builders differ in which of their steps get an option.
        (project / "setup.cfg").write_text(f"[bdist_wheel]\nplat_name = {platform}\n")
        subprocess.run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", options.dist.resolve(), project], check=True,
                       stdout=subprocess.DEVNULL)
    for wheel in options.dist.glob("softtpu-*.whl"):
        print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
