#!/usr/bin/env python3
"""Compares the public headers with the published interface (the JSON files beside this script).

For each interface a C and a C++ file is generated in which every function's address is taken with its exact type, and every
enumerator, constant, field, size and offset is asserted; the compilers at hand must accept both without a warning, and
usage.c and repeated.c as well."""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
HEADERS = {"tpukernel": "tpu_kernel.h", "okkernel": "okk.h", "bm_atomic": "bm_atomic.h", "bmlib": "bmlib_runtime.h",
           "bmlib_internal": "bmlib_internal.h", "bmrt": "bmruntime_legacy.h", "tpuv7rt": "tpuv7/tpuv7_manager.h",
           "tpuv7modelrt": "tpuv7/tpuv7_modelrt.h",
           "tpudnn": "tpudnn/tpuDNN.h", "tpurtwrap": "tpu_runtime_api/tpu_runtime_api.h"}
# Headers that include another one have its functions too.
INCLUDES = {"tpukernel": "tpukernel_newest", "bm_atomic": "okkernel", "bmlib_internal": "bmlib", "bmrt": "bmlib", "tpuv7modelrt": "tpuv7rt"}
FLAGS = "-Wall -Wextra -Werror -Wsign-compare -Wunused-variable -fsigned-char -fvisibility=hidden -fsyntax-only".split()
COMPILERS = [("gcc", "c99"), ("gcc", "gnu11"), ("clang", "c99"), ("g++", "c++17"), ("clang++", "c++17")]

# Sizes that do not follow from the listed fields, because a member has no name or no listed type.
SIZES = {"float8e5m2": 2, "float8e4m3": 2, "float16": 2, "bfloat16": 2, "float20": 4, "scalar_t": 4, "var_context_t": 4,
         "optional_info_t": 12, "x32": 4, "x16": 2, "x8": 1, "fp32_or_addr_t": 8, "x32_or_addr_t": 8, "bm_mem_flags_t": 4,
         "struct bm_mem_desc": 24, "struct sg_mem_desc": 32, "struct bm_mem_desc_u64": 32}


def declarator(ctype, name):
    """`type name` for pointers to functions and arrays as well."""
    if "(*)" in ctype:
        return ctype.replace("(*)", f"(*{name})")
    array = re.fullmatch(r"(.*?)(\[\d+\])", ctype)
    return f"{array[1]} {name}{array[2]}" if array else f"{ctype} {name}"


def functions(facts):
    for name, (result, *params) in facts["functions"].items():
        yield f"{result} (*const p_{name})({', '.join(params) or 'void'}) = &{name};"
        yield f"const void* use_{name}(void); const void* use_{name}(void) {{ return &p_{name}; }}"


def constants(facts):
    for values in facts["enums"].values():
        for name, value in values.items():
            yield f'STATIC_ASSERT({name} == {value}, "{name}");'
    for name, value in facts["macros"].items():
        yield f"#ifndef {name}\n#error {name} is not defined\n#endif"
        if value is not None:
            yield f'STATIC_ASSERT(({name}) == {value}, "{name}");'
    for name in facts["enums"]:
        yield f'STATIC_ASSERT(sizeof({name}) == 4, "{name}");'


def records(facts):
    for name, fields in facts["records"].items():
        known = [(t, f) for t, f in fields if f and "unnamed" not in t]
        for ctype, field in known:
            yield f'STATIC_ASSERT(SAME_TYPE((({name}*)0)->{field}, {ctype_argument(ctype)}), "{name}.{field}");'
        if name in SIZES:
            yield f'STATIC_ASSERT(sizeof({name}) == {SIZES[name]}, "size of {name}");'
        elif len(known) == len(fields):
            mirror = "mirror_" + name.replace(" ", "_")
            yield f"struct {mirror} {{ " + " ".join(declarator(t, f) + ";" for t, f in fields) + " };"
            yield f'STATIC_ASSERT(sizeof(struct {mirror}) == sizeof({name}), "size of {name}");'
            for _, field in fields:
                yield f'STATIC_ASSERT(offsetof(struct {mirror}, {field}) == offsetof({name}, {field}), "{name}.{field}");'
        else:
            raise SystemExit(f"header_test.py: the size of {name} is neither listed in SIZES nor given by its fields")
    for name, ctype in facts["typedefs"].items():
        yield f'STATIC_ASSERT(SAME_TYPE(*({name}*)0, {ctype_argument(ctype)}), "{name}");'


def ctype_argument(ctype):
    return ctype if "," not in ctype else f"__typeof__({ctype})"


PRELUDE = """#include <stddef.h>
#ifdef __cplusplus
#include <type_traits>
#define STATIC_ASSERT static_assert
#define SAME_TYPE(expression, ...) std::is_same<std::remove_reference<decltype((expression))>::type, __VA_ARGS__>::value
#else
#define STATIC_ASSERT _Static_assert
#define SAME_TYPE(expression, ...) __builtin_types_compatible_p(__typeof__(expression), __VA_ARGS__)
#endif
"""


def published(name):
    return json.loads((HERE / f"{name}.json").read_text())["functions"] if name else {}


