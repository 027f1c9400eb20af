#!/usr/bin/env python3
"""Chooses the recorded cases that the repository carries (tests/golden) from the complete corpora.

For each family: cases in order of size until every function, group and note of the family is there or the family's share of
the budget is spent. The output has the corpora's own format; data that cases share is stored once."""
import argparse
import collections
import json
import pathlib

import corpora

ROOT = pathlib.Path(__file__).resolve().parent.parent


def data_ranges(case):
    for region in case["setup"]:
        if "data" in region["fill"]:
            yield region["fill"]
    yield from case.get("expect", [])


def case_bytes(case):
    return sum(item["data"][1] for item in data_ranges(case)) + len(json.dumps(case))


def key_of(case):
    """What makes a case worth having beside another one: function, group, and whether it must be refused."""
    calls = case["calls"] if "calls" in case else [call for core in case.get("core_calls") or case["cores"] for call in core]
    return (tuple(call["fn"] for call in calls), case["id"].rsplit("/", 1)[0], case.get("abort", False))


def choose(cases, budget, per_key):
    chosen, spent, seen = [], 0, collections.Counter()
    for case in sorted(cases, key=case_bytes):
        size = case_bytes(case)
        if seen[key_of(case)] >= per_key or spent + size > budget:
            continue
        seen[key_of(case)] += 1
        spent += size
        chosen.append(case)
    return sorted(chosen, key=lambda case: case["id"])


def write(source, target, budget, per_key):
    family = json.loads(source.read_text())
    blob = source.with_suffix(".bin").read_bytes()
    chosen = choose(family["cases"], budget, per_key)
    out, places = bytearray(), {}
    for case in chosen:
        for item in data_ranges(case):
            offset, length = item["data"]
            piece = blob[offset:offset + length]
            if piece not in places:
                places[piece] = len(out)
                out += piece
            item["data"] = [places[piece], length]
    target.parent.mkdir(parents=True, exist_ok=True)
    head = {name: value for name, value in family.items() if name != "cases"}
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in chosen)
    target.write_text(json.dumps(head)[:-1] + ', "cases":[\n' + lines + "\n]}\n")
    target.with_suffix(".bin").write_bytes(out)
    return len(chosen), len(out) + target.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", type=pathlib.Path, default=ROOT.parent / "shared/golden")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "tests/golden")
    parser.add_argument("--family-bytes", type=int, default=100_000)
    parser.add_argument("--newer-bytes", type=int, default=12_000, help="of each family of tests/replay/families.txt")
    parser.add_argument("--per-key", type=int, default=2)
    options = parser.parse_args()
    cases = size = 0
    for folder in corpora.folders(options.golden):
        # Where every argument varies by itself, more and smaller cases tell more.
        varied = folder.name.endswith("-varied")
        budget = options.family_bytes // 4 if varied else options.family_bytes
        per_key = 4 * options.per_key if varied else options.per_key
        for source in sorted(folder.glob("*.json")):
            count, used = write(source, options.out / source.relative_to(options.golden), budget, per_key)
            cases += count
            size += used
    for _, families in corpora.passing_families(options.golden):
        for family in families:
            count, used = write(family, options.out / family.relative_to(options.golden), options.newer_bytes, 1)
            cases += count
            size += used
    print(f"{cases} cases, {size} bytes")


if __name__ == "__main__":
    main()
