#!/usr/bin/env python3
"""Writes the functions of public headers as rows FUNCTION(name, {type, parameter}, ...), for tests that call each of them."""
import pathlib
import re
import sys

PROTOTYPE = re.compile(r"^(?!typedef|static)[a-z][\w *]*[ *](\w+)\(([^()]*)\)(?:\s*__attribute__[^;]*)?;", re.M)


def functions(header):
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    text = re.sub(r"^#.*(?:\\\n.*)*", "", text, flags=re.M)
    for match in PROTOTYPE.finditer(text):
        name, parameters = match[1], " ".join(match[2].split())
        if name.startswith("softtpu_") or parameters.endswith("..."):
            continue
        row = [name]
        for parameter in [] if parameters == "void" else parameters.split(", "):
            ctype, parameter = re.fullmatch(r"(.*[ *])(\w+)(?:\[\d*\])?", parameter).groups()
            row.append(f'{{"{ctype.strip()}", "{parameter}"}}')
        yield f"FUNCTION({', '.join(row)})\n"


def main():
    output, *headers = map(pathlib.Path, sys.argv[1:])
    rows = [row for header in headers for row in functions(header)]
    output.write_text("".join(rows))


if __name__ == "__main__":
    main()