def source(name):
    facts = json.loads((HERE / f"{name}.json").read_text())
    lines = [PRELUDE, f'#include "{HEADERS[name]}"', *functions(facts), *constants(facts), *records(facts)]
    return "\n".join(lines) + "\n"


def declared(includes, name):
    """Every function that the header declares, as the preprocessed text shows it."""
    paths = [f"-I{path}" for path in includes]
    text = subprocess.run(["gcc", "-E", "-P", *paths, "-include", HEADERS[name], "-xc", "/dev/null"], check=True,
                          capture_output=True, text=True).stdout
    return set(re.findall(r"\b((?:tpu|okk|bm|sg|bmcpu|bmlib|bmkernel|okkernel|sfu|bmrt|create)_\w+|tpu(?:Rt|dnn)?[A-Z]\w+|show_md5|destroy_bmruntime|get_bmodel_api_info_c)\s*\([^*)]", text))


def own_names(text):
    """The macros that this source defines behind an #ifndef of the header, with their parameters."""
    return re.findall(r"^#define ((?!TENSOR_|NO_USE)\w+(?:\([^)]*\))?)", text, re.M)


def newest(facts, chip):
    """tpu_kernel.h as a kernel for this chip sees it that defines the macro of the newest headers: every function that they declare for
    the chip with their exact type, their enumerators, their records with sizes and offsets."""
    own = facts["chips"][chip]
    names = [name for name in facts["functions"] if name not in own["lacks"]]
    lines = [f"#define {own['define']} 1", PRELUDE, '#include "tpu_kernel.h"']
    lines += functions({"functions": {name: own["differs"].get(name, facts["functions"][name]) for name in names}})
    for enum in facts["enums"]:
        if chip in enum["chips"]:
            lines += [f'STATIC_ASSERT({name} == {value}, "{name}");' for name, value in enum["values"].items()]
    for record in facts["records"]:
        if chip not in record["chips"]:
            continue
        name = record["name"]
        lines.append(f'STATIC_ASSERT(sizeof({name}) == {record["size"]}, "size of {name}");')
        lines += [f'STATIC_ASSERT(offsetof({name}, {field}) == {offset}, "{name}.{field}");' for _, field, offset in record["fields"]]
    return "\n".join(lines) + "\n", len(names)


def compile_all(name, text, includes, folder):
    paths = [f"-I{path}" for path in includes]
    count = 0
    for compiler, standard in COMPILERS:
        if not shutil.which(compiler):
            print(f"{name}: {compiler} is not installed, left out")
            continue
        file = pathlib.Path(folder) / (name + (".cpp" if "++" in compiler else ".c"))
        file.write_text(text)
        result = subprocess.run([compiler, f"-std={standard}", *FLAGS, *paths, str(file)], capture_output=True, text=True)
        if result.returncode:
            print(result.stderr[:4000])
            return f"{name}: {compiler} -std={standard} does not accept {file.name}"
        count += 1
    return None if count else f"{name}: no compiler found"


def header_cost(name, includes, folder):
    file = pathlib.Path(folder) / "empty.c"
    file.write_text(f'#include "{HEADERS[name]}"\n')
    best = 9.0
    for _ in range(3):
        start = time.monotonic()
        subprocess.run(["gcc", "-O2", *[f"-I{path}" for path in includes], "-c", str(file), "-o", "/dev/null"], check=True)
        best = min(best, time.monotonic() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", action="append", required=True)
    options = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name in HEADERS:
            facts = json.loads((HERE / f"{name}.json").read_text())
            problem = compile_all(name, source(name), options.include, folder)
            known = {*facts["functions"], *published(INCLUDES.get(name)), "va_list"}
            extra = sorted(declared(options.include, name) - known)
            if problem:
                failures.append(problem)
            if extra:
                failures.append(f"{HEADERS[name]}: declares functions that are not published: {', '.join(extra)}")
            print(f"{name}: {len(facts['functions'])} functions, {sum(map(len, facts['enums'].values()))} enumerators, "
                  f"{len(facts['records'])} records, {len(facts['macros'])} macros compared; "
                  f"an empty C file with {HEADERS[name]} compiles in {header_cost(name, options.include, folder) * 1000:.0f} ms")
        facts = json.loads((HERE / "tpukernel_newest.json").read_text())
        for chip in facts["chips"]:
            text, count = newest(facts, chip)
            problem = compile_all(f"newest_{chip}", text, options.include, folder)
            failures += [problem] if problem else []
            print(f"tpu_kernel.h with {facts['chips'][chip]['define']}: {count} functions of the newest headers compared")
        for name in ("usage", "repeated"):
            problem = compile_all(name, (HERE / f"{name}.c").read_text(), options.include, folder)
            failures += [problem] if problem else []
        wrapped = '#ifdef __cplusplus\nextern "C" {\n#endif\n#include "tpu_kernel.h"\n#ifdef __cplusplus\n}\n#endif\n'
        problem = compile_all("wrapped", wrapped, options.include, folder)
        failures += [problem] if problem else []
        # The other order: the kernel's definitions first, whatever they say.
        own = "".join(f"#define {name} 0x7\n" for name in own_names((HERE / "repeated.c").read_text()))
        problem = compile_all("own_first", own + '#include "tpu_kernel.h"\n', options.include, folder)
        failures += [problem] if problem else []
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
