#!/usr/bin/env python3
"""Every rule of device/chip/rules.def is asked by some operation and listed by some chip, and chips list only rules that exist."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Where commands are carried out, checked and watched; device/chip only reads descriptions.
ASKING = [ROOT / "firmware"] + [ROOT / "device" / name for name in ("checks", "command", "core", "engines", "memory", "timing")]


def rules():
    text = (ROOT / "device/chip/rules.def").read_text()
    return dict(re.findall(r'^RULE\((k\w+), "([a-z0-9-]+)",', text, re.MULTILINE))


def asked():
    names = set()
    for folder in ASKING:
        for path in folder.rglob("*.[ch]pp"):
            names |= set(re.findall(r"Quirk::(k\w+)", path.read_text()))
    # Asked in one place for several operations; bounds of numbers are asked by their sets.
    text = (ROOT / "device/chip/conversions.hpp").read_text() + (ROOT / "device/isa/limits.def").read_text()
    return names | set(re.findall(r"Quirk::(k\w+)", text))


def listed():
    names = set()
    for path in (ROOT / "device/chip/chips").glob("*.json"):
        names |= set(json.loads(path.read_text()).get("rules", []))
    return names


def main():
    known, asking, listing = rules(), asked(), listed()
    wrong = [f"{name}: no operation asks for it" for name in known if name not in asking]
    wrong += [f"{name} ({text}): no chip lists it" for name, text in known.items() if text not in listing]
    wrong += [f"{text}: a chip lists it, but rules.def does not have it" for text in sorted(listing - set(known.values()))]
    if not known:
        wrong.append("device/chip/rules.def: no rule was found")
    print("\n".join(wrong) or f"{len(known)} rules: each is asked and listed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
