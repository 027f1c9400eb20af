// softtpu sdk: lays out the tree of a vendor's SDK, so that a project written for that builds against softtpu.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "device/cli/command.hpp"

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

// include/ and lib/cmodel/libbmlib.so, as the OKKernel SDK has them. Build tree and installed tree have the same
// places.
void lay_out_okkernel(const fs::path& prefix, const fs::path& folder) {
  for (const char* header : {"okk.h", "bm_atomic.h", "bmlib_runtime.h", "softtpu/kernel_common.h"}) {
    copy_into(prefix / "include" / header, folder / "include" / header);
  }
  copy_into(prefix / "lib/okkernel/libbmlib.so", folder / "lib/cmodel/libbmlib.so");
  // What programs ask the loader for: see host/okkernel/README.md.
  link_to("libbmlib.so", folder / "lib/cmodel/libbmlib_okkernel.so");
  // Where the library looks for a device process, and a gateway to one.
  for (const char* program : {"softtpu", "softtpu-device", "softtpu-remote"}) {
    if (fs::exists(prefix / "bin" / program)) link_to(prefix / "bin" / program, folder / "bin" / program);
  }
}

int run(const std::string& folder) {
  try {
    const fs::path prefix = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
    lay_out_okkernel(prefix, folder);
  } catch (const fs::filesystem_error& error) {
    fail(error.what());
    return kNotWritten;
  }
  fmt::print("{}: include/, lib/cmodel/libbmlib.so and bin/ for OKKernel projects (BM1684)\n", folder);
  return 0;
}

}  // namespace

Run add_sdk(CLI::App& app) {
  auto kind = std::make_shared<std::string>();
  auto folder = std::make_shared<std::string>();
  app.add_option("kind", *kind, "which SDK")->required()->check(CLI::IsMember({"okkernel"}));
  app.add_option("folder", *folder, "where to; made when it is not there")->required();
  app.footer("Exit status: 0; 2 when there is no such SDK; 3 when the tree cannot be written.");
  // The parser writes into both.
  return [kind, folder] { return run(*folder); };
}

}  // namespace softtpu::cli
