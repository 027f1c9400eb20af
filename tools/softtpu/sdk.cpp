// softtpu sdk: lays out the tree of a vendor's SDK, so that a project written for that builds against softtpu.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "device/chip/chip.hpp"
#include "tools/softtpu/command.hpp"

namespace softtpu::cli {
namespace {

namespace fs = std::filesystem;

// Copies what a link points to; what is there already is replaced.
void copy_into(const fs::path& from, const fs::path& to) {
  fs::create_directories(to.parent_path());
  fs::copy(from, to, fs::copy_options::overwrite_existing | fs::copy_options::recursive);
}

void link_to(const fs::path& target, const fs::path& link) {
  fs::create_directories(link.parent_path());
  fs::remove(link);
  fs::create_symlink(target, link);
}

// Where the libraries look for a device process, and a gateway to one.
void link_programs(const fs::path& prefix, const fs::path& folder) {
  for (const char* program : {"softtpu", "softtpu-device", "softtpu-remote"}) {
    if (fs::exists(prefix / "bin" / program)) link_to(prefix / "bin" / program, folder / "bin" / program);
  }
}

// include/ and lib/cmodel/libbmlib.so, as the OKKernel SDK has them. Build tree and installed tree have the same
// places.
void lay_out_okkernel(const fs::path& prefix, const fs::path& folder) {
  for (const char* header : {"okk.h", "bm_atomic.h", "bmlib_runtime.h", "softtpu/kernel_common.h"}) {
    copy_into(prefix / "include" / header, folder / "include" / header);
  }
  copy_into(prefix / "lib/okkernel/libbmlib.so", folder / "lib/cmodel/libbmlib.so");
  // What programs ask the loader for: see host/okkernel/README.md.
  link_to("libbmlib.so", folder / "lib/cmodel/libbmlib_okkernel.so");
  link_programs(prefix, folder);
}

// With the name that programs ask the loader for, where that is another one.
void copy_libraries(const fs::path& prefix, const fs::path& to, std::initializer_list<const char*> names) {
  for (const std::string name : names) {
    copy_into(prefix / "lib" / name, to / name);
    if (fs::exists(prefix / "lib" / (name + ".0"))) link_to(name, to / (name + ".0"));
  }
}

constexpr std::initializer_list<const char*> kRtLibraries = {"libsofttpu_client.so", "libtpuv7_rt.so",
                                                             "libtpuv7_modelrt.so",  "libbmrt.so",
                                                             "libbmlib.so",          "libcmodel_firmware.so"};

// Headers of kernels: tpu_kernel.h and what it includes.
void copy_kernel_headers(const fs::path& prefix, const fs::path& to) {
  for (const auto& header : fs::directory_iterator(prefix / "include")) {
    const std::string name = header.path().filename();
    if (header.is_regular_file() && (name.starts_with("tpu_") || name.starts_with("bm_"))) copy_into(header, to / name);
  }
  for (const auto& header : fs::directory_iterator(prefix / "include/softtpu")) {
    if (header.is_regular_file()) copy_into(header, to / "softtpu" / header.path().filename());
  }
}

// include/ and lib/ of tpuv7's runtime and emulator, with every name that projects link.
void lay_out_tpuv7(const fs::path& prefix, const fs::path& folder) {
  for (const char* header : {"tpuv7_rt.h", "tpuv7_manager.h", "tpuv7_modelrt.h"}) {
    copy_into(prefix / "include/tpuv7" / header, folder / "include" / header);
    copy_into(prefix / "include/tpuv7" / header, folder / "include/tpuv7" / header);
  }
  copy_kernel_headers(prefix, folder / "include");
  copy_libraries(prefix, folder / "lib", kRtLibraries);
  // The host's part of the emulator is the runtime, the chip's part is what kernels call.
  link_to("libtpuv7_rt.so", folder / "lib/libcdm_daemon_emulator.so");
  for (const char* name : {"libtpuv7_emulator.so", "libtpuv7_scalar_emulator.so"}) {
    link_to("libcmodel_firmware.so", folder / "lib" / name);
  }
  link_programs(prefix, folder);
}

// A PPL project's builds ask for these by PPL_RUNTIME_PATH, and for a chip by its code.
struct PplChip {
  const char* name;   // as CHIP_ARCH and softtpu know it
  const char* code;   // as folders are called
  const char* macro;  // defined for kernels and hosts
  bool has_tpuv7;     // hosts use tpuv7_rt, else libbmlib
  int most_cores;     // MAX_TPU_CORE_NUM of PPL 1.7, which says 2 for BM1684X
  const char* also_called = "";
};
constexpr PplChip kPplChips[] = {
#include "tools/softtpu/ppl_chips.def"
};

// Of those, the ones that softtpu runs.
std::vector<PplChip> ppl_chips() {
  std::vector<PplChip> chips;
  for (const PplChip& chip : kPplChips) {
    if (load_chip(chip.name)) chips.push_back(chip);
  }
  return chips;
}

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw fs::filesystem_error("writing", path, std::make_error_code(std::errc::io_error));
}

// What the project's own build file reads: where things are, and what to link.
std::string ppl_config(const PplChip& chip) {
  return fmt::format(R"(# Made by "softtpu sdk ppl": {0}.
get_filename_component(SOFTTPU_PPL "${{CMAKE_CURRENT_LIST_DIR}}/../.." ABSOLUTE)
set(TPUKERNEL_TOP ${{SOFTTPU_PPL}}/chip/{1}/TPU1686)
# What PPL 1.7 has in common/ stood in kernel/ and customize/ before.
if(EXISTS ${{SOFTTPU_PPL}}/common)
  set(KERNEL_TOP ${{SOFTTPU_PPL}}/common/dev/kernel)
  set(CUS_TOP ${{SOFTTPU_PPL}}/common)
  set(CHECKER ${{CUS_TOP}}/dev/checker/include)
  file(GLOB_RECURSE KERNEL_CHECKER ${{CUS_TOP}}/dev/checker/*.c ${{CUS_TOP}}/dev/checker/*.cpp)
else()
  set(KERNEL_TOP ${{SOFTTPU_PPL}}/kernel)
  set(CUS_TOP ${{SOFTTPU_PPL}}/customize)
  set(CHECKER)
  set(KERNEL_CHECKER)
endif()
if(RUNTIME_PATH)
  set(RUNTIME_TOP ${{RUNTIME_PATH}})
else()
  set(RUNTIME_TOP ${{SOFTTPU_PPL}}/runtime/{2})
endif()
set(RT_WRAP_TOP ${{SOFTTPU_PPL}}/runtime/tpu_rt_wrap)
set(RT_WRAP_LIB_PATH ${{RT_WRAP_TOP}}/lib)
set(MAX_TPU_CORE_NUM {6})
set(BACKEND_LIB_PATH ${{SOFTTPU_PPL}}/chip/{1}/lib)
set(FIRMWARE_CMODEL {3})
set(BMLIB_CMODEL_PATH ${{BACKEND_LIB_PATH}}/{3})
set(RUNTIME_LIBS {4})
set(EXTRA_IDIRS)
set(EXTRA_LDIRS)
set(EXTRA_CFLAGS)
set(EXTRA_LDFLAGS)
add_definitions(-D{5})
)",
                     chip.name, chip.code, chip.has_tpuv7 ? "tpuv7-runtime" : "bmlib",
                     chip.has_tpuv7 ? "libtpuv7_emulator.so" : "libcmodel_firmware.so",
                     chip.has_tpuv7 ? "tpuv7_rt cdm_daemon_emulator" : "bmlib", chip.macro, chip.most_cores);
}

constexpr const char* kGenChipDef = R"(# Turns the name of a chip into its code: CHIP is set to the name of its folder.
if(NOT DEFINED CHIP)
  if(DEFINED ENV{CHIP_ARCH})
    set(CHIP $ENV{CHIP_ARCH})
  else()
    message(FATAL_ERROR "CHIP (or CHIP_ARCH in the environment) names the chip")
  endif()
endif()
file(READ ${CMAKE_CURRENT_LIST_DIR}/../chip/chip_map.json SOFTTPU_CHIP_MAP)
string(JSON SOFTTPU_CHIP_CODE ERROR_VARIABLE SOFTTPU_NO_CHIP GET "${SOFTTPU_CHIP_MAP}" ${CHIP})
if(SOFTTPU_CHIP_CODE)
  set(CHIP ${SOFTTPU_CHIP_CODE})
endif()
if(NOT EXISTS ${CMAKE_CURRENT_LIST_DIR}/../chip/${CHIP}/config_common.cmake)
  message(FATAL_ERROR "chip ${CHIP} is not one of ${SOFTTPU_CHIP_MAP}")
endif()
# For programs: the same map.
string(JSON SOFTTPU_CHIPS LENGTH "${SOFTTPU_CHIP_MAP}")
math(EXPR SOFTTPU_LAST_CHIP "${SOFTTPU_CHIPS} - 1")
set(SOFTTPU_CHIP_ROWS)
foreach(SOFTTPU_INDEX RANGE ${SOFTTPU_LAST_CHIP})
  string(JSON SOFTTPU_NAME MEMBER "${SOFTTPU_CHIP_MAP}" ${SOFTTPU_INDEX})
  string(JSON SOFTTPU_CODE GET "${SOFTTPU_CHIP_MAP}" ${SOFTTPU_NAME})
  string(APPEND SOFTTPU_CHIP_ROWS "    {\"${SOFTTPU_NAME}\", \"${SOFTTPU_CODE}\"},\n")
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/include/chip_map.h "#pragma once\n#include <string>\n#include <unordered_map>\nstatic const std::unordered_map<std::string, std::string> chip_map = {\n${SOFTTPU_CHIP_ROWS}};\n")
)";

constexpr const char* kAddPpl =
    R"(# What a compiler has generated already is only built; its sources need the compiler itself.
function(set_ppl_chip)
endfunction()
function(ppl_gen input output opt_level)
  find_program(SOFTTPU_PPL_COMPILE ppl-compile HINTS ENV PPL_PROJECT_ROOT PATH_SUFFIXES bin)
  if(NOT SOFTTPU_PPL_COMPILE)
    message(FATAL_ERROR "${input}: PPL's own compiler (ppl-compile) turns it into C; softtpu builds and runs what comes out")
  endif()
  execute_process(COMMAND ${SOFTTPU_PPL_COMPILE} ${input} --chip ${CHIP} --O${opt_level} --o ${output} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
)";

// A folder of bmlib and its headers.
void lay_out_bmlib(const fs::path& prefix, const fs::path& folder) {
  for (const char* header : {"bmlib_runtime.h", "bmlib_internal.h", "bmlib_type.h", "bmlib_memory.h"}) {
    copy_into(prefix / "include" / header, folder / "include" / header);
  }
  copy_libraries(prefix, folder / "lib", {"libsofttpu_client.so", "libbmlib.so"});
  link_to("../../bin", folder / "bin");
}

void lay_out_ppl(const fs::path& prefix, const fs::path& folder) {
  std::string map;
  for (const PplChip& chip : ppl_chips()) {
    for (const std::string_view name : {chip.name, chip.also_called}) {
      if (!name.empty()) map += fmt::format("{}\n  \"{}\": \"{}\"", map.empty() ? "{" : ",", name, chip.code);
    }
    const fs::path place = folder / "chip" / chip.code;
    write_text(place / "config_common.cmake", ppl_config(chip));
    copy_kernel_headers(prefix, place / "TPU1686/kernel/include");
    for (const char* header : {"tpuDNN.h", "tpuDNNTensor.h"}) {
      copy_into(prefix / "include/tpudnn" / header, place / "TPU1686/tpuDNN/include" / header);
    }
    copy_libraries(
        prefix, place / "lib",
        {"libsofttpu_client.so", "libtpudnn.so", "libtpu_runtime_api.so", "libtpuv7_rt.so", "libcmodel_firmware.so"});
    if (chip.has_tpuv7) link_to("libcmodel_firmware.so", place / "lib/libtpuv7_emulator.so");
    // Libraries look for the device process in ../bin.
    link_to("../../bin", folder / "chip" / chip.code / "bin");
  }
  write_text(folder / "chip/chip_map.json", map + "\n}\n");
  write_text(folder / "scripts/GenChipDef.cmake", kGenChipDef);
  write_text(folder / "scripts/AddPPL.cmake", kAddPpl);
  lay_out_tpuv7(prefix, folder / "runtime/tpuv7-runtime");
  lay_out_bmlib(prefix, folder / "runtime/bmlib");
  lay_out_bmlib(prefix, folder / "runtime/libsophon");  // as older builds call it
  const fs::path wrapper = folder / "runtime/tpu_rt_wrap";
  copy_into(prefix / "include/tpu_runtime_api/tpu_runtime_api.h", wrapper / "include/tpu_runtime_api.h");
  copy_libraries(prefix, wrapper / "lib", {"libsofttpu_client.so", "libtpu_runtime_api.so"});
  link_to("../../bin", wrapper / "bin");
  link_programs(prefix, folder);
}

// What builds of PPL before 1.7 find beside chip/ and runtime/.
void lay_out_older_ppl(const fs::path& prefix, const fs::path& folder) {
  lay_out_ppl(prefix, folder);
  copy_into(prefix / "include/tpu_runtime_api/tpu_runtime_api.h", folder / "customize/host/include/tpu_runtime_api.h");
  for (const char* place : {"kernel", "customize/dev/utils/include"}) fs::create_directories(folder / place);
  write_text(folder / "customize/dev/utils/src/ppl_helper.c",
             "/* Generated kernels are compiled together with this file; what they call is in tpu_kernel.h. */\n"
             "typedef int softtpu_ppl_helper_is_empty;\n");
}

// Whether softtpu's own libraries lie in a folder of the tree: the user's stay out of it, since a program cannot have
// both. "chip/tpu_6_0/lib", "runtime/bmlib/lib".
bool holds_libraries(const fs::path& relative) {
  std::vector<std::string> parts;
  for (const fs::path& part : relative) parts.push_back(part.string());
  return parts.size() >= 3 && (parts[0] == "chip" || parts[0] == "runtime") && (parts[2] == "lib" || parts[2] == "bin");
}

// A chip's folder that the tree lacks is one that softtpu does not run.
bool is_foreign_chip(const fs::path& folder, const fs::path& relative) {
  const auto first = relative.begin();
  if (first == relative.end() || *first != "chip" || std::next(first) == relative.end()) return false;
  const fs::path place = fs::path("chip") / *std::next(first);
  return place.extension() != ".json" && !fs::exists(folder / place);
}

// Everything of the user's own PPL that is not a library of the chip or of a runtime: its build files, headers and
// helpers count, unchanged.
void add_deps(const fs::path& deps, const fs::path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(deps, fs::directory_options::follow_directory_symlink)) {
    const fs::path relative = fs::relative(entry.path(), deps);
    if (entry.is_directory() || holds_libraries(relative) || is_foreign_chip(folder, relative)) continue;
    link_to(fs::absolute(entry.path()), folder / relative);
  }
}

// The libraries that the compiler's model runner and debugger open, under the names that they ask for.
void lay_out_tpu_mlir(const fs::path& prefix, const fs::path& folder) {
  const fs::path lib = folder / "lib";
  copy_libraries(prefix, lib, {"libsofttpu_client.so", "libbmrt.so", "libbmlib.so", "libcmodel_bm1684x.so"});
  for (const auto& [target, name] :
       {std::pair("libbmrt.so", "libbmrt.so.1.0"), std::pair("libcmodel_bm1684x.so", "libcmodel.so")})
    link_to(target, lib / name);
  link_programs(prefix, folder);
}

struct Sdk {
  const char* name;
  void (*lay_out)(const fs::path& prefix, const fs::path& folder);
  const char* what;
};
constexpr Sdk kSdks[] = {
    {"okkernel", lay_out_okkernel, "include/, lib/cmodel/libbmlib.so and bin/ for OKKernel projects (BM1684)"},
    {"tpuv7", lay_out_tpuv7, "include/, lib/ and bin/ for projects on tpuv7_rt (BM1690 and newer)"},
    {"ppl", lay_out_older_ppl, "chip/, runtime/, scripts/ for PPL projects: the PPL_RUNTIME_PATH of their builds"},
    {"tpu-mlir", lay_out_tpu_mlir,
     "lib/ with libbmrt, libbmlib and libcmodel_bm1684x for the compiler's tools (put it first in LD_LIBRARY_PATH)"},
};

struct SdkOptions {
  std::string kind, folder, deps;
};

// The folder deps of the user's PPL; the error says what it should look like.
Result<void> check_deps(const SdkOptions& options) {
  if (options.deps.empty()) return {};
  if (options.kind != "ppl") return Error{ErrorKind::kUsage, "sdk: --deps goes with the kind ppl"};
  for (const char* place : {"common/host", "common/dev"}) {
    if (fs::is_directory(fs::path(options.deps) / place)) continue;
    return Error{ErrorKind::kUsage,
                 fmt::format("sdk: --deps {}: it has no folder {} (the folder deps of a PPL 1.7 release is meant)",
                             options.deps, place)};
  }
  return {};
}

int run(const SdkOptions& options) {
  const Sdk& sdk = *std::ranges::find(kSdks, options.kind, &Sdk::name);
  if (auto good = check_deps(options); !good) return fail(good.error());
  try {
    const fs::path prefix = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
    if (options.deps.empty()) {
      sdk.lay_out(prefix, options.folder);
    } else {
      lay_out_ppl(prefix, options.folder);
      add_deps(fs::canonical(options.deps), options.folder);
    }
  } catch (const fs::filesystem_error& error) {
    fail(error.what());
    return kNotWritten;
  }
  print_escaped("{}: {}\n", options.folder, sdk.what);
  if (options.kind == "ppl" && options.deps.empty()) {
    print_escaped(
        "Projects of PPL 1.7 also need the files of PPL itself: softtpu sdk ppl {} --deps $PPL_PROJECT_ROOT/deps\n",
        options.folder);
  }
  return 0;
}

}  // namespace

Run add_sdk(CLI::App& app) {
  auto options = std::make_shared<SdkOptions>();
  std::vector<std::string> names;
  for (const Sdk& sdk : kSdks) names.emplace_back(sdk.name);
  app.add_option("kind", options->kind, "which SDK")->required()->check(CLI::IsMember(names));
  app.add_option("folder", options->folder, "target folder; created when it is missing")->required();
  app.add_option(
      "--deps", options->deps,
      "ppl: the folder deps of your PPL 1.7, whose build files, headers and helpers are linked into the tree");
  app.footer(
      "Exit status: 0; 2 when there is no such SDK or --deps is no such folder; 3 when the tree cannot be written.");
  return [options] { return run(*options); };
}

}  // namespace softtpu::cli
