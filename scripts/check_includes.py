#!/usr/bin/env python3
"""Checks which folder includes which (the table of CONTRIBUTING.md, "Who may include what").

Prints each forbidden #include as FILE:LINE, and each circle of the table, and exits with 1 if there is one. Run by ctest as `include_rules`."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder (or file) -> folders (or single files) of this project that its sources may include, besides itself. The longest
# matching prefix of a file's path decides. "X and below": X, and what X may include. There is no way back: a circle of
# rows is refused.
ROOM = "device/cost and below"
ROOMS = ["device/engines/bdc", "device/engines/dma", "device/engines/hau"]
RULES = {
    "runtime/base": [],
    "runtime/layout": ["runtime/base"],
    "runtime": ["runtime/base", "runtime/layout"],
    "device/isa": ["runtime/base", "runtime/layout/shape.hpp"],
    "device/numeric": ["device/isa and below"],
    "device/chip": ["runtime/layout", "device/numeric and below"],
    "device/memory": ["device/chip and below"],
    "device/command": ["device/memory and below"],
    "device/cost": ["device/command and below"],
    # One folder for each family of commands.
    "device/engines/bdc/rows": [ROOM],
    "device/engines/bdc/elementwise": [ROOM, "device/engines/bdc/rows"],
    "device/engines/bdc/compare": [ROOM, "device/engines/bdc/rows"],
    "device/engines/bdc/integer": [ROOM, "device/engines/bdc/rows", "device/engines/bdc/requant"],
    "device/engines/bdc/convert": [ROOM, "device/engines/bdc/rows", "device/engines/bdc/elementwise", "device/engines/bdc/integer"],
    "device/engines/bdc/requant": [ROOM, "device/engines/bdc/rows"],
    "device/engines/bdc/product": [ROOM, "device/engines/bdc/rows", "device/engines/bdc/requant"],
    "device/engines/bdc/window": [ROOM, "device/engines/bdc/rows", "device/engines/bdc/requant", "device/engines/bdc/product"],
    "device/engines/bdc/special": [ROOM, "device/engines/bdc/rows"],
    "device/engines/bdc/gather": [ROOM],
    "device/engines/bdc/move": [ROOM],
    "device/engines/bdc/outer": [ROOM, "device/engines/bdc/elementwise", "device/engines/bdc/compare", "device/engines/bdc/integer", "device/engines/bdc/special"],
    "device/engines/bdc/bm1684_words": [ROOM],
    "device/engines/bdc/bm1684_fixed": [ROOM],
    "device/engines/bdc/bm1684_bytes": [ROOM, "device/engines/bdc/bm1684_layers", "device/engines/bdc/product", "device/engines/bdc/requant", "device/engines/bdc/window"],
    "device/engines/bdc/bm1684_layers": [ROOM, "device/engines/bdc/product", "device/engines/bdc/window"],
    "device/engines/dma/copy": [ROOM],
    "device/engines/dma/select": [ROOM, "device/engines/dma/copy"],
    "device/engines/dma/compress": [ROOM],
    "device/engines/dma/reduce": [ROOM, "device/engines/dma/copy"],
    "device/engines/hau/places": [ROOM],
    "device/engines/hau/sort": [ROOM, "device/engines/hau/places"],
    "device/engines/hau/nms": [ROOM, "device/engines/hau/places"],
    "device/engines/hau/lines": [ROOM, "device/engines/hau/places"],
    # All commands as one type: what is above knows this file and no family.
    "device/engines/command.hpp": ["device/command and below", *ROOMS],
    # What all of them cost.
    "device/engines/cost.hpp": [*ROOMS],
    "device/core": ["device/engines/command.hpp", "device/command and below", "runtime/protocol/launch_position.hpp", "runtime/report"],
    "device/footprint": ["device/engines/command.hpp", "device/command and below"],
    "device/trace": ["device/core and below"],
    "device/timing": ["device/engines/cost.hpp", "device/cost", "device/core and below", "device/footprint", "device/trace", "runtime/bmodel"],
    "device/checks": ["device/core and below", "device/footprint", "device/timing"],
    "device/observers": ["device/core and below", "device/checks", "device/timing", "device/trace"],
    "device/record": ["runtime/protocol", "device/core and below", "device/checks"],
    "device/instruction": ["device/engines/command.hpp", "device/command and below"],
    "device/network": ["runtime/bmodel/tensor_map.hpp", "runtime/module/kernel_registry.hpp", "runtime/protocol/launch.hpp", "device/core and below",
                       "device/instruction"],
    "device/cmodel": ["device/core and below", "device/instruction"],
    "device/server": ["runtime", "device/core and below", "device/checks", "device/observers", "device/record", "device/network"],
    "tools/golden": ["runtime", "host/include", "device/core and below", "device/instruction"],
    "tools/softtpu": ["runtime", "host/include", "device/server and below", "device/cost", "device/timing", "device/instruction", "tools/golden"],
    "firmware": ["runtime/module/kernel_registry.hpp", "device/core and below"],
    "firmware/emulated": ["runtime/module", "firmware/include", "device/core and below"],
    # A kernel module over the public functions: it knows no device.
    "firmware/dynamic": ["firmware/include", "runtime/bmodel"],
    "host/include": [],
    "host/client": ["runtime", "host/include"],
    "host/bmlib": ["runtime", "host/include", "host/client"],
    "host/bmrt": ["runtime", "host/include", "host/client", "host/bmlib/network_launch.hpp"],
    "host/bmcv": ["runtime", "host/include", "host/client", "host/bmlib/network_launch.hpp"],
    "host": ["runtime", "host/include", "host/client", "host/bmrt"],
    "runtime/remote": ["runtime"],
    "samples": [],
    "tests/reference": ["runtime/base", "device/isa", "device/chip", "tests"],
    "tests": ["runtime", "device", "firmware", "host", "tools", "tests/reference"],
}
BELOW = " and below"


def rule_of(path):
    matches = [folder for folder in RULES if path == folder or path.startswith(folder + "/")]
    return max(matches, key=len) if matches else None


def places(folder):
    """What a row allows, "and below" spelled out."""
    found = []
    for place in RULES[folder]:
        name = place.removesuffix(BELOW)
        found += [name] + (places(name) if place != name else [])
    return found


def is_in(path, place):
    return path == place or path.startswith(place + "/")


def allowed(path, target):
    folder = rule_of(path)
    return folder is None or rule_of(target) == folder or any(is_in(target, place) for place in places(folder))


def circles():
    """Rows from which a way leads back to themselves. Tests stand above everything and are not looked at."""
    rows = [folder for folder in RULES if not folder.startswith("tests")]
    arrows = {row: {other for place in places(row) for other in rows if other != row and (is_in(other, place) or rule_of(place) == other)} for row in rows}

    def reached(row, seen):
        for other in arrows[row] - seen:
            seen.add(other)
            reached(other, seen)
        return seen

    return [row for row in rows if row in reached(row, set())]


def violations():
    for folder in sorted({name.split("/")[0] for name in RULES}):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".hpp", ".cpp", ".h", ".c"):
                continue
            path = file.relative_to(ROOT).as_posix()
            for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
                found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
                if found and (ROOT / found.group(1)).exists() and not allowed(path, found.group(1)):
                    yield f"{path}:{number}: {rule_of(path)} may not include {found.group(1)}"


def main():
    found = list(violations()) + [f"{row}: the table leads from it back to it" for row in circles()]
    print("\n".join(found) if found else "include rules: every include is allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
