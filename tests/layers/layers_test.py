#!/usr/bin/env python3
"""Every layer of the device uses only the layers that it names: layers_test.py NM runtime=ARCHIVE LAYER=ARCHIVE:NEEDED,...

A symbol that a layer uses and an archive here defines has to be defined in the layer, in the runtime, or in a layer that it needs, directly or
through others. Other symbols belong to libraries."""
import concurrent.futures
import subprocess
import sys


def symbols(nm, archive):
    """Names that the archive defines, and those that it uses and does not define."""
    lines = subprocess.run([nm, "-P", "-A", archive], check=True, capture_output=True, text=True).stdout.splitlines()
    defined, used = set(), set()
    for line in lines:
        words = line.split(": ", 1)[1].split()
        # Lower-case letters are local symbols, but for weak ones.
        if words[1] in "Uwv":
            used.add(words[0])
        elif words[1].isupper() or words[1] == "u":
            defined.add(words[0])
    return defined, used - defined


def reached(layer, needs):
    """The layer and all that it needs."""
    found = {layer, "runtime"}
    for name in needs.get(layer, ()):
        found |= reached(name, needs)
    return found


def missing(layer, needs, tables):
    """Symbols that the layer uses of layers that it does not need, each with the layers that define it."""
    allowed = set().union(*(tables[name][0] for name in reached(layer, needs)))
    others = {name: tables[name][0] for name in tables if name not in reached(layer, needs)}
    found = {}
    for symbol in sorted(tables[layer][1] - allowed):
        owners = [name for name, defined in others.items() if symbol in defined]
        if owners:
            found[symbol] = owners
    return found


def main():
    nm, *words = sys.argv[1:]
    needs, archives = {}, {}
    for word in words:
        name, rest = word.split("=", 1)
        archives[name], _, list_of_needs = rest.partition(":")
        needs[name] = [one for one in list_of_needs.split(",") if one]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        tables = dict(zip(archives, pool.map(lambda archive: symbols(nm, archive), archives.values())))
    # What is looked for can be found: `core` calls commands.
    if not missing("core", {name: ([] if name == "core" else list_of_needs) for name, list_of_needs in needs.items()}, tables):
        sys.exit("layers_test.py: without the layers that it needs, core lacks nothing: the check sees no symbols")
    wrong = 0
    for layer in archives:
        for symbol, owners in missing(layer, needs, tables).items():
            wrong += 1
            print(f"{layer} uses {symbol} of {', '.join(owners)}, and does not name it among its needs (device/CMakeLists.txt)")
    print(f"{len(archives)} archives, {sum(len(table[0]) for table in tables.values())} symbols defined, {wrong} uses of layers that are not named")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
