// The bytes of one fuzz input, taken piece by piece; when they are used up, zeros follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

// Ends the program, in every build type, when what must hold does not.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);
