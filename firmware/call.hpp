// One call of a public function: resolves its C arguments into operands and issues commands.
//
// A NULL pointer or an unknown type code is a fault of that argument; the call then goes on with a harmless value and
// every later issue() of the launch does nothing (sticky fault), so bodies need no error branches.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "device/chip/layout.hpp"
#include "device/core/core.hpp"
#include "softtpu/kernel_common.h"

namespace softtpu {

// Strides used where the caller passes NULL.
enum class Layout : std::uint8_t { kAligned, kCompact, kLineAligned, kContinuous };

// What faults write of a value: numbers as they are, addresses in hexadecimal, "low..high".
struct Address {
  std::uint64_t value;
};
struct Range {
  std::int64_t low, high;
};
inline std::string text_of(Address address) { return fmt::format("0x{:x}", address.value); }
inline std::string text_of(Range range) { return fmt::format("{}..{}", range.low, range.high); }
// Not fmt's: an empty view may have no bytes to point at, which it would copy from.
inline std::string text_of(std::string_view text) { return std::string(text); }
template <class Value>
std::string text_of(const Value& value) {
  return fmt::to_string(value);
}

class Call {
 public:
  explicit Call(Op op);

  template <class Cmd>
  auto issue(const Cmd& cmd) const {
    return core_.submit(op_, cmd);
  }

  // The commands of a composite: all are validated before the first is executed, so that a refused call changes
  // nothing.
  template <class... Cmd>
  void issue_all(const Cmd&... cmd) const {
    if ((core_.accepts(op_, cmd) && ...)) (core_.submit(op_, cmd), ...);
  }

  // ---- arguments ----
  // A data type that the chip has.
  Dtype dtype(std::string_view name, int code) const;
  // Any data type: for questions about types, which every chip answers.
  Dtype published_dtype(std::string_view name, int code) const;
  Rounding rounding(int code, std::string_view name = "rounding mode") const;
  // An integer argument that stands for a size; the nearest allowed value where it is outside.
  int in_range(std::string_view name, std::int64_t value, int low, int high) const {
    is_in_range(name, value, low, high);
    return static_cast<int>(std::clamp<std::int64_t>(value, low, high));
  }
  Dim4 dim(std::string_view name, const dim4* value) const;
  Dim2 dim(std::string_view name, const dim2* value) const;

  // A tensor in local memory. NULL strides: the given layout (element strides computed from the address's start NPU).
  Tensor local(std::uint32_t addr, const Dim4& shape, const dim4* stride, Dtype type,
               Layout natural = Layout::kAligned) const;
  Tensor local(std::uint32_t addr, const Dim4& shape, Dtype type, Layout layout = Layout::kAligned) const {
    return local(addr, shape, nullptr, type, layout);
  }
  // local() as an operand, made in its place: copying a tensor that was just made waits for its bytes.
  Operand operand(std::uint32_t addr, const Dim4& shape, const dim4* stride, Dtype type) const {
    const struct {
      const Call& call;
      std::uint32_t addr;
      const Dim4& shape;
      const dim4* stride;
      Dtype type;
      operator Tensor() const { return call.local(addr, shape, stride, type); }
    } made{*this, addr, shape, stride, type};
    return Operand(std::in_place_type<Tensor>, made);
  }
  // A tensor with given strides, for operands that repeat (stride 0) or whose layout has no name.
  static Tensor local(std::uint32_t addr, const Dim4& shape, const Stride4& stride, Dtype type) {
    return {Space::kLocal, addr, shape, stride, type, false};
  }
  // One value per channel, repeated over n, h and w: [1, c, 1, 1] in the compact layout from the address's NPU.
  Tensor per_channel(std::uint32_t addr, const Dim4& shape, Dtype type) const;
  // A tensor in global memory, L2 SRAM ... NULL strides: continuous.
  Tensor system(std::uint64_t addr, const Dim4& shape, const dim4* stride, Dtype type) const;
  // A system address as all cores have it: this core's own places of L2 and local memory are core 0's.
  std::uint64_t shared_address(std::uint64_t addr) const;
  Tensor in(Space space, std::uint64_t addr, const Dim4& shape, const dim4* stride, Dtype type) const;

  // ---- rules of arguments that no command has (firmware/arguments.cpp) ----
  // Each says whether the argument obeys; the launch has its fault where it does not.
  bool given(std::string_view name, const void* pointer) const;  // not NULL
  bool is_in_range(std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high) const;
  bool not_negative(std::string_view name, std::int64_t value) const;
  bool positive(std::string_view name, std::int64_t value) const;
  bool multiple_of(std::string_view name, std::uint64_t address, std::uint64_t step) const;
  bool inside(std::string_view name, std::uint64_t address, const MemoryRange& memory,
              std::string_view memory_name) const;
  bool in_local_memory(std::string_view name, std::uint64_t address) const;
  // [address, address + bytes) in one of the memories that lie in the system map.
  bool in_one_memory(std::uint64_t address, std::uint64_t bytes) const;
  bool whole_bytes(Dtype type) const;
  bool float_type(std::string_view name, Dtype type) const;
  // An answer in the interface's int; 0 where it does not fit.
  int to_int(std::int64_t answer) const;
  // A rule of one function alone: `form` is its sentence (Wrong), the others what it names.
  template <class Value = std::string_view, class Limit = std::string_view>
  bool require(bool holds, const char* form, std::string_view argument = {}, const Value& value = {},
               const Limit& limit = {}) const {
    if (!holds) fault({form, std::string(argument), text_of(value), text_of(limit)});
    return holds;
  }
  // The launch ends with this.
  void fault(Wrong wrong) const;

  const Chip& chip() const { return core_.chip(); }
  Core& core() const { return core_; }
  Op op() const { return op_; }

 private:
  Dtype type_in(std::string_view name, int code, TypeSet allowed) const;

  Op op_;
  Core& core_;
};

// The low bits of a scalar_t (or another 4-byte union) in the given type.
template <class Union>
Scalar scalar(const Union& value, Dtype type) {
  static_assert(sizeof(Union) == sizeof(std::uint32_t));
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return {bits, type};
}

}  // namespace softtpu
