#include "firmware/composite/composite.hpp"

#include <fmt/format.h>

namespace softtpu {
namespace {

// Tensors from this size on have their steps carried out together; smaller ones stay in the cache as they are.
constexpr std::int64_t kChainElements = 4096;

}  // namespace

Composite::Composite(Op op, const dim4* shape, int dtype)
    : call_(op),
      steps_(call_.core(), op),
      shape_(call_.dim("shape", shape)),
      dtype_(call_.dtype("dtype", dtype)),
      checks_(call_.core().memories(), op) {
  checks_.type("dst", dtype_).shape("shape", shape_);
}

Composite& Composite::writes(std::string_view name, local_addr_t addr) {
  tensor(name, call_.local(addr, shape_, dtype_), true, SourceUse::kAgain);
  return *this;
}

Composite& Composite::reads(std::string_view name, local_addr_t addr, SourceUse use) {
  tensor(name, call_.local(addr, shape_, dtype_), false, use);
  return *this;
}

Composite& Composite::reads(std::string_view name, local_addr_t addr, const dim4* stride) {
  tensor(name, call_.local(addr, shape_, stride, dtype_), false, SourceUse::kAgain);
  return *this;
}

Composite& Composite::table(std::string_view name, local_addr_t addr, int length) {
  const Tensor table = call_.local(addr, Dim4{1, call_.chip().npu_num, 1, length}, dtype_);
  checks_.on_first_npu(name, addr).tensor(name, table);
  if (checks_.violation()) return *this;
  occupy({name, addr, addr + static_cast<std::uint64_t>(length * size_of(dtype_)), false, SourceUse::kAgain});
  return *this;
}

void Composite::tensor(std::string_view name, const Tensor& tensor, bool written, SourceUse use) {
  checks_.tensor(name, tensor);
  if (first_name_.empty()) {
    first_name_ = name;
    first_addr_ = tensor.addr;
  }
  checks_.same_npu(name, tensor.addr, first_name_, first_addr_);
  if (checks_.violation()) return;
  const Chip& chip = call_.chip();
  const auto [n, c, h, w] = tensor.stride;
  const std::int64_t groups = (chip.npu_of(tensor.addr) + std::int64_t{shape_.c} - 1) / chip.npu_num;
  const std::int64_t last = (shape_.n - 1) * n + groups * c + (shape_.h - 1) * h + (shape_.w - 1) * w;
  const std::uint64_t begin = chip.offset_of(tensor.addr);
  occupy({name, begin, begin + static_cast<std::uint64_t>((last + 1) * size_of(dtype_)), written, use});
}

void Composite::occupy(const Extent& extent) {
  for (std::size_t i = 0; i < extent_count_; ++i) {
    const Extent& other = extents_[i];
    if (!extent.written && !other.written) continue;
    const bool coincides = extent.may_be(other) || other.may_be(extent);
    const bool apart = extent.end <= other.begin || other.end <= extent.begin;
    checks_.require(coincides || apart, "constraint/overlap", [&] {
      return fmt::format("{} (offset 0x{:x}..0x{:x}) overlaps {} (offset 0x{:x}..0x{:x}); the function needs both",
                         extent.name, extent.begin, extent.end - 1, other.name, other.begin, other.end - 1);
    });
  }
  extents_[extent_count_++] = extent;
}

Steps Composite::steps() const {
  if (checks_.violation()) call_.core().fault(ErrorKind::kUsage, *checks_.violation());
  if (shape_.elements() >= kChainElements) call_.core().begin_chain();
  return {call_.chip(), dim4{shape_.n, shape_.c, shape_.h, shape_.w}, dtype_};
}

}  // namespace softtpu
