#!/usr/bin/env python3
"""Writes the reference of functions as a C++ source with one JSON text, for `softtpu api`. Texts that functions share stand once, in "texts"; a
section names them by number."""
import json
import pathlib
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

    functions = {}
    for page, (title, _, families) in reference.pages.items():
        for family in families:
            for name in family["functions"]:
                function = reference.functions.get(name)
                if function is None:
                    continue
                sections = [[label, number_of(value)] for label, value in function.sections()]
                functions[name] = {"signature": function.prototype.text(), "purpose": function.purpose, "include": function.prototype.include,
                                   "family": family["title"], "page": page, "title": title, "topics": reference.topics(name), "sections": sections}
    return {"texts": texts, "functions": functions}


def main():
    target = pathlib.Path(sys.argv[1])
    text = json.dumps(as_json(model.Reference()), separators=(",", ":"))
    pieces = [text[at:at + PIECE] for at in range(0, len(text), PIECE)]
    literals = "\n".join(f'    R"embedded({piece})embedded"' for piece in pieces)
    target.write_text(f'#include "device/cli/reference.hpp"\n\nstd::string_view softtpu::cli::embedded_reference() {{\n  return\n{literals};\n}}\n')


if __name__ == "__main__":
    main()
