#!/usr/bin/env python3
"""Runs the code cells of a notebook in order, and what a cell ends with as a notebook would show it."""
import ast
import json
import pathlib
import sys


def show(value):
    for method in ("_repr_svg_", "_repr_html_"):
        shown = getattr(value, method, None)
        if shown is not None and isinstance(shown(), str):
            print(f"{method}: {len(shown())} characters")
            return
    if value is not None:
        print(repr(value))


def main():
    path = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(path.parent))
    names = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(path.read_text())["cells"]):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]), f"{path.name}, cell {number}")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name}, cell {number}", "exec"), names)
        if last is not None:
            show(eval(compile(ast.Expression(last.value), f"{path.name}, cell {number}", "eval"), names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
