#!/usr/bin/env python3
"""Writes the reference of functions as a C++ source with one JSON text, for `softtpu api`. Texts that functions share stand once, in "texts"; a
section names them by number."""
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import model  # noqa: E402

PIECE = 60000  # characters of one string literal


def as_json(reference):
    texts, numbers = [], {}

    def number_of(value):
        key = json.dumps(value)
        if key not in numbers:
            numbers[key] = len(texts)
            texts.append(value)
        return numbers[key]

    def shared(asked):
        """Chips with the same answers stand together: [[chips, answers]]."""
        found = {}
        for chip, answers in asked.items():
            found.setdefault(json.dumps(answers, sort_keys=True), ([], answers))[0].append(chip)
        return list(found.values())

    functions = {}
    for page, (title, _, families) in reference.pages.items():
        for family in families:
            for name in family["functions"]:
                function = reference.functions.get(name)
                if function is None:
                    continue
                sections = [[label, number_of(value)] for label, value in function.sections()]
                first, chips = function.limits.get("chip"), function.limits.get("chips", [])
                further = {chip: [[label, number_of(value)] for label, value in function.sections_on(chip)] for chip in chips if chip != first}
                # The first chip's text lists the types of the others, too.
                further[first] = [[label, number_of(value)] for label, value in function.sections_on(first) if label == "types"]
                asked = {chip: {parameter: number_of(answers) for parameter, answers in limits.get("parameters", {}).items()}
                         for chip, limits in ((chip, function.limits if chip == first else function.limits_on(chip)) for chip in chips)}
                fixed = {chip: number_of(listed[name]) for chip, listed in reference.not_varied.items() if name in listed}
                functions[name] = {"not_varied": fixed, "on": {chip: differing for chip, differing in further.items() if differing},
                                   "asked": shared({chip: answers for chip, answers in asked.items() if answers}), "signature": function.prototype.text(), "purpose": function.purpose, "include": function.prototype.include,
                                   "family": family["title"], "page": page, "title": title, "topics": reference.topics(name), "sections": sections}
    return {"texts": texts, "functions": functions, "names": names_of_headers()}


# ---- Types, enumerators and macros

HEADERS = ("firmware/include/*.h", "firmware/include/softtpu/*.h", "host/include/*.h", "host/include/tpuv7/*.h", "host/include/tpudnn/*.h", "host/include/tpu_runtime_api/*.h")

# What these declare reaches programs through another header.
INCLUDED_BY = {"kernel_common.h": "tpu_kernel.h"}


def names_of_headers():
    """Name -> [kind, declaration, header, what it belongs to] of the public types, enumerators and macros."""
    names = {}
    for pattern in HEADERS:
        for path in sorted(model.ROOT.glob(pattern)):
            text = path.read_text()
            for name, entry in names_in(text).items():
                names.setdefault(name, [*entry[:2], INCLUDED_BY.get(path.name, path.name), entry[2]])
    return names


def names_in(text):
    names = {}
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)\n]*\))?((?:[^\n\\]|\\.|\\\n)*)", bare, re.M):
        if not match[1].endswith("_H") and not match[1].startswith("__") and not match[1].endswith("_H_"):
            value = " ".join((match[3] or "").replace("\\\n", " ").split())
            names[match[1]] = ["macro", f"#define {match[1]}{match[2] or ''} {value}".rstrip(), ""]
    for match in re.finditer(r"\b(typedef\s+)?(enum|struct|union)\s*(\w+)?\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*(?:__attribute__\(\([^)]*\)\)\s*)?(\w+)?", bare):
        name = match[5] if match[1] and match[5] else match[3]
        # Of what depends on a chip's macro, the numbers of the other chips.
        body = re.sub(r"#[ \t]*if[^\n]*\n((?!#[ \t]*endif).)*?#[ \t]*else[^\n]*\n", "", match[4], flags=re.S)
        body = re.sub(r"#[ \t]*endif[^\n]*\n", "", body)
        members = [" ".join(part.split()) for part in body.split("," if match[2] == "enum" else ";") if part.strip() and "#" not in part]
        separator = ", " if match[2] == "enum" else "; "
        if name:
            names[name] = [match[2], f"{match[2]} {name} {{ {separator.join(members)}{';' if match[2] != 'enum' else ''} }}", ""]
        if match[2] == "enum":
            count = -1
            for member in members:
                known = re.match(r"(\w+)(?:\s*=\s*(.+))?$", member)
                if not known:
                    continue
                try:
                    count = int(known[2], 0) if known[2] else count + 1
                    shown = f"{known[1]} = {count}"
                except ValueError:
                    shown = member
                names[known[1]] = ["enumerator", shown, name or ""]
    for match in re.finditer(r"^[ \t]*typedef\s+([^;{}()]+?)\s*\b(\w+)\s*(\[[^\]]*\])?;", bare, re.M):
        names.setdefault(match[2], ["type", f"typedef {' '.join(match[1].split())} {match[2]}{match[3] or ''}", ""])
    return names


def main():
    target = pathlib.Path(sys.argv[1])
    text = json.dumps(as_json(model.Reference()), separators=(",", ":"))
    pieces = [text[at:at + PIECE] for at in range(0, len(text), PIECE)]
    literals = "\n".join(f'    R"embedded({piece})embedded"' for piece in pieces)
    target.write_text(f'#include "tools/softtpu/reference.hpp"\n\nstd::string_view softtpu::cli::embedded_reference() {{\n  return\n{literals};\n}}\n')


if __name__ == "__main__":
    main()
