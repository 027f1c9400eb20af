#!/usr/bin/env python3
"""Runs recorded networks in every way that a program or a person can, and compares the bytes of the outputs: through libbmrt (tensors
in the network's own memory), libtpuv7_modelrt (BM1690), Python's Model (arrays) and the command. --encode encodes all instructions of the
files again instead. Ends with 1 when something differs. Where the collection of all networks lies beside the checkout, it is the default."""
import argparse
import collections
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPES = ["f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "u2"]
BFLOAT16 = 8


def chip_of(folder):
    """Folders are called models-CHIP_CORES; those without a chip are of BM1684X."""
    found = re.search(r"-(\w+)_\d+$", folder.name)
    return found.group(1) if found else "bm1684x"


def records(folder):
    """(file, facts, bytes of the inputs, bytes of the outputs) of each recording."""
    for facts in sorted(folder.glob("*.json")):
        base = facts.with_suffix("")
        if not base.with_suffix(".output.bin").exists():
            continue
        file = facts.with_suffix(".bmodel")
        if not file.exists():  # a file with several networks
            file = next(folder.glob("*.bmodel"))
        yield file, json.loads(facts.read_text()), base.with_suffix(".input.bin").read_bytes(), base.with_suffix(".output.bin").read_bytes()


def arrays(tensors, raw):
    found = {}
    for tensor in tensors:
        found[tensor["name"]] = np.frombuffer(raw[:tensor["bytes"]], TYPES[tensor["dtype"]]).reshape(tensor["shape"])
        raw = raw[tensor["bytes"]:]
    return found


def by_command(options, chip, file, facts, given):
    """Files of arrays have no bf16: it is written and read as f32."""
    wide = {}
    for tensor in facts["inputs"]:
        array = arrays(facts["inputs"], given)[tensor["name"]]
        wide[tensor["name"]] = (array.astype("u4") << 16).view("f4") if tensor["dtype"] == BFLOAT16 else array
    with tempfile.TemporaryDirectory() as folder:
        np.savez(folder + "/in.npz", **wide)
        words = [options.build / "bin/softtpu", "bmodel", "run", file, "--chip", chip, "--network", facts["net"] if "net" in facts else facts["network"],
                 "--input", folder + "/in.npz", "--output", folder + "/out.npz"]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=options.timeout)
        if done.returncode != 0:
            raise RuntimeError(f"status {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
        out = np.load(folder + "/out.npz")
        return b"".join(((out[tensor["name"]].view("u4") >> 16).astype("u2") if tensor["dtype"] == BFLOAT16 else out[tensor["name"]]).tobytes()
                        for tensor in facts["outputs"])


class Python:
    """One device; `memory`: through bmrt_launch_tensor_ex in the network's own memory, else bmrt_launch_data."""

    def __init__(self, chip, memory):
        import softtpu
        self.device, self.memory = softtpu.Device(chip=chip), memory

    def run(self, file, facts, given):
        name = facts["net"] if "net" in facts else facts["network"]
        with self.device.load_model(file) as model:
            values = arrays(facts["inputs"], given)
            if not self.memory:
                got = model(network=name, **values)
                return b"".join(np.ascontiguousarray(got[tensor["name"]]).tobytes() for tensor in facts["outputs"])
            for tensor, array in values.items():
                model.memory(tensor, network=name)[...] = array
            got = model.launch(network=name)
            return b"".join(got[tensor["name"]].numpy().tobytes() for tensor in facts["outputs"])

    def close(self):
        self.device.close()


class ModelRt:
    class Shape(ctypes.Structure):
        _fields_ = [("num_dims", ctypes.c_int), ("dims", ctypes.c_int * 8)]

    class Tensor(ctypes.Structure):
        pass

    Tensor._fields_ = [("dtype", ctypes.c_int), ("shape", Shape), ("data", ctypes.c_void_p), ("reserved", ctypes.c_ubyte * 64)]

    def __init__(self, build):
        self.rt = ctypes.CDLL(str(build / "lib/libtpuv7_rt.so"), mode=ctypes.RTLD_GLOBAL)
        self.lib = ctypes.CDLL(str(build / "lib/libtpuv7_modelrt.so"))
        self.check(self.rt.tpuRtInit())
        self.check(self.rt.tpuRtSetDevice(0))
        self.stream, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.rt.tpuRtStreamCreate(ctypes.byref(self.stream)))
        self.check(self.lib.tpuRtCreateNetContext(ctypes.byref(self.context)))

    @staticmethod
    def check(status):
        if status != 0:
            raise RuntimeError(f"status {status}")

    def place(self, tensors):
        made = (self.Tensor * len(tensors))()
        for one, tensor in zip(made, tensors):
            one.dtype, one.shape.num_dims = tensor["dtype"], len(tensor["shape"])
            one.shape.dims[:len(tensor["shape"])] = tensor["shape"]
            memory = ctypes.c_void_p()
            self.check(self.rt.tpuRtMalloc(ctypes.byref(memory), ctypes.c_ulonglong(tensor["bytes"]), 0))
            one.data = memory.value
        return made

    def run(self, file, facts, given):
        net = ctypes.c_void_p()
        self.check(self.lib.tpuRtLoadNet(os.fsencode(file), self.context, ctypes.byref(net)))
        inputs, outputs = self.place(facts["inputs"]), self.place(facts["outputs"])
        try:
            for one, tensor in zip(inputs, facts["inputs"]):
                self.check(self.rt.tpuRtMemcpyS2D(ctypes.c_void_p(one.data), given[:tensor["bytes"]], ctypes.c_ulonglong(tensor["bytes"])))
                given = given[tensor["bytes"]:]
            self.check(self.lib.tpuRtLaunchNet(net, inputs, outputs, facts["network"].encode(), self.stream))
            got = b""
            for one, tensor in zip(outputs, facts["outputs"]):
                raw = ctypes.create_string_buffer(tensor["bytes"])
                self.check(self.rt.tpuRtMemcpyD2S(raw, ctypes.c_void_p(one.data), ctypes.c_ulonglong(tensor["bytes"])))
                got += raw.raw
            return got
        finally:
            for one in [*inputs, *outputs]:
                self.rt.tpuRtFree(ctypes.byref(ctypes.c_void_p(one.data)), 0)
            self.lib.tpuRtUnloadNet(net)

    def close(self):
        pass


