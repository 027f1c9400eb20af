#!/usr/bin/env python3
"""Compares what the libraries export with the published interface (the JSON files beside this script).

A tpu_* or okk_* function that is not exported yet must be listed in tests/known_gaps.txt; one that is listed and exported fails.
--write rewrites the list from what the libraries export now."""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
GAPS = HERE.parent / "known_gaps.txt"


def published(name):
    return set(json.loads((HERE / f"{name}.json").read_text())["functions"])


def exported(library):
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines() if line.split()}


def read_gaps():
    lines = [line.split("#")[0].split() for line in GAPS.read_text().splitlines()]
    return {words[1] for words in lines if words[:1] == ["export"]}


def write_gaps(missing):
    kept = [line for line in GAPS.read_text().splitlines() if not line.startswith("export ")]
    GAPS.write_text("\n".join(kept + [f"export {name}" for name in sorted(missing)]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--firmware", required=True, help="libcmodel_firmware.so")
    parser.add_argument("--bmlib", help="libbmlib.so")
    parser.add_argument("--host", nargs=2, action="append", default=[], metavar=("LIBRARY", "FACTS"), help="another host library")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()

    kernel_functions = published("tpukernel") | published("tpukernel_newest") | published("okkernel") | published("bm_atomic")
    missing = kernel_functions - exported(options.firmware)
    if options.write:
        write_gaps(missing)
        return 0
    failures = []
    gaps = read_gaps()
    for name in sorted(missing - gaps):
        failures.append(f"libcmodel_firmware.so does not export {name}")
    for name in sorted(gaps - missing):
        failures.append(f"known_gaps.txt lists {name}, " + ("which is exported" if name in kernel_functions else "which is not published"))
    print(f"libcmodel_firmware.so: {len(kernel_functions - missing)} of {len(kernel_functions)} functions exported, {len(gaps)} listed gaps")
    if options.bmlib:
        host = published("bmlib") | published("bmlib_internal")
        absent = host - exported(options.bmlib)
        failures += [f"libbmlib.so does not export {name}" for name in sorted(absent)]
        print(f"libbmlib.so: {len(host - absent)} of {len(host)} functions exported")
    for library, facts in options.host:
        name, host = pathlib.Path(library).name, published(facts)
        absent = host - exported(library)
        failures += [f"{name} does not export {function}" for function in sorted(absent)]
        print(f"{name}: {len(host - absent)} of {len(host)} functions exported")
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
