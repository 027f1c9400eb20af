#!/usr/bin/env python3
"""Writes the examples of the reference as programs: one C file for the kernel functions of a chip, one for host functions. Each example is a
function; a table names them, with what the chip lacks where the call is refused."""
import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import embed  # noqa: E402
import examples  # noqa: E402
import model  # noqa: E402

KERNEL_START = '''/* Written by scripts/reference/example_tests.py from docs/reference. */
{macros}#include <{header}>

#include "tests/manual/examples.h"

static void example_kernel(const void* args) {{ (void)args; }}
'''
HOST_START = '''/* Written by scripts/reference/example_tests.py from docs/reference. */
#include "tests/manual/host_frame.h"
'''


def body(function):
    """The example with its claim, if it makes one, as a check."""
    lines = []
    claim = function.claim
    if claim is None and function.is_host and function.prototype.returns in examples.SUCCESS:
        claim = f"status == {examples.SUCCESS[function.prototype.returns]}"
    text = function.example().split("\n")
    after = function.field("after").strip().split("\n") if function.field("after") else []
    main = text[:len(text) - len(after)]
    lines += main
    if claim:
        lines.append(f"EXAMPLE_CHECK({claim});")
    lines += after
    return lines


def refusal_of(function):
    """What the message of a refused call says; empty for functions that work."""
    if function.chip and not function.example_runs:
        return ": "
    return f"has no {function.lacks}" if function.lacks else "is neither recorded nor described" if function.undetermined else ""


def write(functions, header, chip=None):
    """`chip`: a further one, whose macros the examples are compiled with."""
    macros = "".join(f"#define {macro} 1\n" for macro in sorted(embed.macros_of_chips().get(chip, ())))
    out = [KERNEL_START.format(header=header, macros=macros) if header else HOST_START]
    for function in functions:
        parameter = "" if function.is_host else "const example_args_t* args"
        out.append(f"static void example_of_{function.name}({parameter or 'void'}) {{")
        if not function.is_host:
            out.append("  (void)args;\n  (void)example_kernel;")
        out += ["  " + line for line in body(function)]
        out.append("}")
    rows = [f'    {{"{function.name}", example_of_{function.name}, "{refusal_of(function)}"}},' for function in functions]
    table = "const example_t examples_{}[] = {{\n{}\n    {{0, 0, 0}},\n}};"
    name = table_of(chip) if chip else "host" if not header else header.split("_")[0].removesuffix(".h")
    return "\n".join(out + [table.format(name, "\n".join(rows))]) + "\n"


def table_of(chip):
    return re.sub(r"\W", "_", chip)


def further_chips(reference):
    """Chip -> the functions whose pages show an example of their own there."""
    found = {}
    for function in reference.functions.values():
        for chip in function.limits.get("chips", []):
            if chip != function.limits["chip"]:
                found.setdefault(chip, []).append(function.on(chip))
    return found


def names_of_arguments(reference):
    """Members of the examples' parameter block: every args->name that an example reads."""
    found = set()
    for function in reference.functions.values():
        found |= set(re.findall(r"args->(\w+)", function.example()))
    return sorted(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="where the files go")
    options = parser.parse_args()
    reference = model.Reference()
    everyone = reference.functions.values()
    tpu = [f for f in everyone if not f.is_host and not f.is_okkernel]
    okk = [f for f in everyone if f.is_okkernel]
    host = [f for f in everyone if f.is_host]
    members = "".join(f"  X({name})" for name in names_of_arguments(reference))
    files = {"examples_tpu.c": write(tpu, "tpu_kernel.h"), "examples_okk.c": write(okk, "okk.h"), "examples_host.c": write(host, None),
             "example_arguments.inc": members + "\n"}
    further = further_chips(reference)
    for chip, functions in further.items():
        files[f"examples_{table_of(chip)}.c"] = write(functions, "tpu_kernel.h", chip)
    files["examples_further.inc"] = "".join(f'X("{chip}", examples_{table_of(chip)})\n' for chip in further)
    for name, text in files.items():
        path = options.folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
