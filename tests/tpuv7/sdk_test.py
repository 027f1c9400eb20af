#!/usr/bin/env python3
"""Lays out the trees of `softtpu sdk tpuv7` and `softtpu sdk ppl`, builds projects of the SDKs' own shapes against them with nothing
edited, and uses the launcher's commands on the programs: checks, times, records, dumps, a shared device."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "samples"
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("SOFTTPU_", "LD_LIBRARY_PATH", "TPUKERNEL_", "PPL_", "CHIP"))}


def finish(status, *command, cwd=None, **variables):
    """Runs a command that has to end with this status; both of its outputs."""
    result = subprocess.run([str(word) for word in command], env={**CLEAN, **variables}, capture_output=True, text=True, timeout=200, cwd=cwd)
    if result.returncode != status:
        sys.exit(f"FAILED ({result.returncode}): {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def run(*command, **variables):
    return finish(0, *command, **variables)


def check(text, expected):
    if expected not in text:
        sys.exit(f"FAILED: {expected!r} is not in {text!r}")


def build_tpuv7(launcher, folder):
    """A host program and a kernel, with the link names of the SDK."""
    sdk = folder / "tpuv7"
    check(run(launcher, "sdk", "tpuv7", sdk), "tpuv7_rt")
    source = SAMPLES / "tpuv7_stream"
    run("gcc", "-std=gnu11", "-g", "-shared", "-fPIC", "-DUSING_CMODEL", f"-I{sdk}/include", "-o", folder / "kernel.so", source / "kernel.c",
        f"-L{sdk}/lib", "-ltpuv7_emulator", "-Wl,--no-undefined")
    program = folder / "tpuv7_stream"
    run("gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f'-DKERNEL_MODULE="{folder}/kernel.so"', f"-I{sdk}/include", "-o", program,
        source / "main.c", f"-L{sdk}/lib", "-ltpuv7_rt", "-lcdm_daemon_emulator", f"-Wl,-rpath,{sdk}/lib")
    check(run(program), "0 of 131072 numbers wrong")
    return program


def build_ppl(launcher, folder):
    """The sample's own build file, which knows PPL_RUNTIME_PATH and CHIP_ARCH only."""
    sdk = folder / "ppl"
    check(run(launcher, "sdk", "ppl", sdk), "PPL_RUNTIME_PATH")
    project = folder / "project"
    shutil.copytree(SAMPLES / "ppl_project", project)
    variables = {"PPL_RUNTIME_PATH": str(sdk), "CHIP_ARCH": "bm1684x"}
    run("cmake", "-G", "Ninja", "-S", project, "-B", folder / "built", **variables)
    run("cmake", "--build", folder / "built", **variables)
    program = folder / "built/test_case"
    check(run(program, **variables), "1 workitem: 0 of 7680 numbers wrong")
    # Fewer cores than workitems: an error, unless the program's user says that fewer are enough.
    check(finish(1, program, "8", **variables), "the launch asks for 8 workitems, and chip bm1684x has 1 core.")
    check(run(program, "8", TPU_RT_CORE_NUM="1", **variables), "8 workitems: 0 of 7680 numbers wrong")
    return program


def use_paths(launcher, program, folder):
    """The module that a project was built with may lie elsewhere."""
    shutil.move(folder / "built/libcmodel.so", folder / "kernels.so")
    module = {"PPL_KERNEL_PATH": str(folder / "kernels.so")}
    check(run(program, "8", TPU_RT_CORE_NUM="1", **module), "8 workitems: 0 of 7680")
    check(finish(1, program), "No such file or directory")
    check(run(launcher, "run", "--check=all", "--", program, "8", **module), "8 workitems: 0 of 7680")


def use_chips(launcher, program, folder):
    """CHIP_ARCH is the chip that a program runs on, unless softtpu's own variable names another one."""
    module = {"PPL_KERNEL_PATH": str(folder / "kernels.so")}
    for chip, cores in (("bm1684x", 1), ("bm1688", 2), ("bm1690", 8)):
        trace = folder / f"{chip}.json"
        check(run(program, str(cores), CHIP_ARCH=chip, SOFTTPU_TRACE=str(trace), **module), f"{cores} workitem")
        used = len(set(re.findall(r'"core (\d+) launch"', trace.read_text())))
        if used != cores:
            sys.exit(f"FAILED: {used} cores of {chip} worked, not {cores}")
    check(finish(1, program, "8", CHIP_ARCH="bm1690", SOFTTPU_CHIP="bm1684x", **module), "chip bm1684x has 1 core")
    # What tpuv7_rt is the library of.
    check(run(program, "8", **module), "8 workitems: 0 of 7680")
    check(finish(1, program, CHIP_ARCH="bm9999", **module), '"bm9999" is neither a chip that softtpu knows')


