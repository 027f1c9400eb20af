#!/usr/bin/env python3
"""Makes python/softtpu/_api.py: the ctypes declarations of libbmlib and libsofttpu_layout, from the list of published
functions (tests/api/bmlib.json) and softtpu's own headers. With --check it only compares (ctest `python_api`)."""
import json
import pathlib
import re
import sys

from generated_file import write_or_check

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts/reference"))
import prototypes  # noqa: E402

TARGET = ROOT / "python/softtpu/_api.py"
HEADERS = {"bmlib": "host/include/softtpu/device.h", "layout": "host/include/softtpu/layout.h"}
SCALARS = {"void": "None", "bool": "c_bool", "char": "c_char", "unsigned char": "c_ubyte", "short": "c_short", "int": "c_int",
           "unsigned int": "c_uint", "unsigned": "c_uint", "long": "c_long", "unsigned long": "c_ulong", "long long": "c_longlong",
           "unsigned long long": "c_ulonglong", "float": "c_float", "double": "c_double", "size_t": "c_size_t", "u64": "c_uint64",
           "int32_t": "c_int32", "uint32_t": "c_uint32", "uint64_t": "c_uint64"}
# Passed by value; what is inside is read and written by functions. A host test compares the sizes with the header's.
BY_VALUE = {"struct bm_mem_desc": ("bm_mem_desc", 24), "struct sg_mem_desc": ("sg_mem_desc", 32),
            "struct bm_mem_desc_u64": ("bm_mem_desc_u64", 32)}


def ctype(name, facts):
    """The ctypes type of a C type; None: it has none here."""
    is_const = "const" in name.split()
    name = re.sub(r"\bconst\b", "", name).replace("*", " *")
    name = " ".join(name.split())
    if "(" in name or name == "...":
        return None
    # A text that is not const is written to, or has to be given back: a copy of it would be neither.
    if name == "char *" and is_const:
        return "c_char_p"
    if name.endswith("*"):
        return "c_void_p"
    if name in SCALARS:
        return SCALARS[name]
    if name in BY_VALUE:
        return BY_VALUE[name][0]
    if name in facts["enums"] or name.removeprefix("enum ") in facts["enums"]:
        return "c_int"
    if name in facts["typedefs"]:
        return ctype(facts["typedefs"][name], facts)
    return None


def own_functions(header):
    """Of one of softtpu's headers: name -> (result, parameters)."""
    return {one.name: [one.returns, *(kind for kind, _ in one.parameters)]
            for one in prototypes.prototypes(ROOT / header) if one.name.startswith("softtpu_")}


def own_structs(header):
    """Lines of classes for the structs of a header, whose members are all of type int."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / header).read_text(), flags=re.S)
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\}", text, re.S):
        members = re.findall(r"(\w+)\s*[,;]", body.replace("int ", ""))
        yield f"class {name}(Structure):"
        yield "    _fields_ = [" + ", ".join(f'("{member}", c_int)' for member in members) + "]"
        yield from ("", "")


def rows(functions, facts):
    for name, (result, *parameters) in sorted(functions.items()):
        types = [ctype(text, facts) for text in (result, *parameters)]
        if None in types:
            continue
        yield f'    "{name}": ({types[0]}, [{", ".join(types[1:])}]),'


def generated():
    facts = json.loads((ROOT / "tests/api/bmlib.json").read_text())
    functions = dict(facts["functions"])
    functions.update(own_functions(HEADERS["bmlib"]))
    lines = ['"""Made by scripts/python_api.py: the functions of the libraries, as ctypes declares them."""',
             "from ctypes import *  # noqa: F403", "", ""]
    for name, size in BY_VALUE.values():
        lines += [f"class {name}(Structure):", f'    _fields_ = [("words", c_uint64 * {size // 8})]', "", ""]
    lines += ["class tpu_launch_param_t(Structure):",
              "    _fields_ = [" + ", ".join(f'("{name}", {ctype(kind, facts)})' for kind, name in facts["records"][LAUNCH]) + "]", "", ""]
    lines += own_structs(HEADERS["layout"])
    for enum in ("bm_status_t",):
        lines += [f"{name} = {value}" for name, value in facts["enums"][enum].items()] + [""]
    lines += [f"{name} = {int(value)}" for name, value in sorted(facts["macros"].items()) if name.startswith("BMLIB_LOG_") and value]
    lines += ["", "BMLIB = {", *rows(functions, facts), "}", "", "LAYOUT = {", *rows(own_functions(HEADERS["layout"]), facts), "}", ""]
    return "\n".join(lines)


LAUNCH = next(name for name in json.loads((ROOT / "tests/api/bmlib.json").read_text())["records"] if "launch_param" in name)


def main():
    return write_or_check(TARGET, generated(), "--check" in sys.argv[1:], "python_api.py")


if __name__ == "__main__":
    sys.exit(main())