def encode(options, folders):
    """Whether all instructions of the files, encoded again, give their bytes."""
    files = bad = instructions = 0
    for folder in folders:
        for file in sorted(folder.rglob("*.bmodel")):
            done = subprocess.run([options.build / "bin/softtpu", "bmodel", "disasm", "--encode", file], capture_output=True, text=True, timeout=options.timeout)
            said = re.search(r"^(\d+) instructions? give", done.stdout, re.M)
            files += 1
            instructions += int(said.group(1)) if said else 0
            if done.returncode != 0 or not said:
                bad += 1
                print(f"{folder.name}/{file.stem}: {(done.stdout + done.stderr).strip()}", flush=True)
    print(f"{files - bad} of {files} files: {instructions} instructions give their bytes again")
    return bad == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=pathlib.Path, help="folders of recorded networks (default: all of ../shared/bmodel)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build tree (default: build/release)")
    parser.add_argument("--through", default="bmrt,modelrt,python,command", help="which ways (default: %(default)s)")
    parser.add_argument("--filter", default="", help="only networks whose path contains this")
    parser.add_argument("--timeout", type=float, default=600, help="seconds that a command may take")
    parser.add_argument("--encode", action="store_true", help="encode the instructions of all files again, also of those without recordings")
    options = parser.parse_args()
    options.build = options.build.resolve()
    shared = ROOT.parent / "shared/bmodel"
    if options.encode:
        sys.exit(0 if encode(options, options.folders or [shared]) else 1)
    folders = options.folders or sorted(path for path in shared.iterdir() if path.name.startswith(("models", "real", "llm")))
    os.environ.setdefault("SOFTTPU_PREFIX", str(options.build))
    sys.path.insert(0, str(ROOT / "python"))
    counts, failed = collections.Counter(), 0
    for folder in folders:
        chip = chip_of(folder.resolve())
        for way in options.through.split(","):
            if way == "modelrt" and chip != "bm1690":
                continue
            os.environ["SOFTTPU_CHIP"] = chip
            door = None
            if way != "command":
                door = ModelRt(options.build) if way == "modelrt" else Python(chip, way == "bmrt")
            for file, facts, given, wanted in records(folder):
                if options.filter not in str(file):
                    continue
                try:
                    got = by_command(options, chip, file, facts, given) if way == "command" else door.run(file, facts, given)
                    fault = "" if got == wanted else f"{sum(a != b for a, b in zip(got, wanted))} of {len(wanted)} bytes differ"
                except (RuntimeError, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
                    fault = str(error)
                except Exception as error:  # softtpu.Error, which is known only when the package has been found
                    if type(error).__module__.split(".")[0] != "softtpu":
                        raise
                    fault = str(error)
                counts[folder.name, way, not fault] += 1
                if fault:
                    failed += 1
                    print(f"{folder.name}/{file.stem} {facts.get('net', '')} through {way}: {fault}", flush=True)
            if door is not None:
                door.close()
            good, bad = counts[folder.name, way, True], counts[folder.name, way, False]
            if good + bad:
                print(f"{folder.name:16} {way:8} {good} of {good + bad} equal", flush=True)
    total = sum(counts.values())
    print(f"{total - failed} of {total} runs give the recorded bytes")
    sys.exit(1 if failed or not total else 0)


if __name__ == "__main__":
    main()