PPL_FILES = {
    "common/host/src/cnpy.cpp": "int cnpy_is_here() { return 1; }\n",
    "common/host/src/host_utils.cpp": "int host_utils_is_here() { return 2; }\n",
    "common/host/include/autotune.h": "#pragma once\n#include \"chip_map.h\"\n",
    "common/dev/utils/src/dev_cnpy.c": "int dev_cnpy_is_here(void) { return 1; }\n",
    "common/dev/utils/src/tensor_dump.c": "int tensor_dump_is_here(void) { return 1; }\n",
    "common/dev/utils/src/ppl_helper.c": '#include "ppl_helper.h"\n',
    "common/dev/utils/include/ppl_helper.h": "#pragma once\n#include <tpu_kernel.h>\n",
    "common/dev/kernel/ppl_mem.h": "#pragma once\n",
    "common/dev/checker/include/checker.h": "#pragma once\n",
    "common/dev/checker/src/checker.c": '#include "checker.h"\nint checker_is_here(void) { return 1; }\n',
    "chip/tpu_6_0/TPU1686/kernel/include/memmap.h": "#pragma once\n",
    "chip/tpub_9_0/config_common.cmake": "",
    "chip/tpu_6_0/lib/libcmodel_firmware.so": "not a library",
    "runtime/bmlib/lib/libbmlib.so": "not a library",
    "scripts/users_own.cmake": "set(USERS_OWN 1)\n",
}
# A build file with the variables and files that those of PPL 1.7 use.
PPL_BUILD = """
cmake_minimum_required(VERSION 3.20)
project(trial C CXX)
set(PPL $ENV{PPL_RUNTIME_PATH})
include(${PPL}/scripts/GenChipDef.cmake)
include(${PPL}/chip/${CHIP}/config_common.cmake)
include(${PPL}/scripts/users_own.cmake)
if(NOT USERS_OWN OR NOT KERNEL_CHECKER OR NOT MAX_TPU_CORE_NUM OR NOT EXISTS ${RT_WRAP_LIB_PATH}/libtpu_runtime_api.so)
  message(FATAL_ERROR "something is missing")
endif()
add_compile_options(-Werror)
add_compile_definitions(USING_CMODEL)
include_directories(${TPUKERNEL_TOP}/kernel/include ${TPUKERNEL_TOP}/tpuDNN/include ${KERNEL_TOP} ${CUS_TOP}/dev/utils/include
                    ${CHECKER} ${CUS_TOP}/host/include ${RUNTIME_TOP}/include ${CMAKE_BINARY_DIR}/include)
link_directories(${BACKEND_LIB_PATH} ${RUNTIME_TOP}/lib)
add_library(kernels SHARED device/kernel.c ${CUS_TOP}/dev/utils/src/dev_cnpy.c ${CUS_TOP}/dev/utils/src/ppl_helper.c
            ${CUS_TOP}/dev/utils/src/tensor_dump.c ${KERNEL_CHECKER})
target_link_libraries(kernels PRIVATE ${FIRMWARE_CMODEL} m -Wl,--no-undefined)
separate_arguments(LIBS UNIX_COMMAND "${RUNTIME_LIBS}")
add_executable(trial src/main.cpp ${CUS_TOP}/host/src/cnpy.cpp ${CUS_TOP}/host/src/host_utils.cpp)
target_compile_features(trial PRIVATE cxx_std_17)
target_link_libraries(trial PRIVATE ${LIBS} tpudnn pthread)
"""
PPL_KERNEL = """
#include "ppl_helper.h"
void nothing(const void* args) { (void)args; tpu_initialize(); tpu_poll(); }
TPUKERNEL_FUNC_REGISTER(nothing)
"""
PPL_HOST = """
#include <autotune.h>
#include <tpuDNN.h>
int cnpy_is_here();
int host_utils_is_here();
int main() { return cnpy_is_here() + host_utils_is_here() == 3 && chip_map.at("bm1684x") == "tpu_6_0" ? 0 : 1; }
"""


