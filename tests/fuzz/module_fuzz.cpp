// The check of kernel modules before the dynamic loader sees them.
#include <sys/mman.h>

#include "runtime/module/module_image.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu;
  const auto file = copy_module_bytes({data, bytes});
  fuzz::require(static_cast<bool>(file), "an anonymous file can be made");
  const auto good = check_module(file->get(), "input");
  fuzz::require(good || good.error().text.find("input") != std::string::npos, "a refusal names the module");
  const auto again = read_module(file->get(), "input", bytes);
  fuzz::require(again && again->size() == bytes, "the bytes come back");
  fuzz::require(bytes == 0 || !read_module(file->get(), "input", bytes - 1), "the limit holds");
  static_cast<void>(is_placeholder_file(file->get()));
  return 0;
}
