// Rules of special-function commands (numerics: bm1684x-elementwise.md section 8; golden bm1684x/limits; limits of
// operands from the public manual).
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/special/command.hpp"
#include "device/engines/bdc/special/fast.hpp"
#include "device/isa/op_names.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/tensor_view.hpp"

namespace softtpu {
namespace {

constexpr int kMinTerms = 2;
constexpr int kMaxLookupFeature = 65535;

void check_dst(Checks& check, const Tensor& dst) {
  check.type("dst", dst.dtype).shape("shape", dst.shape).tensor("dst", dst).advances("dst", dst);
}

void check_src(Checks& check, const char* name, const Tensor& src, const Tensor& dst) {
  check.tensor(name, src).same_npu(name, src.addr, "dst", dst.addr).not_widened_in_place(name, src, dst);
}

void check_source(Checks& check, const char* name, const Operand& source, const Tensor& dst) {
  if (const auto* tensor = std::get_if<Tensor>(&source)) check_src(check, name, *tensor, dst);
}

// A table of which every NPU holds its own copy.
void check_table(Checks& check, const char* name, const Tensor& table) {
  check.on_first_npu(name, table.addr).tensor(name, table);
}

// The largest of a row of indices.
template <class Index>
Index largest_of(const LookupRows& rows, const Index* values, int count) {
  if constexpr (std::is_same_v<Index, std::uint8_t>) {
    if (rows.largest_byte != nullptr) return rows.largest_byte(values, count);
  } else {
    if (rows.largest_half != nullptr) return rows.largest_half(values, count);
  }
  return *std::max_element(values, values + count);
}

// The largest index of an integer tensor. Each thread looks at the lanes that it has written and will read again.
template <class Index>
int largest(const Memories& mem, const Tensor& index) {
  const TensorView view(mem, index);
  const LookupRows rows = plain_kernels() ? LookupRows() : fast_lookup_rows();
  std::atomic<int> top{0};
  parallel_ranges(index.shape.c, index.shape.elements(), [&](int first, int last) {
    Index here = 0;
    for (int n = 0; n < index.shape.n; ++n) {
      // dst and src of a lookup are always in the aligned layout, whose rows follow each other.
      for (int c = first; c < last; ++c)
        here = std::max(here, largest_of(rows, view.at<Index>(n, c, 0, 0), index.shape.h * index.shape.w));
    }
    for (int seen = top; seen < here && !top.compare_exchange_weak(seen, here);) {
    }
  });
  return top;
}

}  // namespace

void rules(Checks& check, const TaylorCmd& cmd) {
  const int terms = cmd.coeff.shape.w;
  const int least = kMinTerms + (check.chip().has(Quirk::kThreeTerms) ? 1 : 0);
  check.require(terms >= least, [&] { return fmt::format("num ({}) is less than {}", terms, least); });
  check_dst(check, cmd.dst);
  check_src(check, "src", cmd.src, cmd.dst);
  check_table(check, "coeff", cmd.coeff);
}

void rules(Checks& check, const LookupCmd& cmd) {
  const int length = cmd.table.shape.w;
  check.require(length >= 1, [&] { return fmt::format("len ({}) is less than 1", length); });
  check.type_in("src", cmd.src.dtype, types(Dtype::kUint8, Dtype::kUint16));
  check_dst(check, cmd.dst);
  const std::int64_t feature = std::int64_t{cmd.dst.shape.h} * cmd.dst.shape.w;
  check.require(feature <= kMaxLookupFeature,
                [&] { return fmt::format("shape h * w ({}) exceeds {}", feature, kMaxLookupFeature); });
  check_src(check, "src", cmd.src, cmd.dst);
  check_table(check, "table", cmd.table);
  if (check.violation() || cmd.known_indices) return;
  const Memories& mem = check.memories();
  const int top =
      cmd.src.dtype == Dtype::kUint8 ? largest<std::uint8_t>(mem, cmd.src) : largest<std::uint16_t>(mem, cmd.src);
  check.require(top < length, [&] { return fmt::format("an index in src ({}) is outside 0..{}", top, length - 1); });
}

void rules(Checks& check, const ExponentCmd& cmd) {
  check.type_in("src", cmd.src.dtype, kFloats);
  const Dtype integer = cmd.src.dtype == Dtype::kFp32 ? Dtype::kInt32 : Dtype::kInt16;
  check.type_in("dst", cmd.dst.dtype, types(cmd.src.dtype, integer));
  check_dst(check, cmd.dst);
  check_src(check, "src", cmd.src, cmd.dst);
}

void rules(Checks& check, const ReduceCmd& cmd) {
  check.type("R", cmd.dst.dtype).shape("shape", cmd.src.shape).tensor("A", cmd.src).tensor("R", cmd.dst);
  check.same_npu("A", cmd.src.addr, "R", cmd.dst.addr).advances("R", cmd.dst).apart("A", cmd.src, cmd.dst);
}

void rules(Checks& check, const RootCmd& cmd) {
  check_dst(check, cmd.dst);
  check_src(check, "src", cmd.src, cmd.dst);
}

void rules(Checks& check, const DivideCmd& cmd) {
  check_dst(check, cmd.dst);
  check_source(check, "src0", cmd.a, cmd.dst);
  check_source(check, "src1", cmd.b, cmd.dst);
}

void rules(Checks& check, const StaticLoadCmd& cmd) {
  const bool trigonometric = check.op() == Op::tpu_bdc_load_fp_sin_coeff || check.op() == Op::tpu_bdc_load_fp_cos_coeff;
  const bool any = trigonometric && check.chip().has(Quirk::kAnyTrigonometricType);
  check.type_in("dst", cmd.dst.dtype, info(check.op()).types | (any ? kAnyTypes : kNoTypes));
  check.shape("shape", cmd.dst.shape).tensor("dst", cmd.dst);
  check.tensor("src", cmd.src);
}

}  // namespace softtpu
