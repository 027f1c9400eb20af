#!/usr/bin/env python3
"""Checks which folder includes which (the table of CONTRIBUTING.md, "Who may include what").

Prints each forbidden #include as FILE:LINE and exits with 1 if there is one. Run by ctest as `include_rules`."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder -> folders (or single files) of this project that its sources may include, besides itself.
# The longest matching prefix of a file's path decides.
RULES = {
    "runtime/base": [],
    "runtime/layout": ["runtime/base"],
    "runtime": ["runtime"],
    "device/isa": ["runtime/base", "runtime/layout/shape.hpp"],
    "device/numeric": ["runtime/base", "device/isa"],
    "device/chip": ["runtime/base", "runtime/layout", "device/isa", "device/numeric"],
    "device/memory": ["runtime/base", "runtime/layout", "device/isa", "device/numeric", "device/chip"],
    "device/command": ["runtime/base", "runtime/layout", "device/isa", "device/numeric", "device/chip", "device/memory"],
    "device/engines": ["runtime/base", "runtime/layout", "device/isa", "device/numeric", "device/chip", "device/memory", "device/command"],
    "device/core": ["runtime/base", "runtime/layout", "runtime/report", "device/isa", "device/numeric", "device/chip", "device/memory", "device/command",
                    "device/engines/command.hpp", "device/engines/commands.hpp"],
    "device/footprint": ["runtime/base", "runtime/layout", "device/isa", "device/chip", "device/memory", "device/command", "device/engines/command.hpp"],
    "device/trace": ["runtime/base", "device/isa", "device/chip", "device/memory", "device/command", "device/engines/command.hpp", "device/core"],
    "device/timing": ["runtime/base", "runtime/layout", "runtime/report", "device/isa", "device/chip", "device/memory", "device/command",
                      "device/engines/command.hpp", "device/core", "device/footprint", "device/trace"],
    "device/checks": ["runtime/base", "runtime/layout", "runtime/report", "device/isa", "device/chip", "device/memory", "device/command",
                      "device/engines/command.hpp", "device/core", "device/footprint", "device/timing"],
    "device/tools": ["runtime/base", "device/chip", "device/core", "device/checks", "device/timing", "device/trace"],
    "device/record": ["runtime/base", "runtime/protocol", "device/isa", "device/chip", "device/memory", "device/command", "device/engines/command.hpp", "device/core", "device/checks"],
    "device/stream": ["runtime/base", "runtime/layout", "device/isa", "device/numeric", "device/chip", "device/memory", "device/command", "device/engines/command.hpp"],
    "device/network": ["runtime/base", "runtime/bmodel/network_launch.hpp", "runtime/bmodel/tensor_map.hpp", "runtime/module/kernel_registry.hpp", "device/isa", "device/numeric", "device/chip",
                       "device/memory", "device/command", "device/engines/command.hpp", "device/core", "device/stream"],
    "device/cmodel": ["runtime/base", "device"],
    "device/server": ["runtime", "device"],
    "device/golden": ["runtime", "host/include", "device/chip", "device/isa", "device/numeric", "device/memory", "device/core", "device/stream"],
    "device/cli": ["runtime", "device", "host/include"],
    "firmware": ["runtime/base", "runtime/module/kernel_registry.hpp", "device/isa", "device/chip", "device/memory",
                 "device/numeric", "device/command", "device/engines/command.hpp", "device/core"],
    "host": ["runtime"],
    "runtime/remote": ["runtime"],
    "samples": ["samples"],
    "tests/reference": ["runtime/base", "device/isa", "device/chip", "tests"],
    "tests": ["runtime", "device", "firmware", "host", "tests"],
}


def rule_of(path):
    matches = [folder for folder in RULES if path == folder or path.startswith(folder + "/")]
    return max(matches, key=len) if matches else None


def allowed(path, target):
    folder = rule_of(path)
    if folder is None:
        return True
    return any(target == place or target.startswith(place + "/") for place in RULES[folder] + [folder])


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
    found = list(violations())
    print("\n".join(found) if found else "include rules: every include is allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
