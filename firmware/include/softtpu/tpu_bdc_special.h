/* BDC: special functions (roots, exponentials, logarithms, trigonometry, activations) and random numbers.
 * Part of tpu_kernel.h, which kernels include. */
#ifndef SOFTTPU_TPU_BDC_SPECIAL_H_
#define SOFTTPU_TPU_BDC_SPECIAL_H_

#include "tpu_defs.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- BDC: coefficients of the functions below ---- */

/** Loads the 32 coefficients 1 / i! of the exponential into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_exp_coeff(local_addr_t coeff_addr);
/** Loads the 192 values e^-103 ... e^88 into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * table_addr: local address, on NPU 0, that receives the table */
void tpu_bdc_load_fp32_exp_table(local_addr_t table_addr);
/** Loads the first 32 coefficients 0, 1, -1/2, 1/3 ... of log(1 + x) into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_log_coeff(local_addr_t coeff_addr);
/** Loads the 10 coefficients of the error function into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_erf_coeff(local_addr_t coeff_addr);
/** Loads the 32 coefficients of sin(2 pi x) / x in x^2 into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_sin_coeff(local_addr_t coeff_addr);
/** Loads the 32 coefficients of cos(2 pi x) in x^2 into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_cos_coeff(local_addr_t coeff_addr);
/** Loads the coefficients of the sine of a float type into every NPU.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_load_fp_sin_coeff(local_addr_t coeff_addr, data_type_t dtype);
/** Loads the coefficients of the cosine of a float type into every NPU.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_load_fp_cos_coeff(local_addr_t coeff_addr, data_type_t dtype);
/** Loads 32 words for tpu_bdc_fp32_tan and tpu_bdc_fp32_cot into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_tan_coeff(local_addr_t coeff_addr);
/** Loads the first 32 coefficients 1, 1/6, 3/40 ... of arcsin(x) / x in x^2 into every NPU.
 * Layout: The words go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients */
void tpu_bdc_load_fp32_arcsin_coeff(local_addr_t coeff_addr);
/** Loads the coefficients of the exponential of a float type into every NPU.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_load_fp_exp_coeff(local_addr_t coeff_addr, data_type_t dtype);
/** Loads the coefficients of the error function of a float type into every NPU.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients
 * Types: dtype fp32, fp16, bfp16, int8 or uint8 */
void tpu_bdc_load_fp_erf_coeff(local_addr_t coeff_addr, data_type_t dtype);
/** Loads the coefficients of the logarithm of a float type into every NPU.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * coeff_addr: local address, on NPU 0, that receives the coefficients
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_load_fp_log_coeff(local_addr_t coeff_addr, data_type_t dtype);
/** Number of coefficients of the exponential's series in a float type.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * Types: fp32, fp16 or bfp16 */
int sfu_taylor_exp_len(data_type_t dtype);
/** Number of coefficients of the logarithm's series in a float type.
 * Layout: The values, in dtype, go to the offset of the address in all 64 NPUs; the address is a multiple of 64 on
 *   NPU 0.
 * Types: fp32, fp16 or bfp16 */
int sfu_taylor_log_len(data_type_t dtype);

/* ---- BDC: roots, reciprocals, powers, exponentials, logarithms ---- */

/** Power of two tensors: dst = src0^src1, for src0 > 0.
 * Layout: dst, sources and work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU.
 * src0_addr: local address of the bases
 * src1_addr: local address of the exponents */
void tpu_bdc_fp32_pow(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr, local_addr_t exp_table_addr,
    const dim4* shape);
/** Constant power: dst = src^C, for src > 0.
 * Layout: dst, sources and work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU.
 * C: the exponent */
void tpu_bdc_fp32_pow_C(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr, local_addr_t exp_table_addr, float C, const dim4* shape);
/** Power of a constant: dst = C^src, for C > 0.
 * Layout: dst, sources and work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU.
 * C: the base */
void tpu_bdc_fp32_C_pow(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t exp_coeff_addr, local_addr_t exp_table_addr, float C, const dim4* shape);
/** Reciprocal of f32: dst = 1 / src, 3 Newton steps. */
void tpu_bdc_fp32_reciprocal(
    local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride);
/** Reciprocal of f32 with a chosen number of Newton steps. */
void tpu_bdc_fp32_tunable_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, int num_iter);
/** Reciprocal of any float type with a chosen number of Newton steps.
 * Types: dtype fp32 */
