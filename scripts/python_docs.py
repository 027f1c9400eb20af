#!/usr/bin/env python3
"""Makes docs/python.md from the docstrings of the package.
With --check it only compares (ctest `python_docs`)."""
import ast
import inspect
import pathlib
import re
import sys
import textwrap

from generated_file import write_or_check

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/softtpu"
TARGET = ROOT / "docs/python.md"
# Module, heading, and the names to show in their order; None: all public ones.
PARTS = [
    ("device", "Devices and launches", ["Device", "Module", "Kernel", "Stream", "Future"]),
    ("array", "Arrays", ["Array"]),
    ("types", "Types of elements", ["element_type", "encode", "decode", "load_npy"]),
    ("report", "Results and findings", ["Result", "Finding"]),
    ("errors", "Exceptions", None),
    ("compiler", "Compiling", ["compile", "cache_folder"]),
    ("layout", "Layouts", ["draw", "Picture", "ConvBlock", "batch_pack", "batch_unpack"]),
    ("model", "Compiled networks", ["Model", "Tensor"]),
    ("compare", "Layers beside a float model", ["compare"]),
    ("sail/__init__", "Scripts written for SAIL", []),
    ("sail/engine", "SAIL networks", ["Engine", "IOMode", "MultiEngine"]),
    ("sail/tensor", "SAIL tensors", ["Tensor", "Dtype"]),
    ("sail/device", "SAIL devices", ["Handle"]),
    ("sail/llm", "SAIL language models", ["EngineLLM", "BmrtFlag"]),
    ("sweep/__init__", "Sweeps", ["run", "stream", "grid_of"]),
    ("sweep/tuning", "Tuning", ["tune", "Tuning", "KernelCase", "pareto"]),
    ("sweep/table", "Tables", ["Table", "Row"]),
    ("golden", "Recorded cases on a cluster", []),
    ("pytest_plugin", "Tests with pytest", ["softtpu_device", "softtpu_device_options"]),
]
HEAD = """# softtpu for Python

Made by `scripts/python_docs.py` from the docstrings in [python/softtpu](../python/README.md); their examples are run by ctest `python_doctests`.

"""


def is_table(lines):
    """Names and what they mean, in two columns."""
    return len(lines) > 1 and all(re.match(r"^\S.*?\S {2,}\S|^ {4,}\S", line) for line in lines) and not lines[0].startswith(" ")


def table(lines):
    rows = []
    for line in lines:
        if line.startswith(" "):
            rows[-1][1] += " " + line.strip()
        else:
            name, text = re.match(r"^(.*?\S) {2,}(\S.*)$", line).groups()
            rows.append([name, text])
    return ["| | |", "|---|---|"] + [f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in rows]


def to_markdown(docstring):
    lines = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(docstring or "")):
        rows = block.splitlines()
        if not rows:
            continue
        if rows[0].startswith((">>>", "    ")):
            lines += ["```python", *textwrap.dedent(block).splitlines(), "```"]
        elif is_table(rows):
            lines += table(rows)
        else:
            lines += rows
        lines.append("")
    return lines


def signature(node):
    if isinstance(node, ast.ClassDef):
        made = next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
        if made is None or ast.get_docstring(node) is None or made.args.vararg:
            return node.name
        return f"{node.name}({arguments(made)})"
    return f"{node.name}({arguments(node)})"


def arguments(node):
    text = ast.unparse(node.args)
    return re.sub(r"^(self|cls)(, )?", "", text)


def is_property(node):
    return any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list)


def members(node):
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or item.name.startswith("_"):
            continue
        text = ast.get_docstring(item)
        if not text:
            continue
        name = item.name if is_property(item) else f"{item.name}({arguments(item)})"
        first, *more = re.split(r"\n\s*\n", text)
        yield f"- `{name}`: {' '.join(first.split())}" + ("" if not more else " " + " ".join(" ".join(more).split()))


def part(name, heading, wanted):
    tree = ast.parse((PACKAGE / f"{name}.py").read_text())
    nodes = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    names = wanted if wanted is not None else [found for found in nodes if not found.startswith("_")]
    shown = name.replace("/__init__", "").replace("/", ".")
    lines = [f"## {heading}", "", f"Module `softtpu.{shown}`. ", ""]
    lines[2] = lines[2].strip()
    lines += to_markdown(ast.get_docstring(tree))
    for found in names:
        node = nodes[found]
        lines += [f"### {found}", "", "```python", signature(node), "```", "", *to_markdown(ast.get_docstring(node))]
        if isinstance(node, ast.ClassDef):
            rows = list(members(node))
            lines += [*rows, ""] if rows else []
    return lines


def generated():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    lines = to_markdown(ast.get_docstring(tree))
    lines += ["Contents: " + ", ".join(f"[{heading}](#{heading.lower().replace(' ', '-')})" for _, heading, _ in PARTS), ""]
    for row in PARTS:
        lines += part(*row)
    return HEAD + "\n".join(lines).rstrip() + "\n"


def main():
    return write_or_check(TARGET, generated(), "--check" in sys.argv[1:], "python_docs.py")


if __name__ == "__main__":
    sys.exit(main())
