#include "device/command/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>

#include "device/chip/layout.hpp"
#include "device/chip/limits.hpp"
#include "device/chip/rules.hpp"
#include "device/command/instruction_scope.hpp"
#include "device/memory/overlap.hpp"

namespace softtpu {
namespace {

constexpr int kMaxOkkBdcChannels = 4095;
constexpr std::int64_t kMaxLaneStride = 65535;

std::string to_text(TypeSet set) {
  std::string text;
  for (unsigned code = 0; code < 64; ++code) {
    if ((set >> code & 1U) == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(to_text(static_cast<Dtype>(code)));
  }
  return text;
}

// The allowed type that is most like the given one: as wide, then of the same kind.
std::string nearest_type(Dtype type, TypeSet allowed) {
  std::string best;
  int best_distance = INT_MAX;
  for (unsigned code = 0; code < 64; ++code) {
    if ((allowed >> code & 1U) == 0) continue;
    const auto candidate = static_cast<Dtype>(code);
    const int distance = 4 * std::abs(size_of(candidate) - size_of(type)) +
                         (is_float(candidate) == is_float(type) ? 0 : 2) +
                         (is_signed_int(candidate) == is_signed_int(type) ? 0 : 1);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = to_text(candidate);
  }
  return best;
}

std::string nearest_multiple(std::uint64_t address, std::uint64_t step) {
  return fmt::format("0x{:08x}", (address + step / 2) / step * step);
}

std::string address_text(std::uint64_t address) { return fmt::format("0x{:x}", address); }

Wrong outside(std::string argument, std::int64_t value, std::int64_t low, std::int64_t high) {
  return {"{argument} ({value}) is outside {limit}.", std::move(argument), std::to_string(value),
          fmt::format("{}..{}", low, high)};
}

std::int64_t largest(const Stride4& stride) {
  return std::max(std::max(stride.n, stride.c), std::max(stride.h, stride.w));
}

// Element distance from the first to the last element, at most kFar: enough for any memory, and far from overflow.
[[gnu::always_inline]] inline std::int64_t span_elements(const Dim4& shape, const Stride4& stride,
                                                         std::int64_t c_steps) {
  __extension__ using Wide = __int128;
  constexpr Wide kFar = Wide{1} << 56;
  constexpr std::int64_t kNear = std::int64_t{1} << 22;  // times four extents below 2^31: no overflow, and below kFar
  if ((stride.n | stride.c | stride.h | stride.w) < kNear) [[likely]]
    return (shape.n - 1) * stride.n + c_steps * stride.c + (shape.h - 1) * stride.h + (shape.w - 1) * stride.w;
  const Wide span = Wide{shape.n - 1} * stride.n + Wide{c_steps} * stride.c + Wide{shape.h - 1} * stride.h +
                    Wide{shape.w - 1} * stride.w;
  return static_cast<std::int64_t>(std::min(span, kFar));
}

[[gnu::always_inline]] inline bool is_forward(const Stride4& stride) {
  return (stride.n | stride.c | stride.h | stride.w) >= 0;
}

// At an address that holds whole elements.
[[gnu::always_inline]] inline bool is_whole(const Tensor& tensor) {
  const int size = size_of(tensor.dtype);
  return size != 0 && remainder(tensor.addr, size) == 0;
}

// What the address of a tensor in local memory has to be a multiple of. BM1684 computes on any address that holds whole
// elements, strides or not.
[[gnu::always_inline]] inline unsigned row_bytes(const Chip& chip, const Tensor& tensor, NaturalAlignment natural) {
  const bool needs_row = tensor.natural && natural == NaturalAlignment::kEuRow && chip.api == Api::kTpuKernel;
  return static_cast<unsigned>(needs_row ? chip.eu_bytes : 1);
}

// Where a tensor ends in an NPU's memory. The last group of channels ends furthest; NPU start + c - 1 holds group
// (start + c - 1) / npu_num.
[[gnu::always_inline]] inline std::int64_t local_end(const Chip& chip, const Tensor& tensor) {
  const std::int64_t groups = row_of_channel(chip.npu_num, chip.npu_of(tensor.addr), tensor.shape.c - 1);
  return chip.offset_of(tensor.addr) + (span_elements(tensor.shape, tensor.stride, groups) + 1) * size_of(tensor.dtype);
}

// Whether examine() would find nothing wrong: nearly every tensor is such a one.
[[gnu::always_inline]] inline bool is_legal_local(const Chip& chip, const Tensor& tensor, NaturalAlignment natural) {
  return tensor.space == Space::kLocal && is_forward(tensor.stride) && is_whole(tensor) &&
         tensor.addr < chip.local_mem.bytes && remainder(tensor.addr, row_bytes(chip, tensor, natural)) == 0 &&
         local_end(chip, tensor) <= chip.local_bytes;
}

}  // namespace

Checks& Checks::type_in(std::string_view name, Dtype type, TypeSet allowed) {
  // A table says of some types "where the chip has them".
  allowed &= ~kFp8s | chip_.extra_types;
  return require(
      contains(allowed, type), "constraint/data-type",
      [&] {
        const bool four_bits = type == Dtype::kInt4 || type == Dtype::kUint4;
        const bool elsewhere = four_bits && (chip_.extra_types & types(type)) != 0;
        const Engine engine = info(op_).engine;
        const bool copied = four_bits && (engine == Engine::kGdma || engine == Engine::kSdma);
        return Wrong{
            copied      ? "{argument} type is {value} (allowed: {limit}). Copy two 4-bit integers as one uint8: half "
                          "the width."
            : elsewhere ? "{argument} type is {value} (allowed: {limit}). tpu_bdc_cast takes 4-bit integers to "
                          "wider types; what other functions do with them is mostly not determined."
            : four_bits ? "{argument} type is {value} (allowed: {limit}). The chip does not compute with 4-bit "
                          "integers: unpack them with tpu_bdc_and_C and tpu_bdc_logical_shift_C."
                        : "{argument} type is {value} (allowed: {limit}).",
            std::string(name), std::string(softtpu::to_text(type)), to_text(allowed)};
      },
      // What has half a byte for each element is no nearer to one type of whole bytes than to another.
      [&] { return size_of(type) == 0 ? std::string() : nearest_type(type, allowed); });
}

Checks& Checks::in_range(std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high) {
  return require(
      value >= low && value <= high, "constraint/shape", [&] { return outside(std::string(name), value, low, high); },
      [&] { return fmt::format("{}", std::clamp(value, low, high)); });
}

const char* Checks::limits(const Numbers& numbers) {
  const auto value_of = [&](const char* argument) {
    const unsigned i = numbers.find(argument);
    return i < numbers.size() ? numbers[i].value : 0;
  };
  const std::span<const Limit> set = limits_of(info(op_).limits);
  // Nearly always a command lists its numbers in the order of the set, and each is inside of two numbers.
  unsigned next = 0;
  for (; next < numbers.size() && next < set.size(); ++next) {
    const Number& number = numbers[next];
    const Limit& limit = set[next];
    if (number.argument != limit.argument || !limit.fixed) break;
    if (number.value < limit.low.number || number.value > limit.high.number) break;
  }
  if (next == numbers.size() && next == set.size()) return nullptr;
  std::uint32_t limited = (1U << next) - 1;
  for (const Limit& limit : set.subspan(next)) {
    const unsigned i = numbers.find(limit.argument, next < numbers.size() ? next : 0);
    if (i == numbers.size()) continue;  // the command does not use the argument
    next = i + 1;
    limited |= 1U << i;
    const std::int64_t value = numbers[i].value;
    const std::int64_t low = limit.low.on(chip_, value_of), high = limit.high.on(chip_, value_of);
    if (value < low || value > high) {
      in_range(limit.argument, value, low, high);
      break;
    }
  }
  if (violation_) return nullptr;
  const unsigned first = static_cast<unsigned>(std::countr_one(limited));
  return first < numbers.size() ? numbers[first].argument : nullptr;
}

void Checks::no_limit(const char* argument) {
  require(false, "constraint/argument", [&] {
    return fmt::format("internal error: the row of {} in device/isa/ops has no limit of {}", info(op_).name, argument);
  });
}

Checks& Checks::shape(std::string_view name, const Dim4& shape, int most) {
  const bool few_channels = chip_.api == Api::kOkKernel && info(op_).engine == Engine::kBdc;
  const int most_channels = few_channels ? kMaxOkkBdcChannels : most;
  const auto within = [](int value, int high) { return value >= 1 && value <= high; };
  const bool extents =
      within(shape.n, most) && within(shape.c, most_channels) && within(shape.h, most) && within(shape.w, most);
  const bool fits = shape.elements() <= static_cast<std::int64_t>(chip_.global_mem.bytes);
  if (extents && fits) return *this;
  const auto extent = [&](char member, int value, int high) {
    require(
        within(value, high), "constraint/shape",
        [&] { return outside(fmt::format("{}.{}", name, member), value, 1, high); },
        [&] { return std::to_string(std::clamp(value, 1, high)); });
  };
  extent('n', shape.n, most);
  extent('c', shape.c, most_channels);
  extent('h', shape.h, most);
  extent('w', shape.w, most);
  return require(fits, "constraint/shape", [&] {
    return fmt::format("{} {} has more elements than the largest memory has bytes ({})", name, softtpu::to_text(shape),
                       chip_.global_mem.bytes);
  });
}

Checks& Checks::tensor(std::string_view name, const Tensor& tensor, NaturalAlignment natural) {
  if (violation_) return *this;
  if (is_legal_local(chip_, tensor, natural)) return *this;
  return examine(name, tensor, natural);
}

Checks& Checks::examine(std::string_view name, const Tensor& tensor, NaturalAlignment natural) {
  require(is_forward(tensor.stride), "constraint/stride", [&] {
    return Wrong{"{argument} has a negative stride {value}.", std::string(name), softtpu::to_text(tensor.stride)};
  });
  const auto size = static_cast<std::uint64_t>(size_of(tensor.dtype));
  require(size != 0, "constraint/data-type", [&] {
    return Wrong{"{argument} type {value} has no byte size.", std::string(name),
                 std::string(softtpu::to_text(tensor.dtype))};
  });
  require(
      is_whole(tensor), "constraint/alignment",
      [&] {
        return Wrong{"{argument} address ({value}) is not a multiple of the element size ({limit}).", std::string(name),
                     address_text(tensor.addr), std::to_string(size)};
      },
      [&] { return nearest_multiple(tensor.addr, size); });
  if (violation_) return *this;
  switch (tensor.space) {
    case Space::kLocal: local_tensor(name, tensor, natural); break;
    case Space::kSystem: system_tensor(name, tensor); break;
    case Space::kStatic: {
      const auto last = static_cast<std::uint64_t>(span_elements(tensor.shape, tensor.stride, tensor.shape.c - 1) + 1);
      require(tensor.addr + last * size <= chip_.static_mem.bytes, "memory/system-range", [&] {
        return Wrong{"{argument} ends past static memory ({limit} bytes).", std::string(name),
                     address_text(tensor.addr), std::to_string(chip_.static_mem.bytes)};
      });
      break;
    }
  }
  return *this;
}

Checks& Checks::operand(std::string_view name, const Operand& operand) {
  if (const auto* tensor = std::get_if<Tensor>(&operand)) return this->tensor(name, *tensor);
  return *this;
}

Checks& Checks::multiple_of(std::string_view name, std::uint64_t addr, std::uint64_t step) {
  return require(addr % step == 0, [&] {
    return Wrong{"{argument} address ({value}) is not a multiple of {limit}.", std::string(name), address_text(addr),
                 std::to_string(step)};
  });
}

Checks& Checks::on_first_npu(std::string_view name, std::uint64_t addr) {
  const int npu = chip_.npu_of(addr);
  return require(npu == 0, [&] {
    return Wrong{"{argument} starts on NPU {value}, it has to start on NPU {limit}.", std::string(name),
                 std::to_string(npu), "0"};
  });
}

Checks& Checks::same_npu(std::string_view name, std::uint64_t addr, std::string_view other, std::uint64_t other_addr) {
  const int npu = chip_.npu_of(addr);
  const int other_npu = chip_.npu_of(other_addr);
  return require(
      npu == other_npu, "constraint/start-npu",
      [&] {
        return Wrong{"start NPU of {argument} ({value}) differs from start NPU of {limit}.", std::string(name),
                     std::to_string(npu), fmt::format("{} ({})", other, other_npu)};
      },
      [&] {
        const std::uint64_t base = std::uint64_t{chip_.local_bytes} * static_cast<unsigned>(other_npu);
        return fmt::format("0x{:08x}", base + chip_.offset_of(addr));
      });
}

Checks& Checks::integral_rounding(std::string_view name, Rounding mode) {
  return require(mode != Rounding::kHalfUp && mode != Rounding::kHalfDown, [&] {
    return fmt::format("{} {} does not round to integers on the chip", name, softtpu::to_text(mode));
  });
}

Checks& Checks::lane_tensor(std::string_view name, const Tensor& tensor, NaturalAlignment natural) {
  require(
      tensor.natural || largest(tensor.stride) <= kMaxLaneStride, "constraint/stride",
      [&] {
        return Wrong{"{argument} has a stride above {limit}: {value}.", std::string(name),
                     softtpu::to_text(tensor.stride), std::to_string(kMaxLaneStride)};
      },
      [&] { return std::to_string(kMaxLaneStride); });
  return this->tensor(name, tensor, natural);
}

Checks& Checks::advances(std::string_view name, const Tensor& dst, bool arithmetic) {
  if (dst.natural || submits_instructions() || !chip_.has(Quirk::kNoZeroDstStride)) return *this;
  if (arithmetic && chip_.has(Quirk::kZeroDstArithmetic)) return *this;
  const auto stays = [](int extent, std::int64_t stride) { return extent > 1 && stride == 0; };
  const bool repeats = stays(dst.shape.n, dst.stride.n) || stays(dst.shape.c, dst.stride.c) ||
                       stays(dst.shape.h, dst.stride.h) || stays(dst.shape.w, dst.stride.w);
  return require(!repeats, "constraint/stride", [&] {
    return Wrong{"{argument} has a stride of 0 in a dimension of more than one element: {value} of shape {limit}.",
                 std::string(name), softtpu::to_text(dst.stride), softtpu::to_text(dst.shape)};
  });
}

Checks& Checks::source(std::string_view name, const Operand& operand, const Tensor& dst) {
  const auto* tensor = std::get_if<Tensor>(&operand);
  if (tensor == nullptr) return *this;
  lane_tensor(name, *tensor);
  if (chip_.npu_of(tensor->addr) != chip_.npu_of(dst.addr)) same_npu(name, tensor->addr, "dst", dst.addr);
  return not_widened_in_place(name, *tensor, dst);
}

Checks& Checks::apart(std::string_view name, const Operand& operand, const Tensor& dst) {
  if (violation_ || !may_overlap(chip_, dst, operand)) return *this;
  return require(false, "constraint/overlap", [&] {
    return fmt::format("{} (0x{:x}) overlaps dst (0x{:x}); the function needs both", name,
                       std::get<Tensor>(operand).addr, dst.addr);
  });
}

Checks& Checks::not_widened_in_place(std::string_view name, const Tensor& source, const Tensor& dst) {
  if (source.addr != dst.addr) [[likely]]
    return *this;
  const bool integers = is_integer(source.dtype) && is_integer(dst.dtype);
  // A recorded instruction (bm1684x instr_2 cmp/0059) goes through the elements in another order.
  if (integers && !submits_instructions() && chip_.has(Quirk::kWidenInPlace) && rises_from(chip_, source, dst))
    return *this;
  return require(size_of(dst.dtype) <= size_of(source.dtype), "constraint/overlap", [&] {
    return fmt::format(
        "{} ({}) is at dst's address (0x{:x}) and dst ({}) is wider, so dst overwrites it before it is read", name,
        softtpu::to_text(source.dtype), dst.addr, softtpu::to_text(dst.dtype));
  });
}

void Checks::local_tensor(std::string_view name, const Tensor& tensor, NaturalAlignment natural) {
  require(tensor.addr < chip_.local_mem.bytes, "memory/local-range", [&] {
    return Wrong{"{argument} address ({value}) lies beyond local memory ({limit}).", std::string(name),
                 address_text(tensor.addr), fmt::format("{} NPUs of {} bytes", chip_.npu_num, chip_.local_bytes)};
  });
  if (violation_) return;
  const unsigned row = row_bytes(chip_, tensor, natural);
  require(
      remainder(tensor.addr, row) == 0, "constraint/alignment",
      [&] {
        return Wrong{"{argument} address ({value}) is not a multiple of {limit}, which a tensor without strides needs.",
                     std::string(name), address_text(tensor.addr), std::to_string(row)};
      },
      [&] { return nearest_multiple(tensor.addr, row); });
  const std::int64_t end = local_end(chip_, tensor);
  require(end <= chip_.local_bytes, "memory/local-range", [&] {
    return Wrong{"{argument} ends at offset {value} of an NPU's local memory ({limit} bytes).", std::string(name),
                 std::to_string(end), std::to_string(chip_.local_bytes)};
  });
}

void Checks::system_tensor(std::string_view name, const Tensor& tensor) {
  require(info(op_).engine != Engine::kSdma || !chip_.local_mem.contains(tensor.addr), "memory/system-range", [&] {
    return fmt::format("{} (0x{:x}) lies in local memory, which SDMA does not reach", name, tensor.addr);
  });
  const std::int64_t last = span_elements(tensor.shape, tensor.stride, tensor.shape.c - 1) + 1;
  const auto bytes = static_cast<std::uint64_t>(last * size_of(tensor.dtype));
  require(mem_.find_system(tensor.addr, bytes).data != nullptr, "memory/system-range", [&] {
    return fmt::format("{} [0x{:x}, 0x{:x}) does not lie inside one memory of {} (global memory 0x{:x}..0x{:x})", name,
                       tensor.addr, tensor.addr + bytes, chip_.name, chip_.global_mem.start,
                       chip_.global_mem.start + chip_.global_mem.bytes);
  });
}

}  // namespace softtpu
