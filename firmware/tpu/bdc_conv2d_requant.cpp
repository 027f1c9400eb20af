// Entry points of 8-bit convolutions that requantise their sums.
#include "device/isa/op_names.hpp"
#include "firmware/tpu/convolution.hpp"
#include "firmware/tpu/requant_call.hpp"

namespace softtpu {
namespace {

struct Arguments {
  local_addr_t output, input, weight, bias;
  const dim4* input_shape;
  const dim4* input_stride;
  int output_c;
  const dim2* kernel;
  const padding_t* padding;
  const dim2* stride;
  const dim2* dilation;
  data_type_t output_dtype, input_dtype, weight_dtype, bias_dtype;
  bool has_bias, result_relu, result_add;
};

// Whether a form with zero points of each channel requantises.
bool requantises(const Convolution& conv, bool asked) {
  return asked || conv.call().chip().has(Quirk::kRequantConvolutions);
}

// Everything but zero points and requantisation. Zero points have the type of the weights.
Convolution convolution(Op op, const Arguments& a) {
  Convolution conv(op, Conv2dKind::kRequantised);
  const Dtype weight = conv.call().dtype("weight_dtype", a.weight_dtype);
  conv.input(a.input, a.input_shape, a.input_stride, a.input_dtype)
      .window(a.kernel, a.padding, a.stride, a.dilation)
      .output(a.output, a.output_c, a.output_dtype, a.result_add)
      .weight(a.weight, weight)
      .zero_point(Scalar{0, weight})
      .relu(a.result_relu);
  if (a.has_bias) conv.bias(true, a.bias, conv.call().dtype("bias_dtype", a.bias_dtype));
  return conv;
}

std::optional<Requant> table(const Convolution& conv, bool used, local_addr_t addr, Rounding rounding) {
  if (!used) return std::nullopt;
  return requant_table(conv.call(), addr, conv.result().shape.c, rounding);
}

struct Constants {
  int multiplier;
  char rshift;
  short zero_point;
};
// `rshift` counts to the right, or to the left as other shifts do.
std::optional<Requant> constants(const Convolution& conv, bool used, const Constants& given, Rounding rounding) {
  if (!used) return std::nullopt;
  const Call& call = conv.call();
  Requant requant;
  requant.multiplier = given.multiplier;
  const int shift = static_cast<signed char>(given.rshift);
  const bool to_the_left = call.chip().has(Quirk::kRequantConvolutions);
  requant.shift = to_the_left ? call.in_range("rshift", shift, -64, 127) : -call.in_range("rshift", shift, -31, 64);
  requant.offset = result_zero_point(call, "output_zp", given.zero_point, conv.result().dtype);
  requant.rounding = rounding;
  return requant;
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

// The arguments that all forms take, under the names that all of them give.
#define CONVOLUTION(function, add)                                                                                    \
  convolution(Op::function,                                                                                           \
              {output_addr, input_addr, weight_addr, bias_addr, input_shape, input_stride, output_c, kernel, padding, \
               stride, dilation, output_dtype, input_dtype, weight_dtype, bias_dtype, has_bias, result_relu, add})

// ---- Symmetric: no zero points, zeros as padding, ties up ----

void tpu_bdc_conv2d_requant_pc(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                               local_addr_t bias_addr, local_addr_t requant_addr, const dim4* input_shape,
                               const dim4* input_stride, int output_c, const dim2* kernel, const padding_t* padding,
                               const dim2* stride, const dim2* dilation, data_type_t output_dtype,
                               data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype, bool has_bias,
                               bool result_relu, bool has_requant, bool sym_range) {
  Convolution conv = CONVOLUTION(tpu_bdc_conv2d_requant_pc, false);
  conv.requant(table(conv, has_requant, requant_addr, Rounding::kHalfUp), sym_range).issue();
}

void tpu_bdc_conv2d_requant_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                              local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride, int output_c,
                              const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation,
                              data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
                              data_type_t bias_dtype, int multiplier, char rshift, short output_zp, bool has_bias,
                              bool result_relu, bool has_requant, bool sym_range) {
  Convolution conv = CONVOLUTION(tpu_bdc_conv2d_requant_C, false);
  conv.requant(constants(conv, has_requant, {multiplier, rshift, output_zp}, Rounding::kHalfUp), sym_range).issue();
}

// ---- Asymmetric: zero points of the kernel, values of the padding ----

void tpu_bdc_conv2d_requant_pc_asym_pc(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                       local_addr_t bias_addr, local_addr_t kzp_addr, local_addr_t pad_addr,
                                       local_addr_t requant_addr, const dim4* input_shape, const dim4* input_stride,
                                       int output_c, const dim2* kernel, const padding_t* padding, const dim2* stride,
                                       const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                       data_type_t weight_dtype, data_type_t bias_dtype, bool has_requant,
                                       bool has_bias, bool result_relu, bool result_add, bool sym_range,
                                       rounding_mode_t rounding_mode) {
  Convolution conv = CONVOLUTION(tpu_bdc_conv2d_requant_pc_asym_pc, result_add);
  conv.zero_points(kzp_addr, weight_dtype)
      .padding_values(pad_addr)
      .requant(table(conv, requantises(conv, has_requant), requant_addr, conv.call().rounding(rounding_mode)),
               sym_range)
      .issue();
}

void tpu_bdc_conv2d_requant_C_asym_pc(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                      local_addr_t bias_addr, local_addr_t kzp_addr, local_addr_t pad_addr,
                                      const dim4* input_shape, const dim4* input_stride, int output_c,
                                      const dim2* kernel, const padding_t* padding, const dim2* stride,
                                      const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                      data_type_t weight_dtype, data_type_t bias_dtype, int multiplier, char rshift,
                                      short output_zp, bool has_requant, bool has_bias, bool result_relu,
                                      bool result_add, bool sym_range, rounding_mode_t rounding_mode) {
  Convolution conv = CONVOLUTION(tpu_bdc_conv2d_requant_C_asym_pc, result_add);
  conv.zero_points(kzp_addr, weight_dtype)
      .padding_values(pad_addr)
      .requant(constants(conv, requantises(conv, has_requant), {multiplier, rshift, output_zp},
                         conv.call().rounding(rounding_mode)),
               sym_range)
      .issue();
}

void tpu_bdc_conv2d_requant_C_asym_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                     local_addr_t bias_addr, scalar_t kzp_val, scalar_t pad_val,
                                     const dim4* input_shape, const dim4* input_stride, int output_c,
                                     const dim2* kernel, const padding_t* padding, const dim2* stride,
                                     const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                     data_type_t weight_dtype, data_type_t bias_dtype, int multiplier, char rshift,
                                     short output_zp, bool has_requant, bool has_bias, bool result_relu,
                                     bool result_add, bool sym_range, rounding_mode_t rounding_mode) {
  Convolution conv = CONVOLUTION(tpu_bdc_conv2d_requant_C_asym_C, result_add);
  conv.zero_point(kzp_val, weight_dtype)
      .padding_values(pad_val)
      .requant(constants(conv, has_requant, {multiplier, rshift, output_zp}, conv.call().rounding(rounding_mode)),
               sym_range)
      .issue();
}

void tpu_bdc_conv2d_requant_pc_asym_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                      local_addr_t bias_addr, local_addr_t requant_addr, scalar_t kzp_val,
                                      scalar_t pad_val, const dim4* input_shape, const dim4* input_stride, int output_c,
                                      const dim2* kernel, const padding_t* padding, const dim2* stride,
                                      const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                      data_type_t weight_dtype, data_type_t bias_dtype, bool has_requant, bool has_bias,
                                      bool result_relu, bool result_add, bool sym_range,
                                      rounding_mode_t rounding_mode) {
  Convolution conv = CONVOLUTION(tpu_bdc_conv2d_requant_pc_asym_C, result_add);
  conv.zero_point(kzp_val, weight_dtype)
      .padding_values(pad_val)
      .requant(table(conv, has_requant, requant_addr, conv.call().rounding(rounding_mode)), sym_range)
      .issue();
}
}
