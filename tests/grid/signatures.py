#!/usr/bin/env python3
"""Writes the functions of public headers as rows FUNCTION(name, {type, parameter}, ...), for tests that call each of them."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts/reference"))
import prototypes as headers_of  # noqa: E402


def prototypes(header):
    """(return type, name, [(type, parameter)]) of each public function of a header that a row can call."""
    for one in headers_of.prototypes(header):
        if not one.name.startswith("softtpu_") and all(kind != "..." and "(" not in kind for kind, _ in one.parameters):
            yield one.returns, one.name, one.parameters


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
