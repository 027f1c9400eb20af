// Questions about data types, and conversion of single values on the kernel's side.
#include <fmt/format.h>

#include <optional>

#include "device/chip/conversions.hpp"
#include "device/isa/op_names.hpp"
#include "device/numeric/convert.hpp"
#include "device/numeric/fp8.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

constexpr int kBeyondHalf = 65536;  // integers from here on exceed every f16
constexpr TypeSet kInts4 = types(Dtype::kInt4, Dtype::kUint4);

bool is_in(Op op, data_type_t dtype, TypeSet set) { return contains(set, Call(op).published_dtype("dtype", dtype)); }

// A comparison with the numbers of the types: false for what is no type (numerics newer-rules.md:
// is_data_type_int8(33); golden bm1684x-1.30-varied: is_data_type_fp8(33)).
bool is_one_of(Op op, data_type_t dtype, TypeSet set) {
  const std::optional<Dtype> type = Call(op).chip().type_numbers.type_of(dtype);
  return type && contains(set, *type);
}

// What a conversion of the chip cannot do, or nullptr.
const char* obstacle(const Chip& chip, Dtype to, Dtype from, Rounding mode) {
  if (size_of(to) == 0 || size_of(from) == 0) return "4-bit values are not converted one by one";
  if (contains(kHalves, from) && contains(kHalves, to) && from != to)
    return "fp16 and bfp16 are not converted into each other";
  const bool half_mode = mode == Rounding::kHalfUp || mode == Rounding::kHalfDown;
  if (is_float(from) && is_integer(to) && half_mode) return "this rounding mode does not round to integers";
  if (is_float(to) && half_mode && chip.has(Quirk::kNoHalfTies)) return "this rounding mode does not round to floats";
  return nullptr;
}

scalar_t convert(const Call& call, scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode,
                 TypeSet from_types) {
  const Dtype to = call.dtype("dst_dtype", dst_dtype);
  const Dtype from = call.dtype("src_dtype", src_dtype);
  const Rounding rounding = call.rounding(mode);
  const TypeSet to_types = info(call.op()).types;
  call.require(contains(to_types, to), "{argument} ({value}) is not allowed.", "dst_dtype", to_text(to));
  call.require(contains(from_types, from), "{argument} ({value}) is not allowed.", "src_dtype", to_text(from));
  const char* reason = obstacle(call.chip(), to, from, rounding);
  if (reason != nullptr)
    call.fault({.what = fmt::format("{} to {}, {}: {}", to_text(from), to_text(to), to_text(rounding), reason)});
  scalar_t result;
  result.u32 = 0;
  if (call.core().faulted()) return result;
  // Recorded: between single FP8 and 16-bit floats the bits stay as they are, and an f32 does not saturate.
  if (is_fp8(from) && !is_fp8(to) && is_float(to) && call.chip().has(Quirk::kNoScalarFp8)) return result;
  if ((is_fp8(to) && contains(kHalves, from)) || (is_fp8(from) && contains(kHalves, to))) return src;
  if (is_fp8(to) && from == Dtype::kFp32) {
    for_fp8_type(to, [&]<class T>(T) { result.u32 = round_fp8<T>(src.f32, rounding, false); });
    return result;
  }
  result.u32 = convert_bits(src.u32, to, from, rounding, conversion_specials(call.chip()));
  if (half_overflow_is_cut(call.chip(), to, from, rounding)) {
    const auto half = static_cast<std::uint16_t>(result.u32);
    result.u32 = from == Dtype::kFp32    ? cut_half(src.f32, half)
                 : from == Dtype::kInt32 ? cut_half(std::int64_t{src.s32}, half)
                                         : cut_half(std::int64_t{src.u32}, half);
  } else if (half_overflows_by_mode(call.chip(), to, from, rounding)) {
    const bool beyond = from == Dtype::kFp32    ? (src.u32 & 0x7F800000U) != 0x7F800000U
                        : from == Dtype::kInt32 ? src.s32 >= kBeyondHalf
                                                : src.u32 >= static_cast<std::uint32_t>(kBeyondHalf);
    result.u32 = half_overflow(from, rounding, beyond, static_cast<std::uint16_t>(result.u32));
  }
  return result;
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

// The published enumeration sets bit 0 for signed integers and for floats.
bool tpu_is_data_type_signed(data_type_t dtype) {
  return is_in(Op::tpu_is_data_type_signed, dtype,
               kFloats | kFp8s | types(Dtype::kTf32, Dtype::kFp20) | kSignedInts | types(Dtype::kInt4));
}
bool tpu_is_data_type_int(data_type_t dtype) { return is_in(Op::tpu_is_data_type_int, dtype, kInts | kInts4); }
bool tpu_is_data_type_int4(data_type_t dtype) { return is_one_of(Op::tpu_is_data_type_int4, dtype, kInts4); }
bool tpu_is_data_type_int8(data_type_t dtype) { return is_one_of(Op::tpu_is_data_type_int8, dtype, kInts8); }
bool tpu_is_data_type_int16(data_type_t dtype) { return is_one_of(Op::tpu_is_data_type_int16, dtype, kInts16); }
bool tpu_is_data_type_int32(data_type_t dtype) { return is_one_of(Op::tpu_is_data_type_int32, dtype, kInts32); }
bool tpu_is_data_type_signed_int(data_type_t dtype) {
  return is_in(Op::tpu_is_data_type_signed_int, dtype, kSignedInts | types(Dtype::kInt4));
}
bool tpu_is_data_type_unsigned_int(data_type_t dtype) {
  return is_in(Op::tpu_is_data_type_unsigned_int, dtype, kUnsignedInts | types(Dtype::kUint4));
}
bool tpu_is_data_type_fp(data_type_t dtype) {
  return is_in(Op::tpu_is_data_type_fp, dtype, kFloats | kFp8s | types(Dtype::kTf32, Dtype::kFp20));
}
// A question that portable kernels ask on every chip: BM1684X has no such type, so the answer is about the code alone.
bool tpu_is_data_type_fp8(data_type_t dtype) { return dtype == DT_FP8E5M2 || dtype == DT_FP8E4M3; }

int tpu_data_type_size(data_type_t dtype) {
  const Call call(Op::tpu_data_type_size);
  const int size = size_of(call.published_dtype("dtype", dtype));
  call.require(size != 0, "4-bit types have no size in bytes.");
  return size;
}
int tpu_data_type_bits(data_type_t dtype) {
  const Dtype type = Call(Op::tpu_data_type_bits).published_dtype("dtype", dtype);
  return contains(kInts4, type) ? 4 : 8 * size_of(type);
}

scalar_t tpu_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode) {
  return convert(Call(Op::tpu_cast), src, dst_dtype, src_dtype, mode, kAnyTypes);
}
scalar_t tpu_fp_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode) {
  return convert(Call(Op::tpu_fp_cast), src, dst_dtype, src_dtype, mode, kAnyFloats);
}
scalar_t tpu_fp_to_int_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode) {
  return convert(Call(Op::tpu_fp_to_int_cast), src, dst_dtype, src_dtype, mode, kAnyFloats);
}
scalar_t tpu_int_to_fp_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype, rounding_mode_t mode) {
  return convert(Call(Op::tpu_int_to_fp_cast), src, dst_dtype, src_dtype, mode, kInts);
}
scalar_t tpu_int_cast(scalar_t src, data_type_t dst_dtype, data_type_t src_dtype) {
  return convert(Call(Op::tpu_int_cast), src, dst_dtype, src_dtype, RM_HALF_TO_EVEN, kInts);
}
}
