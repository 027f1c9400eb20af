// How a call of tpu_kernel.h goes from a module's process to its core, and how the answer comes back. Both sides are
// made from the prototypes themselves: the program for the emulated processor writes the calls (starter.cpp), the
// core's library makes them (emulated_module.cpp). Both processors have the same sizes, order of bytes and layouts.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tpu_kernel.h"

namespace softtpu::emulated {

using Bytes = std::vector<std::uint8_t>;

// What stands in front of a call; the numbers are those of the rows of device/isa/ops.def.
struct CallHead {
  std::uint32_t function = 0, bytes = 0;
  std::uint64_t caller = 0;  // offset in the module of the instruction behind the call
};
constexpr std::uint32_t kEnd = 0xFFFFFFFF;      // the kernel has returned
constexpr std::uint32_t kProblem = 0xFFFFFFFE;  // a text: what keeps the kernel from running
constexpr std::uint32_t kMostBytes = 1 << 16;   // of a call or an answer

// In front of an answer.
struct AnswerHead {
  std::uint32_t bytes = 0;
  std::uint32_t faulted = 0;  // the launch has a fault, perhaps because of this call
};

// In front of a kernel's name and its arguments.
struct RunHead {
  std::uint32_t name_bytes = 0, argument_bytes = 0;
};

// Memories of the device, by their number on both sides (global, L2, local); a pointer into one of them is that number
// and an offset.
constexpr unsigned kMemories = 3;
struct Place {
  std::uint64_t memory = kMemories;  // none
  std::int64_t offset = 0;
};

class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) {}
  void add(const void* bytes, std::size_t count) {
    const auto* from = static_cast<const std::uint8_t*>(bytes);
    out_.insert(out_.end(), from, from + count);
  }
  template <class T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    add(&value, sizeof value);
  }

 private:
  Bytes& out_;
};

class Reader {
 public:
  Reader(const std::uint8_t* at, std::size_t count) : at_(at), end_(at + count) {}
  bool take(void* to, std::size_t count) {
    whole_ = whole_ && static_cast<std::size_t>(end_ - at_) >= count;
    if (!whole_) return false;
    std::memcpy(to, at_, count);
    at_ += count;
    return true;
  }
  template <class T>
  T take() {
    T value{};
    take(&value, sizeof value);
    return value;
  }
  bool whole() const { return whole_; }

 private:
  const std::uint8_t *at_, *end_;
  bool whole_ = true;
};

// The command counters of tpu_set_id_node and its relatives, the only untyped memory of the interface that is passed
// on.
struct Node {
  std::uint8_t bytes[12];
};

// A parameter: by value.
template <class T>
struct Parameter {
  static constexpr bool kPasses = !std::is_pointer_v<T>;
  static constexpr bool kComesBack = false;
  static void write(Writer& to, const T& given) { to.add(given); }
  static void read_back(Reader&, const T&) {}
  explicit Parameter(Reader& from) : value(from.take<T>()) {}
  T get() { return value; }
  void write_back(Writer&) const {}
  T value;
};

// A pointer to one value; NULL stays NULL.
template <class T, class Held, bool kBack>
struct PointerParameter {
  static constexpr bool kPasses = true;
  static constexpr bool kComesBack = kBack;
  static void write(Writer& to, T* given) {
    to.add(std::uint8_t{given != nullptr});
    if (given != nullptr) to.add(static_cast<const void*>(given), sizeof(Held));
  }
  static void read_back(Reader& from, T* given) {
    if constexpr (kBack) {
      if (given != nullptr) from.take(given, sizeof(Held));
    }
  }
  explicit PointerParameter(Reader& from) : given(from.take<std::uint8_t>() != 0) {
    if (given) from.take(&held, sizeof held);
  }
  T* get() { return given ? static_cast<T*>(static_cast<void*>(&held)) : nullptr; }
  void write_back(Writer& to) const {
    if (kBack && given) to.add(held);
  }
  bool given;
  Held held{};
};
template <class T>
requires std::is_class_v<T> || std::is_union_v<T>
struct Parameter<T*> : PointerParameter<T, std::remove_const_t<T>, !std::is_const_v<T>> {
  using PointerParameter<T, std::remove_const_t<T>, !std::is_const_v<T>>::PointerParameter;
};
template <>
struct Parameter<void*> : PointerParameter<void, Node, true> {
  using PointerParameter::PointerParameter;
};

template <class F>
struct Signature;
template <class R, class... A>
struct Signature<R(A...)> {
  using Result = R;
  // Pointers to arrays are not passed on.
  static constexpr bool kPasses = (Parameter<A>::kPasses && ...) && (!std::is_pointer_v<R> || std::is_same_v<R, void*>);
  static constexpr bool kComesBack = !std::is_void_v<R> || (Parameter<A>::kComesBack || ...);
};
template <class R, class... A>
struct Signature<R(A...) noexcept> : Signature<R(A...)> {};

// Functions that are the module's own affair, or those of its process.
constexpr bool stays_in_process(std::string_view name) {
  for (const std::string_view one :
       {"tpu_register_kernel_func", "tpu_dump_registered_kernel_funcs", "__print_trace",
        "get_atomic_cmodel_assert_enable", "tpu_kernel_memcpy", "tpu_kernel_memset", "tpu_any_range_overlapped"}) {
    if (name == one) return true;
  }
  return false;
}

// Behind these the module reads what engines have written, or asks what it needs to know.
constexpr bool is_waited_for(std::string_view family) { return family == "control" || family == "query"; }

}  // namespace softtpu::emulated
