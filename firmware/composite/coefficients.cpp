// Coefficients of the functions for any float type.
#include <array>
#include <bit>
#include <cstring>

#include "device/isa/op_names.hpp"
#include "device/memory/static_tables.hpp"
#include "device/numeric/formats.hpp"
#include "firmware/composite/composite.hpp"
#include "firmware/composite/functions.hpp"
#include "firmware/tpu/coefficient_call.hpp"

namespace softtpu {
namespace {

struct CoefficientTables {
  std::uint32_t fp32, fp16, bfp16;
};
// Static memory holds these series in each type.
constexpr CoefficientTables kExpTables{static_offset::kExpCoeff, static_offset::kExpFp16Coeff,
                                       static_offset::kExpBf16Coeff};
constexpr CoefficientTables kLogTables{static_offset::kLogCoeff, static_offset::kLogFp16Coeff,
                                       static_offset::kLogBf16Coeff};
constexpr CoefficientTables kSinTables{static_offset::kSinCoeff, static_offset::kSinFp16Coeff,
                                       static_offset::kSinBf16Coeff};
constexpr CoefficientTables kCosTables{static_offset::kCosCoeff, static_offset::kCosFp16Coeff,
                                       static_offset::kCosBf16Coeff};
// Of the sine and cosine every type takes as many terms; in f32 the series is loaded as far as it goes.
int trigonometric_terms(Dtype type) { return type == Dtype::kFp32 ? 2 * kFp32Terms : kFp32Terms; }

// Where static memory holds bf16 tables, the exponential's series is the only one in f32.
void check_static_type(const Call& call, Dtype type, bool has_fp32) {
  if (!call.chip().has(Quirk::kStaticBf16)) return;
  const TypeSet held = has_fp32 ? types(Dtype::kBfp16, Dtype::kFp32) : types(Dtype::kBfp16);
  call.require(contains(held, type), "{argument} ({value}) has no coefficients in static memory.", "dtype",
               to_text(type));
}

void load(Op op, local_addr_t addr, int dtype, const CoefficientTables& tables, int (*terms)(Dtype)) {
  const Call call(op);
  check_coefficients(call, addr);
  const Dtype type = call.dtype("dtype", dtype);
  check_static_type(call, type, op == Op::tpu_bdc_load_fp_exp_coeff);
  const Tensor dst = call.local(addr, Dim4{1, call.chip().npu_num, 1, terms(type)}, type);
  const std::uint32_t place = type == Dtype::kFp32 ? tables.fp32 : type == Dtype::kFp16 ? tables.fp16 : tables.bfp16;
  const std::uint32_t offset = static_place(call.chip(), place);
  call.issue(StaticLoadCmd{dst, Tensor{Space::kStatic, offset, dst.shape, Stride4{0, 0, 0, 1}, type, false}});
}

void load_bytes_of_bf16(const Call& call, local_addr_t addr, std::uint32_t offset, int terms) {
  const CompositeScope steps(call.core(), call.op());
  const dim4 every{1, call.chip().npu_num, 1, 1}, stride{1, 1, 1, 1};
  for (int i = 0; i < terms; ++i) {
    float value = 0;
    std::memcpy(&value, call.core().memories().static_mem() + offset + 4 * static_cast<std::size_t>(i / 2),
                sizeof(value));
    scalar_t byte;
    byte.u32 = static_cast<std::uint32_t>(round_bf16(value)) >> (i % 2 * 8) & 0xFFU;
    tpu_bdc_set_C(addr + static_cast<unsigned>(i), byte, &every, &stride, DT_UINT8);
  }
}

// Static memory holds this series in f32 only: the 16-bit types get its rounded values, one constant at a time.
void load_rounded(Op op, local_addr_t addr, int dtype, std::uint32_t table, int terms) {
  const Call call(op);
  check_coefficients(call, addr);
  const bool stored = call.chip().has(Quirk::kStaticBf16);
  const std::uint32_t offset = static_place(call.chip(), stored ? static_offset::kErfBf16Coeff : table);
  const Dtype type = call.dtype("dtype", dtype);
  const Tensor whole = call.local(addr, Dim4{1, call.chip().npu_num, 1, terms}, type);
  check_static_type(call, type, false);
  if (type == Dtype::kFp32 || stored) {
    call.issue(StaticLoadCmd{whole, Tensor{Space::kStatic, offset, whole.shape, Stride4{0, 0, 0, 1}, type, false}});
    return;
  }
  // Of a type of one byte as many bytes of the bf16 series come (golden bm1690-varied/m_a/bdc_load_fp_erf_coeff/000).
  if (size_of(type) == 1 && call.chip().has(Quirk::kAnyTrigonometricType)) {
    load_bytes_of_bf16(call, addr, offset, terms);
    return;
  }
  const dim4 column{1, call.chip().npu_num, 1, 1};
  Composite run(op, &column, dtype);
  run.table("coeff", addr, terms);
  const Steps s = run.steps();
  const dim4 stride{terms, terms, 1, 1};
  for (int i = 0; i < terms; ++i) {
    float value = 0;
    std::memcpy(&value, call.core().memories().static_mem() + offset + 4 * static_cast<std::size_t>(i), sizeof(value));
    const auto element = static_cast<local_addr_t>(addr + static_cast<unsigned>(i * size_of(type)));
    tpu_bdc_set_C(element, s.constant(value), &column, &stride, static_cast<data_type_t>(dtype));
  }
}

// A series that only f32 has; the row of the function in ops.def names the type.
void load_fp32_only(Op op, local_addr_t addr, int dtype, std::uint32_t table) {
  const Call call(op);
  check_coefficients(call, addr);
  const Tensor dst = call.local(addr, Dim4{1, call.chip().npu_num, 1, 2 * kFp32Terms}, call.dtype("dtype", dtype));
  call.issue(StaticLoadCmd{
      dst, Tensor{Space::kStatic, static_place(call.chip(), table), dst.shape, Stride4{0, 0, 0, 1}, dst.dtype, false}});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_bdc_load_fp_exp_coeff(local_addr_t coeff_addr, data_type_t dtype) {
  load(Op::tpu_bdc_load_fp_exp_coeff, coeff_addr, dtype, kExpTables, exp_terms);
}
void tpu_bdc_load_fp_log_coeff(local_addr_t coeff_addr, data_type_t dtype) {
  load(Op::tpu_bdc_load_fp_log_coeff, coeff_addr, dtype, kLogTables, log_terms);
}
void tpu_bdc_load_fp_erf_coeff(local_addr_t coeff_addr, data_type_t dtype) {
  load_rounded(Op::tpu_bdc_load_fp_erf_coeff, coeff_addr, dtype, static_offset::kErfCoeff, kErfTerms);
}
void tpu_bdc_load_fp_sin_coeff(local_addr_t coeff_addr, data_type_t dtype) {
  load(Op::tpu_bdc_load_fp_sin_coeff, coeff_addr, dtype, kSinTables, trigonometric_terms);
}
void tpu_bdc_load_fp_cos_coeff(local_addr_t coeff_addr, data_type_t dtype) {
  load(Op::tpu_bdc_load_fp_cos_coeff, coeff_addr, dtype, kCosTables, trigonometric_terms);
}

// In f32 only, as the recorded chip has them.
void tpu_bdc_load_fp_arcsin_coeff(local_addr_t coeff_addr, data_type_t dtype) {
  load_fp32_only(Op::tpu_bdc_load_fp_arcsin_coeff, coeff_addr, dtype, static_offset::kArcsinCoeff);
}
void tpu_bdc_load_fp_arctan_coeff(local_addr_t coeff_addr, data_type_t dtype) {
  load_fp32_only(Op::tpu_bdc_load_fp_arctan_coeff, coeff_addr, dtype, static_offset::kArctanCoeff);
}

int sfu_taylor_exp_len(data_type_t dtype) {
  const Call call(Op::sfu_taylor_exp_len);
  const Dtype type = call.dtype("dtype", dtype);
  call.float_type("dtype", type);
  return exp_terms(type);
}
int sfu_taylor_log_len(data_type_t dtype) {
  const Call call(Op::sfu_taylor_log_len);
  const Dtype type = call.dtype("dtype", dtype);
  call.float_type("dtype", type);
  return log_terms(type);
}
}
