// The reader of recorded cases: a JSON file, and a binary file that it refers to.
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/temporary_file.hpp"
#include "tools/golden/case.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu;
  fuzz::Input input(data, bytes);
  const std::size_t binary_bytes = input.byte();
  const fuzz::TemporaryFile binary(".bin", input.take_bytes(binary_bytes)), json(".json", input.rest());
  const golden::AddressBases bases{0x1'0000'0000, 0x1000'0000, 128 << 10, 4, 128 << 10};
  const auto family = golden::read_family(json.path(), bases);
  fuzz::require(family || !family.error().text.empty(), "a refusal says why");
  static_cast<void>(golden::read_origin(json.path()));
  return 0;
}
