#!/usr/bin/env python3
"""Writes the functions of public headers as rows FUNCTION(name, {type, parameter}, ...), for tests that call each of them."""
import pathlib
import re
import sys

PROTOTYPE = re.compile(r"^(?!typedef|static)([a-z][\w *]*[ *])(\w+)\(([^()]*)\)(?:\s*__attribute__[^;]*)?;", re.M)


def prototypes(header):
    """(return type, name, [(type, parameter)]) of each public function of a header."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    text = re.sub(r"^#.*(?:\\\n.*)*", "", text, flags=re.M)
    for match in PROTOTYPE.finditer(text):
        name, parameters = match[2], " ".join(match[3].split())
        if name.startswith("softtpu_") or parameters.endswith("..."):
            continue
        typed = []
        for parameter in [] if parameters == "void" else parameters.split(", "):
            ctype, parameter = re.fullmatch(r"(.*[ *])(\w+)(?:\[\d*\])?", parameter).groups()
            typed.append((ctype.strip(), parameter))
        yield match[1].strip(), name, typed


def functions(header):
    for _, name, parameters in prototypes(header):
        row = [name] + [f'{{"{ctype}", "{parameter}"}}' for ctype, parameter in parameters]
        yield f"FUNCTION({', '.join(row)})\n"


def main():
    output, *headers = map(pathlib.Path, sys.argv[1:])
    rows = [row for header in headers for row in functions(header)]
    output.write_text("".join(rows))


if __name__ == "__main__":
    main()
