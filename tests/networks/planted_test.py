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


def plant(case, folder):
    """Writes the network with the change; its path."""
    file = NETWORKS / f"{case['network']}.bmodel"
    tables, base = streams(file, folder)
    stage = tables["net"][0]["parameter"][0]
    part = stage["sub_net"][0]
    groups = [core["gdma_tiu_commands"][0] for core in part["core_commands"]] if part.get("core_commands") else part["cmd_group"]
    group = groups[case.get("core", 0)]
    begin = base + group["binary_bdc" if case["unit"] == "TIU" else "binary_gdma"]["start"]
    lines = [json.loads(line) for line in softtpu("disasm", "--json", file).stdout.splitlines()]
    rows = [row for row in lines if row["unit"] == case["unit"] and row["core"] == case.get("core", 0)]
    row = rows[case["instruction"] - 1 if case["instruction"] > 0 else case["instruction"]]
    bit, width = formats(chip_of(case["network"]))[row["instruction"]][case["field"]]
    data = bytearray(file.read_bytes())
    at = begin + row["offset"]
    room = (bit + width + 7) // 8
    word = int.from_bytes(data[at:at + room], "little")
    old = word >> bit & (1 << width) - 1
    assert old == row["fields"][case["field"]], (old, row)
    new = case["value"] if "value" in case else old + case["add"]
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
                done = self.check(plant(case, folder))
                text = done.stdout + done.stderr
                if OPTIONS.show:
                    print(f"== {name}: status {done.returncode}\n" + "\n".join(text.splitlines()[:6]))
                self.assertEqual(done.returncode, case.get("status", 120), text)
                self.assertRegex(text, case["found"])


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