void tpu_bdc_fp_tunable_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
    const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int num_iter);
/** Reciprocal of any float type: dst = 1 / src.
 * Types: dtype fp32 */
void tpu_bdc_fp_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Reciprocal of f32 with correction steps: 1 / src nearly to the last bit.
 * Layout: dst and the work buffers lie in the aligned layout; src may have strides. */
void tpu_bdc_fp32_compensate_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t work2_addr, const dim4* shape, const dim4* src_stride, int num_comp);
/** Reciprocal of f32 with a chosen number of Newton and of correction steps.
 * Layout: dst and the work buffers lie in the aligned layout; src may have strides. */
void tpu_bdc_fp32_tunable_compensate_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t work2_addr, const dim4* shape, const dim4* src_stride, int num_iter,
    int num_comp);
/** Reciprocal square root of f32: dst = 1 / sqrt(src), 3 Newton steps.
 * Layout: dst and src lie in the aligned layout. */
void tpu_bdc_fp32_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
/** Reciprocal square root of f32 with a chosen number of Newton steps.
 * Layout: dst and src lie in the aligned layout. */
void tpu_bdc_fp32_tunable_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int num_iter);
/** Reciprocal square root of any float type, 3 Newton steps in f32.
 * Layout: dst and src lie in the aligned layout.
 * Types: dtype fp32 */
void tpu_bdc_fp_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Reciprocal square root of any float type with a chosen number of Newton steps.
 * Layout: dst and src lie in the aligned layout.
 * Types: dtype fp32 */
void tpu_bdc_fp_tunable_rsqrt(
    local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype, int num_iter);
/** Square root of any float type, 3 Newton steps in f32.
 * Layout: dst and src lie in the aligned layout.
 * Types: dtype fp32 */
void tpu_bdc_fp_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype);
/** Square root of any float type with a chosen number of Newton steps.
 * Layout: dst and src lie in the aligned layout.
 * Types: dtype fp32 */
void tpu_bdc_fp_tunable_sqrt(
    local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype, int num_iter);
/** Square root of f32, 3 Newton steps.
 * Layout: dst and src lie in the aligned layout. */
void tpu_bdc_fp32_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
/** Square root of f32 with a chosen number of Newton steps.
 * Layout: dst and src lie in the aligned layout. */
void tpu_bdc_fp32_tunable_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int num_iter);
/** Exponential of f32: dst = e^src.
 * Layout: dst, src and the work buffers lie in the aligned layout with the same shape. */
