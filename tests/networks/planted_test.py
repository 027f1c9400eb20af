#!/usr/bin/env python3
"""Defects that are planted in the streams of recorded networks are found by --check=all, and the networks themselves have no
findings. Each pair is a network and one instruction of it with one field changed."""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NETWORKS = HERE.parent / "golden-networks"
OPTIONS = None

CASES = HERE / "planted.json"


def formats(chip):
    """Fields of an instruction by its name: (first bit, width)."""
    text = (ROOT / f"device/instruction/formats/{chip}.def").read_text()
    joined = text.replace("\\\n", " ")
    macros = {name: "".join(re.findall(r'"([^"]*)"', body)) for name, body in re.findall(r"^#define (\w+)(.*)$", joined, re.M)}
    found = {}
    for body in re.findall(r"^INSTRUCTION\((.*?)\)$", joined, re.M | re.S):
        parts = [""]
        for word in re.findall(r'"[^"]*"|,|\w+', body):
            if word == ",":
                parts.append("")
            else:
                parts[-1] += word[1:-1] if word[0] == '"' else macros.get(word, word)
        for name, layout in zip(parts[2:4], (parts[5], parts[5] if parts[6] == "kSame" else parts[6])):
            places, bit = {}, 0
            for label, width in (field.split(":") for field in layout.split() if ":" in field):
                places[label] = (bit, int(width))
                bit += int(width)
            found[name] = places
    return found


def softtpu(*words):
    return subprocess.run([OPTIONS.build / "bin/softtpu", "bmodel", *map(str, words)], capture_output=True, text=True, timeout=100)


def streams(file, folder):
    """The tables of a network as JSON, and where its binary part begins."""
    data = file.read_bytes()
    size = int.from_bytes(data[8:12], "little")
    tables = pathlib.Path(folder, "tables.bin")
    tables.write_bytes(data[64:64 + size])
    subprocess.run([OPTIONS.flatc, "-o", folder, "--json", "--raw-binary", "--strict-json", ROOT / "runtime/bmodel/model.fbs", "--", tables],
                   check=True, stdout=subprocess.DEVNULL)
    return json.loads(tables.with_suffix(".json").read_text()), 64 + size


def chip_of(network):
    return network.split("/")[0].split("_")[0] if "/" in network else "bm1684x"


def plant(network, changes, folder):
    """Writes the network with the changes; its path."""
    file = NETWORKS / f"{network}.bmodel"
    tables, base = streams(file, folder)
    stage = tables["net"][0]["parameter"][0]
    part = stage["sub_net"][0]
    groups = [core["gdma_tiu_commands"][0] for core in part["core_commands"]] if part.get("core_commands") else part["cmd_group"]
    lines = [json.loads(line) for line in softtpu("disasm", "--json", file).stdout.splitlines()]
    data = bytearray(file.read_bytes())
    for change in changes:
        group = groups[change.get("core", 0)]
        begin = base + group["binary_bdc" if change["unit"] == "TIU" else "binary_gdma"]["start"]
        rows = [row for row in lines if row["unit"] == change["unit"] and row["core"] == change.get("core", 0)]
        row = rows[change["instruction"] - 1 if change["instruction"] > 0 else change["instruction"]]
        bit, width = formats(chip_of(network))[row["instruction"]][change["field"]]
        at = begin + row["offset"]
        room = (bit + width + 7) // 8
        word = int.from_bytes(data[at:at + room], "little")
        old = word >> bit & (1 << width) - 1
        assert old == row["fields"][change["field"]], (old, row)
        new = change["value"] if "value" in change else old + change["add"]
        word = word & ~((1 << width) - 1 << bit) | (new & (1 << width) - 1) << bit
        data[at:at + room] = word.to_bytes(room, "little")
    path = pathlib.Path(folder, "planted.bmodel")
    path.write_bytes(data)
    return path


class Planted(unittest.TestCase):
    def check(self, path):
        return softtpu("run", path, "--check=all")

    def test_right_networks_have_no_findings(self):
        for network in sorted({case["network"] for case in json.loads(CASES.read_text()).values()}):
            done = self.check(NETWORKS / f"{network}.bmodel")
            self.assertEqual(done.returncode, 0, f"{network}\n{done.stdout}{done.stderr}")

    def test_planted_defects_are_found(self):
        cases = json.loads(CASES.read_text())
        self.assertGreaterEqual(len(cases), 12)
        for name, case in cases.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                done = self.check(plant(case["network"], [case], folder))
                text = done.stdout + done.stderr
                if OPTIONS.show:
                    print(f"== {name}: status {done.returncode}\n" + "\n".join(text.splitlines()[:6]))
                self.assertEqual(done.returncode, case.get("status", 120), text)
                self.assertRegex(text, case["found"])

    def test_a_deadlock_names_the_layers_of_all_cores(self):
        network = "bm1688_2/matmul_two_F32"
        output = json.loads(softtpu("info", "--json", NETWORKS / f"{network}.bmodel").stdout)["networks"][0]["stages"][0]["outputs"][0]
        kind = f"<{'x'.join(map(str, output['shape']))}xf32>"

        def layer(core, name, before, after):
            return {"file-line": 1, "subnet_id": 0, "core_id": core, "opcode": "tpu.MatMul", "tiu_dma_id(before)": before, "tiu_dma_id(after)": after, "operands": [],
                    "results": [{"name": name, "address": output["address"], "memory_type": kind, "layout": "continuous"}]}

        layers = [layer(core, name, *ids) for core in range(2) for name, ids in (("first", ([0, 0], [4, 5])), (output["name"], ([4, 5], [7, 11])))]
        with tempfile.TemporaryDirectory() as folder:
            path, layer_map = plant(network, [json.loads(CASES.read_text())["message dropped"]], folder), pathlib.Path(folder, "map.json")
            layer_map.write_text(json.dumps(layers))
            done = softtpu("run", path, "--map", layer_map)
            self.assertEqual(done.returncode, 1, done.stdout)
            for core in range(2):
                self.assertRegex(done.stderr, rf"core {core} [^$]*BDC waits at TIU 2 SYS.wait_msg of first \(tpu.MatMul\) for message 30")

    def test_cores_that_reduce_into_one_place_take_turns(self):
        # Each of the eight cores, which have one stream, adds its last result to the first bytes of L2.
        store = {"unit": "DMA", "instruction": -4}
        changes = [{**store, "field": "dst_addr", "value": 0x1E6980000000}, {**store, "field": "all_reduce_code", "value": 0x8140}]
        with tempfile.TemporaryDirectory() as folder:
            path, trace = plant("bm1690_8/conv_3d_F32", changes, folder), pathlib.Path(folder, "trace.json")

            def order(*words):
                done = softtpu("run", path, "--trace", trace, *words)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                events = [event for event in json.loads(trace.read_text()) if event["ph"] == "X" and "reduce" in event["name"]]
                return [event["tid"] for event in sorted(events, key=lambda event: event["ts"])]

            fixed = order()
            self.assertEqual(len(set(fixed)), 8)
            self.assertEqual([order() for _ in range(3)], [fixed] * 3)
            self.assertNotEqual(order("--schedule=random:5"), fixed)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--flatc", required=True)
    parser.add_argument("--show", action="store_true", help="print what is found")
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