def build_with_deps(launcher, folder):
    """A project of PPL 1.7's shape, for every chip, with the user's own files linked into the tree and unchanged."""
    deps, project, sdk = folder / "deps", folder / "ppl17", folder / "ppl-deps"
    for name, text in {**{f"deps/{name}": text for name, text in PPL_FILES.items()}, "ppl17/CMakeLists.txt": PPL_BUILD,
                       "ppl17/device/kernel.c": PPL_KERNEL, "ppl17/src/main.cpp": PPL_HOST}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    check(finish(2, launcher, "sdk", "ppl", sdk, "--deps", folder / "ppl"), "it has no folder common/host")
    check(finish(2, launcher, "sdk", "tpuv7", sdk, "--deps", deps), "--deps goes with the kind ppl")
    for _ in range(2):  # a second time over the first
        check(run(launcher, "sdk", "ppl", sdk, "--deps", deps), "PPL_RUNTIME_PATH")
    for name in ("common/host/src/cnpy.cpp", "scripts/users_own.cmake", "chip/tpu_6_0/TPU1686/kernel/include/memmap.h"):
        if (sdk / name).resolve() != (deps / name).resolve():
            sys.exit(f"FAILED: {name} is not the user's own")
    if (sdk / "chip/tpub_9_0").exists() or (sdk / "chip/tpu_6_0/lib/libcmodel_firmware.so").read_bytes()[:4] != b"\x7fELF":
        sys.exit("FAILED: libraries that are not softtpu's are in the tree")
    for chip in ("bm1684x", "bm1684xe", "bm1688", "bm1690", "bm1690e", "bm1684x2", "cv184x"):
        variables = {"PPL_RUNTIME_PATH": str(sdk)}
        run("cmake", "-G", "Ninja", f"-DCHIP={chip}", "-DDEV_MODE=cmodel", "-S", project, "-B", folder / f"ppl17-{chip}", **variables)
        run("cmake", "--build", folder / f"ppl17-{chip}", **variables)
        run(folder / f"ppl17-{chip}/trial")


def refuse_chip(folder):
    variables = {"PPL_RUNTIME_PATH": str(folder / "ppl"), "CHIP_ARCH": "bm9999"}
    text = finish(1, "cmake", "-G", "Ninja", "-S", folder / "project", "-B", folder / "other", **variables)
    check(text, "chip bm9999 is not one of")


def link_names(launcher, folder):
    """Every library of a tree finds the others there, by the names that they ask for."""
    for kind, places in (("tpuv7", ["lib"]), ("ppl", ["runtime/libsophon/lib", "runtime/tpuv7-runtime/lib"]), ("tpu-mlir", ["lib"])):
        run(launcher, "sdk", kind, folder / f"links-{kind}")
        for place in places:
            for library in sorted((folder / f"links-{kind}" / place).glob("*.so*")):
                if "not found" in run("ldd", library):
                    sys.exit(f"FAILED: {library}: {run('ldd', library)}")


def use_pkg_config(place, folder):
    """A program of all newer interfaces, by the compilers' flags that pkg-config gives."""
    def flags(*packages):
        return run("pkg-config", "--cflags", "--libs", *packages, PKG_CONFIG_PATH=str(place / "lib/pkgconfig")).split()
    tests = SAMPLES.parent
    warnings = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{tests}"]
    run("gcc", *warnings, "-shared", "-fPIC", "-DUSING_CMODEL", "-o", folder / "interfaces.so", tests / "tests/tpuv7/kernels/interface_kernels.c",
        *flags("cmodel_firmware"), "-Wl,--no-undefined")
    run("gcc", *warnings, "-o", folder / "interfaces", tests / "tests/tpuv7/interfaces.c", *flags("tpuv7_rt", "tpuv7_modelrt", "tpudnn", "tpu_runtime_api"))
    for interface in ("rt", "wrapper", "tpudnn"):
        check(run(folder / "interfaces", interface, folder / "interfaces.so"), "0 of 1024 numbers wrong")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="the build tree")
    parser.add_argument("--install", action="store_true", help="installs it first, and uses what was installed alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        place = pathlib.Path(options.build).resolve()
        if options.install:
            run("cmake", "--install", place, "--prefix", folder / "installed")
            place = folder / "installed"
            use_pkg_config(place, folder)
        launcher = place / "bin/softtpu"
        build_tpuv7(launcher, folder)
        program = build_ppl(launcher, folder)
        build_with_deps(launcher, folder)
        use_paths(launcher, program, folder)
        use_chips(launcher, program, folder)
        refuse_chip(folder)
        link_names(launcher, folder)
        check(finish(2, launcher, "sdk", "nothing", folder / "x").replace("\n", " "), "nothing")
    print("projects of tpuv7 and PPL build and run unchanged")


if __name__ == "__main__":
    main()
