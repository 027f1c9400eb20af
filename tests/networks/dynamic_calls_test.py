#!/usr/bin/env python3
"""The calls of a dynamic network's layers beside those that were recorded: the same functions in the same order with the same operands,
places in local memory, strides, types and constants. Addresses in device memory alone are a run's own.

With --recordings FOLDER (../shared/bmodel/dynamic) all recorded lists are compared and counted: strides over extents of 1, and those
that stand for no stride, do not count. Every run has to give the recorded bytes."""
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


def launch(build, networks, network, number):
    """In a process of its own, whose environment names the trace."""
    ctypes.CDLL(build / "lib/libbmlib.so.0", mode=ctypes.RTLD_GLOBAL)
    bmlib, bmrt = ctypes.CDLL(build / "lib/libbmlib.so.0"), ctypes.CDLL(build / "lib/libbmrt.so")
    run = json.loads((networks / f"{network}.json").read_text())["runs"]
    run = next(one for place, one in enumerate(run) if one.get("run", place) == number)
    file = next(file for file in (networks / f"{network}.bmodel", networks / f"{network.rpartition('.')[0]}.bmodel") if file.exists())
    handle = ctypes.c_void_p()
    assert bmlib.bm_dev_request(ctypes.byref(handle), 0) == 0
    bmrt.bmrt_create.restype = ctypes.c_void_p
    bmrt.bmrt_load_bmodel.restype = bmrt.bmrt_launch_data.restype = ctypes.c_bool
    runtime = ctypes.c_void_p(bmrt.bmrt_create(handle))
    assert bmrt.bmrt_load_bmodel(runtime, str(file).encode())
    given = (networks / f"{network}.run{number}.input.bin").read_bytes()
    inputs, at = [], 0
    for tensor in run["inputs"]:
        inputs.append(ctypes.create_string_buffer(given[at:at + tensor["bytes"]], tensor["bytes"]))
        at += tensor["bytes"]
    outputs = [ctypes.create_string_buffer(tensor["bytes"]) for tensor in run["outputs"]]
    pointers = [(ctypes.c_void_p * len(some))(*map(ctypes.addressof, some)) for some in (inputs, outputs)]
    shapes = (Shape * len(inputs))(*(Shape(len(one["shape"]), (ctypes.c_int * 8)(*one["shape"])) for one in run["inputs"]))
    made = (Shape * len(outputs))()
    assert bmrt.bmrt_launch_data(runtime, run.get("net", network.rpartition("_")[0]).encode(), pointers[0], shapes, len(inputs), pointers[1], made, len(outputs), True)
    assert b"".join(one.raw for one in outputs) == (networks / f"{network}.run{number}.output.bin").read_bytes(), "other bytes"


def call(name, operands):
    return name + " " + "; ".join(re.sub(r"0x1[0-9a-f]{8}\b", "device memory", one) for one in sorted(operands))


def ours(build, networks, network, number):
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace.json")
        environment = dict(os.environ, SOFTTPU_TRACE=str(trace))
        subprocess.run([sys.executable, __file__, "--build", build, "--networks", networks, "--launch", network, "--run", str(number)], check=True, env=environment, timeout=100)
        events = json.loads(trace.read_text())
    # A kernel's commands have the line that called.
    return [call(event["name"], [f"{key} {value}" for key, value in event["args"].items() if key not in ABOUT])
            for event in events if event.get("cat") in ENGINES and "at" in event["args"]]


def recorded(file):
    calls = []
    for line in file.read_text().splitlines():
        if line.startswith(("#", "tpu_initialize", "tpu_poll")):
            continue
        name, operands = re.fullmatch(r"(tpu_\w+(?: \[\w+\])?) ?(.*)", line).groups()
        calls.append(call(name, operands.split("; ")))
    return calls


OPERAND = re.compile(r"(\w+ [\w ]+), shape \[([\d, ]+)\]( for all of \[[\d, ]+\])?, (\w+)(?:, stride \[([-\d, ]+)\])?(.*)")
BYTES = {"fp32": 4, "int32": 4, "uint32": 4, "fp16": 2, "bfp16": 2, "int16": 2, "uint16": 2, "int8": 1, "uint8": 1}


def plain(operand):
    """Without strides that say nothing."""
    found = OPERAND.fullmatch(operand)
    if not found:
        return re.sub(r"0xffffff(?=[0-9a-f]{2} \(int8\))", "0x", operand)
    place, shape, spread, kind, strides, rest = found.groups()
    shape = [int(extent) for extent in shape.split(",")]
    _, channels, height, width = shape
    in_unit = 64 // BYTES.get(kind, 64)
    aligned = -(-height * width // in_unit) * in_unit
    packed = [[channels * height * width, height * width, width, 1], [-(-channels // 64) * aligned, aligned, width, 1]]
    if strides:
        strides = [0 if extent == 1 else int(stride) for extent, stride in zip(shape, strides.split(","))]
        known = packed[:1] if "device memory" in place else packed
        if not spread and any(all(extent == 1 or stride == other for extent, stride, other in zip(shape, strides, one)) for one in known):
            strides = None
    return f"{place} {shape}{spread or ''} {kind} {strides}{rest}"


def plain_calls(calls):
    return [(one.partition(" ")[0], *map(plain, one.partition(" ")[2].split("; "))) for one in calls]


def count_all(build, folder):
    equal, places, others, bad = [], [], [], []
    for file in sorted((folder / "operations").glob("*.txt")):
        network, number = re.fullmatch(r"(.*)\.run(\d+)", file.stem).groups()
        try:
            lists = [plain_calls(calls) for calls in (ours(build, folder / "models", network, int(number)), recorded(file))]
        except subprocess.CalledProcessError:
            bad.append(file.stem)
            continue
        if lists[0] == lists[1]:
            equal.append(file.stem)
        else:
            mine, theirs = ([[re.sub(r"\b0x[0-9a-f]{8}\b", "local memory", one) for one in words] for words in calls] for calls in lists)
            (places if mine == theirs else others).append(file.stem)
    for names, what in ((equal, "equal call for call"), (places, "equal but for places in local memory"), (others, "in other pieces"), (bad, "failed")):
        print(f"{len(names)} {what}: {' '.join(names)}")
    return 1 if bad or not equal else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--networks", type=pathlib.Path, default=NETWORKS)
    parser.add_argument("--recordings", type=pathlib.Path, help="folder with all recorded lists: counts them")
    parser.add_argument("--launch", help="only launch this network")
    parser.add_argument("--run", type=int, default=0)
    options = parser.parse_args()
    if options.launch:
        return launch(options.build, options.networks, options.launch, options.run)
    if options.recordings:
        return count_all(options.build, options.recordings)
    files = sorted(NETWORKS.glob("*.calls.txt"))
    assert len(files) >= 2
    for file in files:
        network, number = re.fullmatch(r"(.*)\.run(\d+)\.calls", file.stem).groups()
        mine, theirs = (plain_calls(calls) for calls in (ours(options.build, NETWORKS, network, int(number)), recorded(file)))
        for place, (one, other) in enumerate(zip(mine, theirs)):
            assert one == other, f"{file.name}, call {place + 1}:\n{one}\nrecorded:\n{other}"
        assert len(mine) == len(theirs), f"{file.name}: {len(mine)} calls, not {len(theirs)}"
        print(f"{file.name}: {len(mine)} calls as recorded")


if __name__ == "__main__":
    sys.exit(main())