void tpu_bdc_fp32_exp(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Exponential minus one: dst = e^src - 1.
 * Layout: dst, src and the work buffers lie in the aligned layout with the same shape. */
void tpu_bdc_fp32_expm1(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Exponential of any float type: dst = e^src.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_exp(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, const dim4* shape, data_type_t dtype);
/** Exponential minus one of any float type: dst = e^src - 1.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_expm1(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, const dim4* shape, data_type_t dtype);
/** Natural logarithm of f32: dst = ln(src).
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of the logarithm (tpu_bdc_load_fp32_log_coeff) */
void tpu_bdc_fp32_log(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, const dim4* shape);
/** Natural logarithm of one more: dst = ln(src + 1).
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of the logarithm (tpu_bdc_load_fp32_log_coeff) */
void tpu_bdc_fp32_log1p(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, const dim4* shape);
/** Logarithm to any base: dst = log_x(src).
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of the logarithm (tpu_bdc_load_fp32_log_coeff)
 * x: base of the logarithm, above 0: zeros, subnormals, negative numbers and NaN are refused (BM1684X of 2023
 *   takes them) */
void tpu_bdc_fp32_logx(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, float x);
/** Natural logarithm of any float type: dst = ln(src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_log(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, data_type_t dtype);
/** Value of a polynomial: dst = c[0] + c[1] * x + ... + c[num - 1] * x^(num - 1).
 * Layout: dst and src are aligned.
 * coeff_addr: local address of the coefficients, on NPU 0; every NPU reads its own copy at this offset
 * num: number of coefficients, at least 2
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_taylor(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t coeff_addr, const dim4* shape,
    int num, data_type_t dtype);

/* ---- BDC: trigonometric and hyperbolic functions ---- */

/** Sine of f32, src in radians.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of this function (tpu_bdc_load_fp32_sin_coeff, _cos_coeff,
 *   _tan_coeff, _arcsin_coeff) */
void tpu_bdc_fp32_sin(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, const dim4* shape);
/** Cosine of f32, src in radians.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of this function (tpu_bdc_load_fp32_sin_coeff, _cos_coeff,
 *   _tan_coeff, _arcsin_coeff) */
void tpu_bdc_fp32_cos(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, const dim4* shape);
/** Sine of any float type, src in radians.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_sin(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, data_type_t dtype);
/** Cosine of any float type, src in radians.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_cos(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
    const dim4* shape, data_type_t dtype);
/** Tangent of f32, src in radians.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of this function (tpu_bdc_load_fp32_sin_coeff, _cos_coeff,
 *   _tan_coeff, _arcsin_coeff) */
void tpu_bdc_fp32_tan(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, const dim4* shape);
/** Cotangent of f32, src in radians.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of this function (tpu_bdc_load_fp32_sin_coeff, _cos_coeff,
 *   _tan_coeff, _arcsin_coeff) */
void tpu_bdc_fp32_cot(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, const dim4* shape);
/** Inverse sine, for |src| <= 1.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of this function (tpu_bdc_load_fp32_sin_coeff, _cos_coeff,
 *   _tan_coeff, _arcsin_coeff) */
void tpu_bdc_fp32_arcsin(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, const dim4* shape);
/** Inverse cosine, for |src| <= 1.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of this function (tpu_bdc_load_fp32_sin_coeff, _cos_coeff,
 *   _tan_coeff, _arcsin_coeff) */
void tpu_bdc_fp32_arccos(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, const dim4* shape);
/** Inverse hyperbolic sine.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of the logarithm (tpu_bdc_load_fp32_log_coeff) */
void tpu_bdc_fp32_arcsinh(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, const dim4* shape);
/** Inverse hyperbolic cosine, for src >= 1.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of the logarithm (tpu_bdc_load_fp32_log_coeff) */
void tpu_bdc_fp32_arccosh(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, const dim4* shape);
/** Inverse hyperbolic tangent, for |src| < 1.
 * Layout: dst, src and work lie in the aligned layout; the coefficients at the same offset of every NPU.
 * coeff_addr: local address of the coefficients of the logarithm (tpu_bdc_load_fp32_log_coeff) */
void tpu_bdc_fp32_arctanh(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, const dim4* shape);
/** Hyperbolic sine.
 * Layout: dst, src and the work buffers lie in the aligned layout with the same shape. */
void tpu_bdc_fp32_sinh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Hyperbolic cosine.
 * Layout: dst, src and the work buffers lie in the aligned layout with the same shape. */
void tpu_bdc_fp32_cosh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Hyperbolic tangent.
 * Layout: dst, src and the work buffers lie in the aligned layout with the same shape. */
void tpu_bdc_fp32_tanh(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);

/* ---- BDC: activations ---- */

/** Rectifier: dst = max(src, 0).
 * Types: dtype fp32, fp16, bfp16, int32, uint32, int16, uint16, int8 or uint8 */
void tpu_bdc_relu(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
    const dim4* src_stride, data_type_t dtype);
/** Rectifier with a slope: dst = src > 0 ? src : src * alpha.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_prelu(local_addr_t dst_addr, local_addr_t src_addr, scalar_t alpha, const dim4* shape, data_type_t dtype);
/** Exponential linear unit: dst = src > 0 ? src : alpha * (e^src - 1).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_elu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, float alpha, const dim4* shape);
/** Logistic function: dst = 1 / (1 + e^-src).
 * Layout: dst, src and the work buffers lie in the aligned layout with the same shape. */
void tpu_bdc_fp32_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Logistic function of any float type: dst = 1 / (1 + e^-src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * table_addr: not used: the exponential of any type needs no table
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape, data_type_t dtype);
/** Hard sigmoid: dst = min(max(alpha * src + beta, 0), 1).
 * Layout: dst, src and work0 lie in the aligned layout.
 * alpha: factor of src
 * beta: summand
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_hsigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, const dim4* shape,
    float alpha, float beta, data_type_t dtype);
/** Hard swish: dst = src * min(max(src + 3, 0), 6) / 6.
 * Layout: dst, src and work0 lie in the aligned layout.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_hswish(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, const dim4* shape, data_type_t dtype);
/** 1 where src is neither infinite nor NaN, else 0.
 * Layout: dst, src and work0 lie in the aligned layout.
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_isfinite(
    local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, const dim4* shape, data_type_t dtype);
/** Softplus: dst = ln(1 + e^(beta * src)) / beta.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU.
 * beta: factor of src */
void tpu_bdc_fp32_softplus(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr, local_addr_t exp_table_addr,
    const dim4* shape, float beta);
/** Softsign of f32: dst = src / (1 + |src|).
 * Layout: dst and src lie in the aligned layout. */
void tpu_bdc_fp32_softsign(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape);
/** Error function of f32.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_erf(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr, local_addr_t exp_table_addr,
    const dim4* shape);
/** Error function of any float type.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * exp_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_exp_coeff, in dtype
 * erf_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_erf_coeff, in dtype
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_erf(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr, const dim4* shape,
    data_type_t dtype);
/** Complementary error function of f32: dst = 1 - erf(src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_erfc(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr, local_addr_t exp_table_addr,
    const dim4* shape);
/** Complementary error function of any float type: dst = 1 - erf(src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * exp_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_exp_coeff, in dtype
 * erf_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_erf_coeff, in dtype
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_erfc(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr, const dim4* shape,
    data_type_t dtype);
/** Gaussian error linear unit of f32: dst = src * (1 + erf(src / sqrt(2))) / 2.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_gelu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t work3_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr,
    local_addr_t exp_table_addr, const dim4* shape);
/** Gaussian error linear unit of any float type: dst = src * (1 + erf(src / sqrt(2))) / 2.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * exp_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_exp_coeff, in dtype
 * erf_coeff_addr: local address of the coefficients of tpu_bdc_load_fp_erf_coeff, in dtype
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_gelu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t work2_addr, local_addr_t work3_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr,
    const dim4* shape, data_type_t dtype);
/** Gaussian error linear unit by the tangent form.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_gelu_fast(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Mish: dst = src * tanh(ln(1 + e^src)).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_mish(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Swish: dst = src * sigmoid(beta * src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU.
 * beta: factor of src */
void tpu_bdc_fp32_swish(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, float beta, const dim4* shape);
/** Sigmoid linear unit: dst = src * sigmoid(src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_silu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Sigmoid linear unit of any float type: dst = src * sigmoid(src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients at the same offset of every NPU,
 *   in dtype.
 * coeff_addr: local address of the coefficients of this function in dtype (tpu_bdc_load_fp_exp_coeff, _log_coeff,
 *   _sin_coeff, _cos_coeff)
 * table_addr: not used: the exponential of any type needs no table
 * Types: dtype fp32, fp16 or bfp16 */
void tpu_bdc_fp_silu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape, data_type_t dtype);
/** Scaled exponential linear unit.
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_selu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
    local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape);
/** Logarithm of the sigmoid: dst = -ln(1 + e^-src).
 * Layout: dst, src and the work buffers lie in the aligned layout; coefficients and table at the same offset of
 *   every NPU. */
void tpu_bdc_fp32_log_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
    local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr, local_addr_t ln_coeff_addr,
    const dim4* shape);

