#!/usr/bin/env python3
"""Writes the comment above each prototype of the public headers, as an editor shows it: purpose, the parameters that matter, types. From docs/reference. Comments that begin
with /** belong to this script, all others to people. With --check only compares (ctest reference_headers)."""
import argparse
import pathlib
import re
import sys
import textwrap

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import model  # noqa: E402

WIDTH = 112
MOST_LINES = 8
MOST_TYPES = 3
OURS = re.compile(r"^/\*\* .*?\*/\n", re.M | re.S)
START = re.compile(r"^(?!typedef|static|inline|extern|#|/)([a-zA-Z_][\w *]*?[ *])(\w+)\(", re.M)


def matters(function):
    """Parameters with a text of this function or family: the usual ones explain themselves."""
    for kind, name in function.prototype.parameters:
        text = function.own_parameter_text(name, kind)
        if text:
            yield name, text


def comment(function):
    lines = textwrap.wrap(function.purpose, WIDTH)
    layout = function.with_numbers(model.flat(function.field("layout"))).split("\n")[0]
    first = re.match(r".*?[^.]\.(?= [A-Z]|$)", layout)
    notes = textwrap.wrap(f"Layout: {first[0]}", WIDTH, subsequent_indent="  ") if first else []
    for name, text in matters(function):
        notes += textwrap.wrap(f"{name}: {text}", WIDTH, subsequent_indent="  ")
    types = [line.strip() for line in function.types_text().removeprefix("one of these:\n").split("\n") if not line.startswith("    on BM")]
    if types != [""] and len(types) <= MOST_TYPES and "no argument" not in types[0]:
        notes += textwrap.wrap(f"Types: {' | '.join(types)}".replace(" | and bias", "; bias"), WIDTH, subsequent_indent="  ")
    if function.refusal:
        notes = [f"{function.refusal[0].upper()}{function.refusal[1:]}: the call is refused."]
    lines += notes[:MOST_LINES]
    if len(notes) > MOST_LINES:
        lines.append(f"More: softtpu api {function.name}")
    body = "\n * ".join(line.replace("*/", "* /") for line in lines)
    return f"/** {body} */\n"


def written(header, reference):
    text = OURS.sub("", (model.ROOT / header).read_text())
    names = {one.name for one in model.prototypes(model.ROOT / header, header)}

    def with_comment(match):
        name = match[2]
        if name not in names or name not in reference.functions:
            return match[0]
        return comment(reference.functions[name]) + match[0]
    return START.sub(with_comment, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a header is not as it should be")
    options = parser.parse_args()
    reference = model.Reference()
    status = 0
    for header in model.KERNEL_HEADERS + model.HOST_HEADERS:
        path, text = model.ROOT / header, written(header, reference)
        if path.read_text() == text:
            continue
        if options.check:
            print(f"{header} is not what scripts/reference/headers.py writes")
            status = 1
        else:
            path.write_text(text)
    return status


if __name__ == "__main__":
    sys.exit(main())
