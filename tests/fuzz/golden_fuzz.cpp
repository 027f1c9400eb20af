// The reader of recorded cases: a JSON file, and a binary file that it refers to.
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tests/fuzz/input.hpp"
#include "tools/golden/case.hpp"

namespace {

void write_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  softtpu::fuzz::require(file != nullptr, "a temporary file can be made");
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
}

// In memory where there is room for that.
std::string fast_folder() {
  constexpr unsigned long kEnoughBytes = 16UL << 20;
  struct statvfs space = {};
  const bool enough = ::statvfs("/dev/shm", &space) == 0 && space.f_bavail * space.f_frsize >= kEnoughBytes;
  return enough && ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu;
  static const std::string name = fast_folder() + "/softtpu-fuzz-" + std::to_string(::getpid());
  fuzz::Input input(data, bytes);
  const std::size_t binary = input.byte();
  write_file(name + ".bin", input.take_bytes(binary));
  write_file(name + ".json", input.rest());
  const golden::AddressBases bases{0x1'0000'0000, 0x1000'0000, 128 << 10, 4, 128 << 10};
  const auto family = golden::read_family(name + ".json", bases);
  fuzz::require(family || !family.error().text.empty(), "a refusal says why");
  static_cast<void>(golden::read_origin(name + ".json"));
  ::unlink((name + ".bin").c_str());
  ::unlink((name + ".json").c_str());
  return 0;
}
