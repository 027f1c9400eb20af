#include "firmware/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "device/chip/rules.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu {
namespace {

Core& running_core(Op op) {
  Core* core = Core::current();
  if (core != nullptr) return *core;
  std::fprintf(stderr, "%s: called outside a kernel: no device core runs on this thread.\n",
               std::string(info(op).name).c_str());
  std::abort();
}

Stride4 natural_stride(const Chip& chip, std::uint32_t addr, const Dim4& shape, Dtype type, Layout layout) {
  if (size_of(type) == 0) return {};
  const int start_npu = chip.npu_of(addr);
  switch (layout) {
    case Layout::kAligned: return aligned_stride(chip, start_npu, shape, type);
    case Layout::kCompact: return compact_stride(chip, start_npu, shape);
    case Layout::kLineAligned: return line_aligned_stride(chip, start_npu, shape, type);
    case Layout::kContinuous: return continuous_stride(shape);
  }
  unreachable(layout);
}

Stride4 to_stride(const dim4& stride) { return {stride.n, stride.c, stride.h, stride.w}; }

}  // namespace

Call::Call(Op op) : op_(op), core_(running_core(op)) {
  const Api api = info(op).api;
  if (api == chip().api) {
    if (const std::string* reason = core_.refusal_of(op)) {
      core_.fault(ErrorKind::kUnsupported, Refusal{.op = op, .wrong = {"{what}", {}, {}, {}, *reason}});
    }
    return;
  }
  const std::string what =
      fmt::format("{} has no {} functions; it runs {}", to_upper(chip().name),
                  api == Api::kOkKernel ? "OKKernel" : "TPUKernel", api == Api::kOkKernel ? "tpu_*" : "okk_*");
  core_.fault(ErrorKind::kUnsupported, Refusal{.op = op, .wrong = {.what = what}});
}

Dtype Call::dtype(std::string_view name, int code) const {
  return type_in(name, code, kAllTypes | types(Dtype::kInt4, Dtype::kUint4) | chip().extra_types);
}

Dtype Call::published_dtype(std::string_view name, int code) const {
  return type_in(name, code,
                 kAllTypes | kFp8s | types(Dtype::kInt4, Dtype::kUint4, Dtype::kTf32, Dtype::kFp20, Dtype::kFp4));
}

Dtype Call::type_in(std::string_view name, int code, TypeSet allowed) const {
  const std::optional<Dtype> type = chip().type_numbers.type_of(code);
  const bool known = type && contains(allowed, *type);
  require(known, "{argument} ({value}) is not a data type of {limit}.", name, code, chip().name);
  if (!known) return Dtype::kInt8;
  if (chip().has(Quirk::kTypesByFunction)) {
    const auto& refused = chip().refused;
    const std::string_view function = info(op_).name;
    const auto is_refused = [&](const std::string& what) { return refused.find(what) != refused.end(); };
    // Steps of another function are the chip's own: its refusals of single arguments speak of what kernels call.
    const bool step = core_.composite() && core_.composite() != op_;
    if (is_refused(fmt::format("{} {}", function, to_text(*type))) ||
        (!step && is_refused(fmt::format("{}({}) {}", function, name, to_text(*type))))) {
      const char* form = "{argument} ({value}) is not a type of this function on {limit}.";
      core_.fault(ErrorKind::kUnsupported,
                  Refusal{.op = op_, .wrong = {form, std::string(name), std::string(to_text(*type)), chip().name}});
    }
  }
  return *type;
}

Rounding Call::rounding(int code, std::string_view name) const {
  if (code >= 0 && code <= static_cast<int>(Rounding::kHalfDown)) return static_cast<Rounding>(code);
  in_range(name, code, 0, static_cast<int>(Rounding::kHalfDown));
  return Rounding::kHalfToEven;
}

Dim4 Call::dim(std::string_view name, const dim4* value) const {
  if (!given(name, value)) return {};
  return {value->n, value->c, value->h, value->w};
}

Dim2 Call::dim(std::string_view name, const dim2* value) const {
  if (!given(name, value)) return {};
  return {value->h, value->w};
}

Tensor Call::local(std::uint32_t addr, const Dim4& shape, const dim4* stride, Dtype type, Layout natural) const {
  if (stride != nullptr) return {Space::kLocal, addr, shape, to_stride(*stride), type, false};
  if (natural == Layout::kAligned && size_of(type) != 0)  // by far the most
    return {Space::kLocal, addr, shape, aligned_stride(chip(), chip().npu_of(addr), shape, type), type, true};
  return {Space::kLocal, addr, shape, natural_stride(chip(), addr, shape, type, natural), type, true};
}

Tensor Call::per_channel(std::uint32_t addr, const Dim4& shape, Dtype type) const {
  return local(addr, shape, Stride4{0, 1, 0, 0}, type);
}

Tensor Call::system(std::uint64_t addr, const Dim4& shape, const dim4* stride, Dtype type) const {
  return {Space::kSystem, shared_address(addr),
          shape,          stride != nullptr ? to_stride(*stride) : continuous_stride(shape),
          type,           stride == nullptr};
}

std::uint64_t Call::shared_address(std::uint64_t addr) const {
  const auto core = static_cast<std::uint64_t>(core_.index());
  for (const auto& [range, step] :
       {std::pair(chip().local_mem, chip().local_core_step), std::pair(chip().l2_sram, chip().l2_core_step)}) {
    if (const MemoryRange own{range.start + core * step, range.bytes}; own.contains(addr)) return addr - core * step;
  }
  return addr;
}

Tensor Call::in(Space space, std::uint64_t addr, const Dim4& shape, const dim4* stride, Dtype type) const {
  if (space == Space::kSystem) return system(addr, shape, stride, type);
  return local(static_cast<std::uint32_t>(addr), shape, stride, type);
}

void Call::fault(Wrong wrong) const { core_.fault(ErrorKind::kUsage, Refusal{.op = op_, .wrong = std::move(wrong)}); }

}  // namespace softtpu
