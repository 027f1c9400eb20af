#!/usr/bin/env python3
"""The calls of a dynamic network's layers beside those that were recorded: the same functions in the same order with the same operands,
places in local memory, strides, types and constants. Addresses in device memory alone are a run's own."""
import argparse
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NETWORKS = HERE.parent / "golden-networks/dynamic"
ENGINES = ("BDC", "GDMA", "HAU")
# What a trace says of a command beside its operands.
ABOUT = {"at", "bytes", "command", "writes"}


class Shape(ctypes.Structure):
    _fields_ = [("num_dims", ctypes.c_int), ("dims", ctypes.c_int * 8)]


def launch(build, network, number):
    """In a process of its own, whose environment names the trace."""
    ctypes.CDLL(build / "lib/libbmlib.so.0", mode=ctypes.RTLD_GLOBAL)
    bmlib, bmrt = ctypes.CDLL(build / "lib/libbmlib.so.0"), ctypes.CDLL(build / "lib/libbmrt.so")
    run = json.loads((NETWORKS / f"{network}.json").read_text())["runs"][number]
    handle = ctypes.c_void_p()
    assert bmlib.bm_dev_request(ctypes.byref(handle), 0) == 0
    bmrt.bmrt_create.restype = ctypes.c_void_p
    bmrt.bmrt_load_bmodel.restype = bmrt.bmrt_launch_data.restype = ctypes.c_bool
    runtime = ctypes.c_void_p(bmrt.bmrt_create(handle))
    assert bmrt.bmrt_load_bmodel(runtime, str(NETWORKS / f"{network}.bmodel").encode())
    given = (NETWORKS / f"{network}.run{number}.input.bin").read_bytes()
    inputs, at = [], 0
    for tensor in run["inputs"]:
        inputs.append(ctypes.create_string_buffer(given[at:at + tensor["bytes"]], tensor["bytes"]))
        at += tensor["bytes"]
    outputs = [ctypes.create_string_buffer(tensor["bytes"]) for tensor in run["outputs"]]
    pointers = [(ctypes.c_void_p * len(some))(*map(ctypes.addressof, some)) for some in (inputs, outputs)]
    shapes = (Shape * len(inputs))(*(Shape(len(one["shape"]), (ctypes.c_int * 8)(*one["shape"])) for one in run["inputs"]))
    made = (Shape * len(outputs))()
    assert bmrt.bmrt_launch_data(runtime, run["net"].encode(), pointers[0], shapes, len(inputs), pointers[1], made, len(outputs), True)
    assert b"".join(one.raw for one in outputs) == (NETWORKS / f"{network}.run{number}.output.bin").read_bytes(), "other bytes"


def call(name, operands):
    return name + " " + "; ".join(re.sub(r"0x1[0-9a-f]{8}\b", "device memory", one) for one in sorted(operands))


def ours(build, network, number):
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace.json")
        environment = dict(os.environ, SOFTTPU_TRACE=str(trace))
        subprocess.run([sys.executable, __file__, "--build", build, "--launch", network, "--run", str(number)], check=True, env=environment, timeout=100)
        events = json.loads(trace.read_text())
    # A kernel's commands have the line that called.
    return [call(event["name"], [f"{key} {value}" for key, value in event["args"].items() if key not in ABOUT])
            for event in events if event.get("cat") in ENGINES and "at" in event["args"]]


def recorded(network, number):
    calls = []
    for line in (NETWORKS / f"{network}.run{number}.calls.txt").read_text().splitlines():
        if line.startswith(("#", "tpu_initialize", "tpu_poll")):
            continue
        name, operands = re.fullmatch(r"(tpu_\w+(?: \[\w+\])?) ?(.*)", line).groups()
        calls.append(call(name, operands.split("; ")))
    return calls


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--launch", help="only launch this network")
    parser.add_argument("--run", type=int, default=0)
    options = parser.parse_args()
    if options.launch:
        return launch(options.build, options.launch, options.run)
    files = sorted(NETWORKS.glob("*.calls.txt"))
    assert len(files) >= 2
    for file in files:
        network, number = re.fullmatch(r"(.*)\.run(\d+)\.calls", file.stem).groups()
        mine, theirs = ours(options.build, network, int(number)), recorded(network, int(number))
        for place, (one, other) in enumerate(zip(mine, theirs)):
            assert one == other, f"{file.name}, call {place + 1}:\n{one}\nrecorded:\n{other}"
        assert len(mine) == len(theirs), f"{file.name}: {len(mine)} calls, not {len(theirs)}"
        print(f"{file.name}: {len(mine)} calls as recorded")


if __name__ == "__main__":
    main()
