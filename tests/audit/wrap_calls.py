#!/usr/bin/env python3
"""Writes one wrapper for each public kernel function that logs its arguments (argument_log.hpp), and the linker options that put
them between the callers and the functions."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "grid"))
import signatures  # noqa: E402

# How the members behind a pointer are logged; of other pointers only whether they are NULL.
MEMBERS = {
    "const dim4*": ("n", "c", "h", "w"),
    "const dim2*": ("h", "w"),
    "const padding_t*": ("top", "bottom", "left", "right"),
    "const Padding*": ("top", "bottom", "left", "right"),
    "const variable_t*": ("type", "context"),
    "const fp32_or_addr_t*": ("is_addr", "context"),
    "const x32_or_addr_t*": ("is_addr", "context"),
}


def prototypes(header):
    """(return type, name, [(type, parameter)]) of the functions that take something."""
    for result, name, parameters in signatures.prototypes(header):
        if parameters and "func_t" not in " ".join(ctype for ctype, _ in parameters):
            yield result, name, parameters


def wrapper(result, name, parameters):
    declared = ", ".join(f"{ctype} {parameter}" for ctype, parameter in parameters)
    passed = ", ".join(parameter for _, parameter in parameters)
    text = f"{result} __real_{name}({declared});\n{result} __wrap_{name}({declared}) {{\n"
    text += f'  softtpu::audit::Call call("{name}");\n'
    for ctype, parameter in parameters:
        members = MEMBERS.get(ctype)
        if members:
            given = ", ".join(f"{parameter}->{member}" for member in members)
            text += f"  {parameter} == nullptr ? call.null({len(members)}) : call.values({given});\n"
        elif "*" in ctype:
            text += f"  call.values({parameter} != nullptr);\n"
        else:
            text += f"  call.values({parameter});\n"
    return text + f"  return __real_{name}({passed});\n}}\n"


def main():
    source, options, *headers = map(pathlib.Path, sys.argv[1:])
    functions = [function for header in headers for function in prototypes(header)]
    body = "".join(wrapper(*function) for function in functions)
    source.write_text('#include "okk.h"\n#include "tests/audit/argument_log.hpp"\n#include "tpu_kernel.h"\n\nextern "C" {\n' + body + "}\n")
    options.write_text("".join(f"-Wl,--wrap={name}\n" for _, name, _ in functions))


if __name__ == "__main__":
    main()
