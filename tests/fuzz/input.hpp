// The bytes of one fuzz input, taken piece by piece; when they are used up, zeros follow.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <span>
#include <type_traits>

namespace softtpu::fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t bytes) : left_(data, bytes) {}

  bool empty() const { return left_.empty(); }
  template <class T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    const auto bytes = take_bytes(sizeof(T));
    std::memcpy(static_cast<void*>(&value), bytes.data(), bytes.size());
    return value;
  }
  std::uint8_t byte() { return take<std::uint8_t>(); }
  // A number below `count`.
  std::size_t choice(std::size_t count) { return take<std::uint16_t>() % count; }
  std::span<const std::uint8_t> take_bytes(std::size_t most) {
    const auto taken = left_.first(most < left_.size() ? most : left_.size());
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::span<const std::uint8_t> rest() { return take_bytes(left_.size()); }

 private:
  std::span<const std::uint8_t> left_;
};

// Mostly small, or an address of the small chips of the fuzzers; else any.
inline std::uint64_t take_number(Input& input) {
  constexpr std::uint64_t kStarts[] = {0x1'0000'0000, 0x800'0000, 0x1000'0000, 0x4000, 0x8000, 0x1'0010'0000};
  const std::uint8_t kind = input.byte();
  switch (kind % 8) {
    case 0: return input.take<std::uint64_t>();
    case 1: return input.take<std::uint32_t>();
    case 2: return kStarts[kind / 8 % std::size(kStarts)] + input.take<std::uint16_t>();
    case 3: return std::uint64_t{input.byte()} * 64;
    case 4: return static_cast<std::uint64_t>(-static_cast<std::int64_t>(input.byte()));
    default: return kind / 8;
  }
}

// Ends the program, in every build type, when what must hold does not. A target may have turned stderr away.
inline void require(bool holds, const char* what) {
  if (holds) return;
  ::dprintf(STDERR_FILENO, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);
