#include "device/isa/op.hpp"

#include <algorithm>
#include <array>

#include "runtime/base/unreachable.hpp"

namespace softtpu {
namespace {

using enum Limits;

// What a row says of its function, before its interface and name are added.
constexpr OpInfo command(Engine engine, TypeSet types, Limits limits = Limits::kNone) {
  return {{}, {}, engine, Support::kCommand, types, {}, limits};
}
constexpr OpInfo command_with(Engine engine, TypeSet types, std::string_view part, Limits limits = Limits::kNone) {
  return {{}, {}, engine, Support::kCommand, types, part, limits};
}
constexpr OpInfo composite(Engine engine, TypeSet types, Limits limits = Limits::kNone) {
  return {{}, {}, engine, Support::kComposite, types, {}, limits};
}
constexpr OpInfo query(TypeSet types = kNoTypes) { return {{}, {}, Engine::kNone, Support::kQuery, types}; }
constexpr OpInfo refused(Support why, std::string_view note) { return {{}, {}, Engine::kNone, why, kNoTypes, note}; }

constexpr OpInfo row(Api api, std::string_view name, OpInfo of) {
  of.name = name;
  of.api = api;
  return of;
}

// The families of functions that have a signature of their own.
#define OP_bdc(...) command(Engine::kBdc, __VA_ARGS__)
#define OP_composite(...) composite(Engine::kBdc, __VA_ARGS__)
#define OP_gdma(...) command(Engine::kGdma, __VA_ARGS__)
#define OP_hau(...) command(Engine::kHau, __VA_ARGS__)
#define OP_hau_composite(...) composite(Engine::kHau, __VA_ARGS__)
#define OP_control() command(Engine::kControl, kNoTypes)
#define OP_query(...) query(__VA_ARGS__)
// A function of chips that have `part`; others answer "<chip> has no <part>".
#define OP_with(engine, ...) command_with(Engine::engine, __VA_ARGS__)
// A function that no chip here has; `lacks` completes "<chip> has no ...".
#define OP_unsupported(lacks) refused(Support::kUnsupported, lacks)
// A function of which neither a recording nor a description tells the chip's `what`: "result", "effect" or "answer".
#define OP_undetermined(what) refused(Support::kUndetermined, what)

// dst = src0 <mode> src1, all of one type (dst, src0, src1, shape, three strides, dtype).
#define OP_binary(mode, types) OP_bdc(types)
// dst = src <mode> C, and dst = C <mode> src (dst, src, scalar_t C, shape, two strides, dtype).
#define OP_binary_c(mode, types) OP_bdc(types)
#define OP_c_binary(mode, types) OP_bdc(types)
// dst = <mode> src (dst, src, shape, two strides, dtype).
#define OP_unary(mode, types) OP_bdc(types)
// dst = parameter <mode> src with one parameter per channel; source_first exchanges them (dst, src, parameter, shape,
// dtype).
#define OP_channel_binary(mode, source_first) OP_bdc(kFloats)
// Integer dst = (src0 <mode> src1) shifted, each of its own type: two tensors, or a tensor and a constant; pcs: one
// shift per channel.
#define OP_int_binary(mode) OP_bdc(kInts, kShiftedInt)
#define OP_int_binary_c(mode, constant_first) OP_bdc(kInts, kShiftedInt)
#define OP_int_pcs(mode) OP_bdc(kInts)
#define OP_int_pcs_c(mode, constant_first) OP_bdc(kInts)
// dst = src0 <compare> src1 (or C) ? true_val : 0.
#define OP_compare(compare) OP_bdc(kAnyTypes)
#define OP_compare_c(compare) OP_bdc(kAnyTypes)
// dst = src0 <compare> src1 ? src2 : src3, each a tensor, a vector or a constant.
#define OP_select(compare) OP_bdc(kAnyTypes)
// Vector by vector: one type; a comparison; integers of three types.
#define OP_outer(mode, types) OP_bdc(types)
#define OP_outer_compare(compare) OP_bdc(kAllTypes)
#define OP_outer_int(mode) OP_bdc(kInts, kShiftedInt)
// Tensor copies by GDMA: dst and src memory, how the source is read (dst, src, shape, two strides, dtype).
#define OP_gdma_copy(dst_space, src_space, order) OP_gdma(kAnyTypes)
// The same with the dimension to turn round (dst, src, shape, two strides, axis, dtype).
#define OP_gdma_reverse(dst_space, src_space) OP_gdma(kAnyTypes)
// Copies whose local side is compact and system side continuous (dst, src, shape, dtype).
#define OP_gdma_compact(dst_space, src_space, order) OP_gdma(kAnyTypes)
// Copies between tensors of different shapes (dst, src, two shapes, two strides, dtype).
#define OP_gdma_general(dst_space, src_space) OP_gdma(kAnyTypes)
// Rows moved by an index (gather: output, param, index, is local, C, shape, param_h, three strides, dtype; scatter: no
// C).
#define OP_gdma_h_gather(dst_space, param_space) OP_gdma(kAnyTypes, kDmaRows)
#define OP_gdma_h_scatter(dst_space, param_space) OP_gdma(kAnyTypes, kDmaRows)

// OKKernel.
#define OKK_bdc(...) OP_bdc(__VA_ARGS__)
#define OKK_composite(...) OP_composite(__VA_ARGS__)
#define OKK_gdma(...) OP_gdma(__VA_ARGS__)
#define OKK_control() OP_control()
#define OKK_query(...) OP_query(__VA_ARGS__)
// dst = src0 <mode> src1 on 32-bit elements (dst, src0, src1, shape, three strides).
#define OKK_binary(command, mode, type) OP_bdc(types(type))
// dst = src <mode> C, and dst = C <mode> src (dst, src, C, shape, two strides).
#define OKK_binary_c(command, mode, type, c_type) OP_bdc(types(type))
#define OKK_c_binary(command, mode, type, c_type) OP_bdc(types(type))
// dst = <mode> src with two strides, and without strides (128-byte aligned layout).
#define OKK_unary(mode, type) OP_bdc(types(type))
#define OKK_aligned_unary(mode, type) OP_bdc(types(type))
// Fixed point, dst = (src0 <mode> src1) >> rshift (dst, src0, src1, shape, three strides, op_type, rshift),
// and dst = (src <mode> C) >> rshift.
#define OKK_fixed(mode) OP_bdc(kNoTypes, kOkkFixed)
#define OKK_fixed_c(mode) OP_bdc(kNoTypes, kOkkFixed)
// Copies (dst, src, shape, two strides) and fills (dst, C, shape, stride).
#define OKK_gdma_copy(dst_space, dst_t, src_space, src_t, type) OP_gdma(types(type))
#define OKK_gdma_set(dst_space, dst_t, c_type, type) OP_gdma(types(type))

constexpr auto kOps = std::to_array<OpInfo>({
#define OP(family, name, ...) row(Api::kTpuKernel, #name, OP_##family(__VA_ARGS__)),
#define OKK(family, name, ...) row(Api::kOkKernel, #name, OKK_##family(__VA_ARGS__)),
#include "device/isa/ops.def"
});

}  // namespace

const OpInfo& info(Op op) { return kOps[static_cast<std::size_t>(op)]; }

std::span<const OpInfo> all_ops() { return kOps; }

std::optional<Op> find_op(std::string_view name) {
  const auto found = std::find_if(kOps.begin(), kOps.end(), [&](const OpInfo& row) { return row.name == name; });
  if (found == kOps.end()) return std::nullopt;
  return static_cast<Op>(found - kOps.begin());
}

std::string_view to_text(Engine engine) {
  switch (engine) {
    case Engine::kNone: return "none";
    case Engine::kBdc: return "BDC";
    case Engine::kGdma: return "GDMA";
    case Engine::kSdma: return "SDMA";
    case Engine::kHau: return "HAU";
    case Engine::kControl: return "control";
  }
  unreachable(engine);
}

}  // namespace softtpu
