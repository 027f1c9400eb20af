#!/usr/bin/env python3
"""`softtpu dump -o FILE.npy`: every layout, storage mode and type, against address formulas of this file's own."""
import argparse
import ast
import itertools
import json
import math
import os
import pathlib
import random
import re
import stat
import struct
import subprocess
import tempfile
import unittest

BUILD = None
NPUS, LANE, EU = 64, 256 << 10, 64  # bm1684x
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("SOFTTPU_", "CMODEL_"))}
# name: bytes, in a NumPy file
TYPES = {"fp32": (4, "<f4"), "int32": (4, "<i4"), "uint32": (4, "<u4"), "fp16": (2, "<f2"), "bfp16": (2, "<f4"), "int16": (2, "<i2"),
         "uint16": (2, "<u2"), "int8": (1, "|i1"), "uint8": (1, "|u1")}


def up(a, b):
    return (a + b - 1) // b * b


def local_strides(layout, shape, size, start, pack=1):
    """Of N, C, H, W in bytes; C counts the channels that one NPU has."""
    n, c, h, w = shape
    unit = size * pack
    rows = -(-(start + c) // NPUS)
    if layout == "line-aligned":
        row = up(w * unit, EU)
        return rows * h * row, h * row, row, unit
    channel = h * w * unit if layout == "compact" else up(h * w * unit, EU)
    return rows * channel, channel, w * unit, unit


def places(layout, shape, size, address, mode=1, stride=None, width=None):
    """Byte addresses of all elements, counted from the first local memory, the last index fastest."""
    start, offset = divmod(address, LANE)
    if layout in ("matrix", "vector"):
        rows, columns = shape if layout == "matrix" else (1, *shape)
        tensor = (rows, -(-columns // width), 1, width)
        strides = local_strides("aligned", tensor, size, start)
        indices = [(row, column // width, 0, column % width) for row in range(rows) for column in range(columns)]
    elif layout in ("1ic", "2ic", "32ic", "64ic"):
        # Shape IC, OC, KH, KW: so many input channels stand side by side; output channels go over the NPUs.
        mode = int(layout.removesuffix("ic"))
        ic, oc, kh, kw = shape
        unit = mode * size
        groups = -(-ic // mode)
        strides = (kh * kw * unit, groups * kh * kw * unit, kw * unit, unit)
        indices = list(itertools.product(*map(range, shape)))
    elif layout == "free":
        strides = tuple(size * step for step in stride)
        indices = list(itertools.product(*map(range, shape)))
    else:
        tensor = (-(-shape[0] // mode), *shape[1:])
        strides = local_strides(layout, tensor, size, start, mode)
        indices = list(itertools.product(*map(range, shape)))
    for n, c, h, w in indices:
        row, npu = divmod(start + c, NPUS)
        yield npu * LANE + offset + n // mode * strides[0] + row * strides[1] + h * strides[2] + w * strides[3] + n % mode * size


class Device:
    """A shared device whose local and global memory hold known bytes."""

    def __init__(self, folder, chip="bm1684x"):
        self.socket = pathlib.Path(folder) / "device.sock"
        self.process = subprocess.Popen([str(BUILD / "bin/softtpu"), "serve", "--socket", str(self.socket)], stdout=subprocess.PIPE, text=True,
                                        env=CLEAN | {"SOFTTPU_CHIP": chip})
        self.pid = int(re.search(r"pid (\d+)", self.process.stdout.readline()).group(1))
        self.bytes = random.Random(1).randbytes(NPUS * LANE)
        self.put("local", self.bytes)
        self.put("global", self.bytes[:1 << 20])

    def file(self, name):
        for entry in pathlib.Path(f"/proc/{self.pid}/fd").iterdir():
            if os.readlink(entry).startswith(f"/memfd:softtpu0-{name}."):
                return entry
        raise FileNotFoundError(name)

    def put(self, name, contents):
        with open(self.file(name), "r+b") as file:
            file.write(contents)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


class Dump(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.device = Device(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.device.close()
        cls.folder.cleanup()

    @staticmethod
    def run_dump(*options):
        return subprocess.run([str(BUILD / "bin/softtpu"), "dump", *map(str, options)], capture_output=True, text=True, env=CLEAN, timeout=60)

    def dump(self, *options):
        return self.run_dump("--socket", self.device.socket, *options)

    def compare(self, dtype, shape, spots, *options):
        file = pathlib.Path(self.folder.name) / "tensor.npy"
        done = self.dump("--shape", ",".join(map(str, shape)), "--dtype", dtype, "-o", file, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        content = file.read_bytes()
        self.assertEqual(content[:8], b"\x93NUMPY\x01\x00")
        (length,) = struct.unpack("<H", content[8:10])
        header = ast.literal_eval(content[10:10 + length].decode())
        size, kind = TYPES[dtype]
        self.assertEqual(header, {"descr": kind, "fortran_order": False, "shape": tuple(shape)})
        # bfp16 becomes the upper half of fp32.
        fill = b"\0\0" if dtype == "bfp16" else b""
        expected = b"".join(fill + self.device.bytes[spot:spot + size] for spot in spots)
        self.assertEqual(content[10 + length:], expected)

    def test_plain_layouts_of_every_type(self):
        for layout, dtype in itertools.product(("aligned", "compact", "line-aligned"), TYPES):
            address = 3 * LANE + 128  # the last channels are in the second row of NPU 0 and on
            with self.subTest(layout=layout, dtype=dtype):
                shape = (2, 70, 3, 5)
                self.compare(dtype, shape, places(layout, shape, TYPES[dtype][0], address), "--address", address, "--layout", layout)

    def test_strides(self):
        for dtype in TYPES:
            shape, stride = (2, 66, 3, 5), (4000, 400, 40, 3)
            with self.subTest(dtype=dtype):
                self.compare(dtype, shape, places("free", shape, TYPES[dtype][0], 64, stride=stride), "--address", 64, "--layout", "free", "--stride",
                             ",".join(map(str, stride)))

    def test_matrices_and_vectors(self):
        for layout, shape in (("matrix", (5, 210)), ("vector", (210,))):
            for dtype in TYPES:
                with self.subTest(layout=layout, dtype=dtype):
                    self.compare(dtype, shape, places(layout, shape, TYPES[dtype][0], 256, width=16), "--address", 256, "--layout", layout, "--width", 16)

    def test_weights(self):
        for layout, types in (("1ic", ["fp32"]), ("2ic", ["fp32"]), ("32ic", ["fp16", "bfp16"]), ("64ic", ["int8", "uint8"])):
            for dtype in types:
                with self.subTest(layout=layout, dtype=dtype):
                    shape = (70, 66, 3, 2)
                    self.compare(dtype, shape, places(layout, shape, TYPES[dtype][0], 512), "--address", 512, "--layout", layout)

    def test_storage_modes(self):
        for mode, pack, types in (("2n", 2, ["int16", "uint16"]), ("4n", 4, ["int8", "uint8"])):
            for layout, dtype in itertools.product(("aligned", "compact"), types):
                with self.subTest(mode=mode, layout=layout, dtype=dtype):
                    shape = (6, 66, 3, 5)
                    self.compare(dtype, shape, places(layout, shape, TYPES[dtype][0], 64, mode=pack), "--address", 64, "--layout", layout, "--mode", mode)

    def test_global_memory(self):
        start = 0x100000000
        for dtype, (size, _) in TYPES.items():
            shape = (2, 3, 4, 5)
            with self.subTest(dtype=dtype):
                plain = range(96, 96 + 120 * size, size)
                self.compare(dtype, shape, plain, "--space", "global", "--address", hex(start + 96), "--layout", "continuous")
                self.compare(dtype, shape, plain, "--space", "global", "--address", hex(start + 96))
                stride = (1000, 100, 10, 2)
                spots = [96 + size * sum(i * s for i, s in zip(index, stride)) for index in itertools.product(*map(range, shape))]
                self.compare(dtype, shape, spots, "--space", "global", "--address", hex(start + 96), "--layout", "system", "--stride", "1000,100,10,2")

    def test_fp8_is_bytes_with_a_note(self):
        with tempfile.TemporaryDirectory() as folder:
            device = Device(folder, "bm1690")
            try:
                for dtype, name, values in (("fp8e4m3", "float8_e4m3fn", {0x01: "0.001953", 0x38: "1", 0x7e: "448", 0x7f: "nan", 0xff: "-nan", 0xc4: "-3"}),
                                            ("fp8e5m2", "float8_e5m2", {0x01: "1.526e-05", 0x3c: "1", 0x7b: "5.734e+04", 0x7c: "inf", 0xc2: "-3"})):
                    for layout, shape in (("aligned", (2, 70, 3, 5)), ("compact", (1, 3, 7, 5)), ("64ic", (70, 66, 3, 2))):
                        with self.subTest(dtype=dtype, layout=layout):
                            file = pathlib.Path(folder) / "tensor.npy"
                            options = ["--socket", device.socket, "--address", 128, "--shape", ",".join(map(str, shape)), "--dtype", dtype, "--layout", layout]
                            done = self.run_dump(*options, "-o", file)
                            self.assertEqual(done.returncode, 0, done.stderr)
                            content = file.read_bytes()
                            self.assertIn(b"'descr': '|u1'", content[:128])
                            self.assertEqual(content[-math.prod(shape):], bytes(device.bytes[spot] for spot in places(layout, shape, 1, 128)))
                            note = json.loads(pathlib.Path(f"{file}.json").read_text())
                            self.assertEqual(note, {"format": "softtpu-npy-type-1", "type": dtype, "ml_dtypes": name, "shape": list(shape)})
                            self.assertEqual(stat.S_IMODE(os.stat(f"{file}.json").st_mode), 0o600)
                            # Another type in the same file: the note would be wrong.
                            self.assertEqual(self.run_dump(*options[:4], "--shape", "1,1,1,4", "--dtype", "uint8", "-o", file).returncode, 0)
                            self.assertFalse(pathlib.Path(f"{file}.json").exists())
                    device.put("local", bytes(values) + device.bytes[len(values):])
                    text = self.run_dump("--socket", device.socket, "--shape", f"1,1,1,{len(values)}", "--dtype", dtype).stdout
                    self.assertEqual(text.split()[1:], list(values.values()))
                    device.put("local", device.bytes)
                # A file of the same name that softtpu did not write stays.
                mine = pathlib.Path(folder) / "mine.npy.json"
                mine.write_text('{"mine": true}')
                self.assertEqual(self.run_dump("--socket", device.socket, "--shape", "1,1,1,4", "-o", str(mine)[:-5]).returncode, 0)
                self.assertEqual(mine.read_text(), '{"mine": true}')
            finally:
                device.close()

    def test_a_region_is_bytes(self):
        file = pathlib.Path(self.folder.name) / "region.npy"
        self.assertEqual(self.dump("--address", "0x100", "--bytes", 1000, "-o", file).returncode, 0)
        self.assertEqual(file.read_bytes()[-1000:], self.device.bytes[0x100:0x100 + 1000])

    def test_what_no_tensor_can_be_is_refused(self):
        for options, reason in ((("--shape", "1,64,600,600"), "does not fit"), (("--shape", "1,1,1,1", "--dtype", "int4"), 'int4'),
                                (("--shape", "1,1,1,1", "--dtype", "fp8e4m3"), "--dtype fp8e4m3 is not a data type of bm1684x"),
                                (("--shape", "1,1,1,1", "--dtype", "fp16", "--layout", "1ic"), "1ic does not exist for fp16"),
                                (("--shape", "1,1,1,1", "--layout", "continuous"), "continuous is not for local memory"),
                                (("--shape", "4,4", "--layout", "matrix"), "--width is missing"), (("--shape", "1,1,1,1", "--address", "4"), "not divisible by 64"),
                                (("--shape", "1,1,1,1", "--space", "global", "--layout", "compact"), "compact is not for global memory"),
                                (("--shape", "60000,60000,1,1", "--space", "global", "--layout", "system", "--stride", "0,0,0,0"), "are more than"),
                                (("--shape", "65535,65535,1,1", "--space", "global"), "ends outside global memory")):
            with self.subTest(options=options):
                done = self.dump(*options, "-o", pathlib.Path(self.folder.name) / "none.npy")
                self.assertEqual(done.returncode, 2)
                self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="the build tree")
    options, rest = parser.parse_known_args()
    BUILD = options.build
    unittest.main(argv=["dump_test.py", *rest])