/* ---- BDC of other chips: random numbers ---- */

/** Sets the seed of the random numbers.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_set_bd_random_gen_seed(int seed);
/** Sets a new seed.
 * Its effect on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bd_rand_seed_gen(void);
/** Sets the number of BDC commands.
 * Layout: A node has 12 bytes: number of BDC commands (32 bits), number of GDMA commands (32 bits), a flag of the
 *   parallel section, 3 bytes unused.
 * bdc_id: number of BDC commands */
void tpu_set_bdid(int bdc_id);
/** Starts the generator and writes random numbers.
 * BM1684X has no random number generator: the call is refused. */
void tpu_bdc_random_gen_init(local_addr_t res_addr, local_addr_t store_state_addr, int need_store_state, int jump_cnt,
    int c_offset, const dim4* shape, data_type_t dtype);
/** Writes the next random numbers.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_random_gen(
    local_addr_t res_addr, local_addr_t store_state_addr, int need_store_state, const dim4* shape, data_type_t dtype);
/** Writes random numbers, going on from a stored state.
 * Its result on BM1684X is neither recorded nor described: the call is refused. */
void tpu_bdc_random_gen_load_state(local_addr_t res_addr, local_addr_t store_state_addr, local_addr_t load_state_addr,
    int need_store_state, const dim4* shape, data_type_t dtype);
/** Marks the end of a list of BDC commands. Commands after it are carried out all the same. */
void tpu_bdc_end(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
