#!/usr/bin/env python3
"""Installs the build tree and builds and runs each sample alone against the installed softtpu."""
import argparse
import pathlib
import tempfile

from package_test import run

# What a sample is run with where all that it does takes long; ctest runs all of it in the build tree.
ARGUMENTS = {"bm1684_contest": ["softmax"]}
SAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "samples"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="the build tree")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run("cmake", "--install", options.build, "--prefix", folder / "softtpu")
        for sample in sorted(file.parent for file in SAMPLES.glob("*/CMakeLists.txt")):
            run("cmake", "-G", "Ninja", "-S", sample, "-B", folder / sample.name, f"-DCMAKE_PREFIX_PATH={folder / 'softtpu'}")
            run("cmake", "--build", folder / sample.name)
            print(f"{sample.name}: {run(folder / sample.name / sample.name, *ARGUMENTS.get(sample.name, [])).splitlines()[-1]}")


if __name__ == "__main__":
    main()
