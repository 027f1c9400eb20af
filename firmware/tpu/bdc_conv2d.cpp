// Entry points of convolutions.
#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/answers.hpp"
#include "firmware/tpu/convolution.hpp"

namespace softtpu {
namespace {

struct FloatConvolution {
  local_addr_t output, input, weight, bias;
  const dim4 *input_shape, *input_stride;
  int output_c;
  const dim2* kernel;
  const padding_t* padding;
  const dim2 *stride, *dilation;
  data_type_t output_dtype, input_dtype;
  bool has_bias, result_add;
};

void float_convolution(Op op, const FloatConvolution& of, bool relu = false) {
  Convolution conv(op, Conv2dKind::kFloat);
  conv.input(of.input, of.input_shape, of.input_stride, of.input_dtype)
      .window(of.kernel, of.padding, of.stride, of.dilation)
      .output(of.output, of.output_c, of.output_dtype, of.result_add);
  conv.weight(of.weight, conv.input_type()).bias(of.has_bias, of.bias, Dtype::kFp32).relu(relu).issue();
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

// ---- Floats ----

#define CONV_FP(name)                                                                                                  \
  void name(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr, local_addr_t bias_addr,       \
            const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,                       \
            const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,              \
            data_type_t input_dtype, bool has_bias, bool result_add) {                                                 \
    float_convolution(Op::name, {output_addr, input_addr, weight_addr, bias_addr, input_shape, input_stride, output_c, \
                                 kernel, padding, stride, dilation, output_dtype, input_dtype, has_bias, result_add}); \
  }
CONV_FP(tpu_bdc_fp_conv2d)
// The same convolution, encoded differently for the chip.
CONV_FP(tpu_bdc_fp_conv2d_long_instr)

void tpu_bdc_fp_conv2d_with_relu(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                 local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride,
                                 int output_c, const dim2* kernel, const padding_t* padding, const dim2* stride,
                                 const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype, bool has_bias,
                                 bool result_add, bool do_relu) {
  float_convolution(Op::tpu_bdc_fp_conv2d_with_relu,
                    {output_addr, input_addr, weight_addr, bias_addr, input_shape, input_stride, output_c, kernel,
                     padding, stride, dilation, output_dtype, input_dtype, has_bias, result_add},
                    do_relu);
}

void tpu_bdc_fp_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                    local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride,
                                    int output_c, const dim2* kernel, const dim2* insert, const padding_t* padding,
                                    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                    bool has_bias, bool result_add) {
  Convolution conv(Op::tpu_bdc_fp_conv2d_for_deconv2d, Conv2dKind::kFloat);
  conv.input(input_addr, input_shape, input_stride, input_dtype)
      .deconv_window(kernel, insert, padding, dilation)
      .output(output_addr, output_c, output_dtype, result_add);
  conv.weight(weight_addr, conv.input_type()).bias(has_bias, bias_addr, Dtype::kFp32).issue();
}

void tpu_bdc_fp_conv2d_kernel_const(local_addr_t output_addr, local_addr_t input_addr, local_addr_t bias_addr,
                                    scalar_t C, const dim4* input_shape, const dim4* input_stride, int output_c,
                                    const dim2* kernel, const padding_t* padding, const dim2* stride,
                                    const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                    bool has_bias, bool result_add) {
  Convolution conv(Op::tpu_bdc_fp_conv2d_kernel_const, Conv2dKind::kFloat);
  conv.input(input_addr, input_shape, input_stride, input_dtype)
      .window(kernel, padding, stride, dilation)
      .output(output_addr, output_c, output_dtype, result_add);
  conv.weight(C, conv.input_type()).bias(has_bias, bias_addr, Dtype::kFp32).issue();
}

// ---- FP8 and rescaled results ----

namespace {

struct RescaledWeight {
  local_addr_t addr;
  data_type_t type;
};
struct RescaledBias {
  bool used;
  local_addr_t addr;
  data_type_t type;
};

// What the functions that rescale have in common; the weight needs the output's channels.
void finish_rescaled(Convolution& conv, const RescaledWeight& weight, const RescaledBias& bias, bool relu) {
  conv.weight(weight.addr, weight.type)
      .bias(bias.used, bias.addr, bias.used ? conv.call().dtype("bias_dtype", bias.type) : Dtype::kFp32)
      .relu(relu)
      .issue();
}

extern "C++" Scalar one_value(local_addr_t bits) { return {bits, Dtype::kFp32}; }

}  // namespace

// With scale_const the address is the factor's bits.
void tpu_bdc_fp_conv2d_with_rescale(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                    local_addr_t bias_addr, local_addr_t rescale_addr, const dim4* input_shape,
                                    const dim4* input_stride, int output_c, const dim2* kernel,
                                    const padding_t* padding, const dim2* stride, const dim2* dilation,
                                    data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
                                    data_type_t bias_dtype, bool has_bias, bool result_add, bool do_relu,
                                    bool do_rescale, bool scale_const) {
  Convolution conv(Op::tpu_bdc_fp_conv2d_with_rescale, Conv2dKind::kFloat);
  conv.input(input_addr, input_shape, input_stride, input_dtype)
      .window(kernel, padding, stride, dilation)
      .output(output_addr, output_c, output_dtype, result_add);
  if (do_rescale) scale_const ? conv.rescale(one_value(rescale_addr)) : conv.rescale(rescale_addr);
  finish_rescaled(conv, {weight_addr, weight_dtype}, {has_bias, bias_addr, bias_dtype}, do_relu);
}

void tpu_bdc_fp_conv2d_rescale_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                 local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride,
                                 int output_c, const dim2* kernel, const padding_t* padding, const dim2* stride,
                                 const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                 data_type_t weight_dtype, data_type_t bias_dtype, float rescale, bool has_bias,
                                 bool result_add, bool do_relu) {
  Convolution conv(Op::tpu_bdc_fp_conv2d_rescale_C, Conv2dKind::kFloat);
  conv.input(input_addr, input_shape, input_stride, input_dtype)
      .window(kernel, padding, stride, dilation)
      .output(output_addr, output_c, output_dtype, result_add)
      .rescale(scalar(rescale, Dtype::kFp32));
  finish_rescaled(conv, {weight_addr, weight_dtype}, {has_bias, bias_addr, bias_dtype}, do_relu);
}

void tpu_bdc_fp_conv2d_rescale_pc(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                  local_addr_t bias_addr, local_addr_t rescale_addr, const dim4* input_shape,
                                  const dim4* input_stride, int output_c, const dim2* kernel, const padding_t* padding,
                                  const dim2* stride, const dim2* dilation, data_type_t output_dtype,
                                  data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype,
                                  bool has_bias, bool result_add, bool do_relu) {
  Convolution conv(Op::tpu_bdc_fp_conv2d_rescale_pc, Conv2dKind::kFloat);
  conv.input(input_addr, input_shape, input_stride, input_dtype)
      .window(kernel, padding, stride, dilation)
      .output(output_addr, output_c, output_dtype, result_add)
      .rescale(rescale_addr);
  finish_rescaled(conv, {weight_addr, weight_dtype}, {has_bias, bias_addr, bias_dtype}, do_relu);
}

// ---- gradients of weights ----

namespace {

struct Gradient {
  local_addr_t output, input, grad;
  const dim4 *input_shape, *input_stride, *output_shape;
  const dim2 *kernel, *stride, *dilation;
  const padding_t* padding;
  data_type_t input_type, output_type;
};

// The result lies as the weights of the convolution do, in f32.
extern "C++" void weight_gradient(const Call& call, const Gradient& of) {
  const Dtype type = call.dtype("input_dtype", of.input_type), result = call.dtype("output_dtype", of.output_type);
  const Window window = to_window(call, of.kernel, of.padding, of.stride, of.dilation);
  const Dim4 input = call.dim("input_shape", of.input_shape), grad = call.dim("output_shape", of.output_shape);
  const int block = contains(kFloats, type) ? weight_group(call.chip(), type) : 1, npus = call.chip().npu_num;
  const auto determined = [&](bool holds, const char* name) {
    return call.require(holds, "{argument} other than what is recorded is not determined.", name);
  };
  if (!determined(input.n == 1 && grad.n == 1, "a number of batches")) return;
  if (!determined(window.stride == Dim2{1, 1}, "stride") || !determined(window.dilation == Dim2{1, 1}, "dilation"))
    return;
  if (!determined(window.padding == Padding4{}, "padding")) return;
  if (!determined(grad.c <= npus && (block == 1 || input.c <= block), "a number of channels")) return;
  const auto taps = static_cast<int>(window.taps());
  const Stride4 steps = block == 1 ? Stride4{0, 0, 1, taps} : Stride4{0, 0, block, 1};
  call.issue(WeightGradientCmd{window.kernel, call.local(of.output, Dim4{1, grad.c, taps, input.c}, steps, result),
                               call.local(of.input, input, of.input_stride, type), call.local(of.grad, grad, type)});
}

}  // namespace

void tpu_bdc_fp_conv_bw(local_addr_t output_addr, local_addr_t input_addr, local_addr_t gradout_addr,
                        const dim4* input_shape, const dim4* input_stride, const dim4* output_shape, const dim2* kernel,
                        const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,
                        data_type_t input_dtype, bool result_add) {
  const Call call(Op::tpu_bdc_fp_conv_bw);
  if (!call.require(!result_add, "{argument} is not determined.", "result_add")) return;
  weight_gradient(call, {output_addr, input_addr, gradout_addr, input_shape, input_stride, output_shape, kernel, stride,
                         dilation, padding, input_dtype, output_dtype});
}

void tpu_bdc_fp_conv2d_backward(local_addr_t grad_wight_local_addr, local_addr_t forward_input_local_addr,
                                local_addr_t grad_output_local_addr, local_addr_t, const dim4* forwrad_input_shape,
                                const dim4* forward_output_shape, const dim2* forward_kernel,
                                const dim2* backward_insert, const padding_t* backward_padding,
                                const dim2* backward_stride, const dim2* backward_dilation, const dim4* input_stride,
                                int pad_ins_is_const, int insert_const_val, int pad_mode, data_type_t input_dtype,
                                data_type_t grad_dtype) {
  const Call call(Op::tpu_bdc_fp_conv2d_backward);
  const Dim2 insert = call.dim("backward_insert", backward_insert);
  const bool plain = insert == Dim2{0, 0} && pad_ins_is_const == 1 && insert_const_val == 0 && pad_mode == 0;
  if (!call.require(plain, "insertion, or padding other than with the constant 0, is not determined.")) return;
  weight_gradient(call, {grad_wight_local_addr, forward_input_local_addr, grad_output_local_addr, forwrad_input_shape,
                         input_stride, forward_output_shape, forward_kernel, backward_stride, backward_dilation,
                         backward_padding, input_dtype, grad_dtype});
}

// ---- 8-bit integers, symmetric ----

void tpu_bdc_int8_sym_quant_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                   local_addr_t bias_addr, const dim4* input_shape, const dim4* input_stride,
                                   int output_c, const dim2* kernel, const padding_t* padding, const dim2* stride,
                                   const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                   data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift,
                                   bool has_bias, bool result_relu) {
  Convolution conv(Op::tpu_bdc_int8_sym_quant_conv2d, Conv2dKind::kSymmetric);
  conv.input(input_addr, input_shape, input_stride, input_dtype)
      .window(kernel, padding, stride, dilation)
      .output(output_addr, output_c, output_dtype, false)
      .weight(weight_addr, weight_dtype)
      .bias(has_bias, bias_addr, conv.call().dtype("bias_dtype", bias_dtype))
      .shift(rshift, result_relu)
      .issue();
}

void tpu_bdc_int8_sym_quant_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
                                                local_addr_t weight_addr, local_addr_t bias_addr,
                                                const dim4* input_shape, const dim4* input_stride, int output_c,
                                                const dim2* kernel, const dim2* insert, const padding_t* padding,
                                                const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                                data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift,
                                                bool has_bias, bool result_relu) {
  Convolution conv(Op::tpu_bdc_int8_sym_quant_conv2d_for_deconv2d, Conv2dKind::kSymmetric);
  conv.input(input_addr, input_shape, input_stride, input_dtype)
      .deconv_window(kernel, insert, padding, dilation)
      .output(output_addr, output_c, output_dtype, false)
      .weight(weight_addr, weight_dtype)
      .bias(has_bias, conv.deconv_bias(bias_addr), conv.call().dtype("bias_dtype", bias_dtype))
      .shift(rshift, result_relu)
      .issue();
}

// ---- 8-bit integers, asymmetric ----

void tpu_bdc_int8_asym_quant_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                    scalar_t kzp_val, scalar_t pad_val, const dim4* input_shape,
                                    const dim4* input_stride, int output_c, const dim2* kernel,
                                    const padding_t* padding, const dim2* stride, const dim2* dilation,
                                    data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
                                    data_type_t kzp_dtype, bool result_add) {
  Convolution conv(Op::tpu_bdc_int8_asym_quant_conv2d, Conv2dKind::kAsymmetric);
  conv.input(input_addr, input_shape, input_stride, input_dtype)
      .window(kernel, padding, stride, dilation)
      .output(output_addr, output_c, output_dtype, result_add)
      .weight(weight_addr, weight_dtype)
      .zero_point(kzp_val, kzp_dtype)
      .padding_values(pad_val)
      .issue();
}

void tpu_bdc_int8_asym_quant_conv2d_kernel_const(local_addr_t output_addr, local_addr_t input_addr, scalar_t C,
                                                 scalar_t kzp_val, scalar_t pad_val, const dim4* input_shape,
                                                 const dim4* input_stride, int output_c, const dim2* kernel,
                                                 const padding_t* padding, const dim2* stride, const dim2* dilation,
                                                 data_type_t output_dtype, data_type_t input_dtype,
                                                 data_type_t weight_dtype, data_type_t kzp_dtype, bool result_add) {
  Convolution conv(Op::tpu_bdc_int8_asym_quant_conv2d_kernel_const, Conv2dKind::kAsymmetric);
  conv.input(input_addr, input_shape, input_stride, input_dtype)
      .window(kernel, padding, stride, dilation)
      .output(output_addr, output_c, output_dtype, result_add)
      .weight(C, conv.call().dtype("weight_dtype", weight_dtype))
      .zero_point(kzp_val, kzp_dtype)
      .padding_values(pad_val)
      .issue();
}

void tpu_bdc_int8_asym_pc_quant_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                       local_addr_t kzp_addr, local_addr_t pad_addr, const dim4* input_shape,
                                       const dim4* input_stride, int output_c, const dim2* kernel,
                                       const padding_t* padding, const dim2* stride, const dim2* dilation,
                                       data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
                                       data_type_t kzp_dtype, bool result_add) {
  Convolution conv(Op::tpu_bdc_int8_asym_pc_quant_conv2d, Conv2dKind::kAsymmetric);
  conv.input(input_addr, input_shape, input_stride, input_dtype)
      .window(kernel, padding, stride, dilation)
      .output(output_addr, output_c, output_dtype, result_add)
      .weight(weight_addr, weight_dtype)
      .zero_points(kzp_addr, kzp_dtype)
      .padding_values(pad_addr)
      .issue();
}

void tpu_bdc_int8_asym_quant_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
                                                 local_addr_t weight_addr, scalar_t kzp_val, scalar_t pad_val,
                                                 scalar_t insert_val, const dim4* input_shape, const dim4* input_stride,
                                                 int output_c, const dim2* kernel, const dim2* insert,
                                                 const padding_t* padding, const dim2* dilation,
                                                 data_type_t output_dtype, data_type_t input_dtype,
                                                 data_type_t weight_dtype, data_type_t kzp_dtype, bool result_add) {
  Convolution conv(Op::tpu_bdc_int8_asym_quant_conv2d_for_deconv2d, Conv2dKind::kAsymmetric);
  conv.input(input_addr, input_shape, input_stride, input_dtype)
      .deconv_window(kernel, insert, padding, dilation)
      .output(output_addr, output_c, output_dtype, result_add)
      .weight(weight_addr, weight_dtype)
      .zero_point(kzp_val, kzp_dtype)
      .padding_values(pad_val, insert_val)
      .issue();
}

void tpu_bdc_int8_asym_pc_quant_conv2d_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
                                                    local_addr_t weight_addr, local_addr_t kzp_addr,
                                                    local_addr_t pad_insert_addr, const dim4* input_shape,
                                                    const dim4* input_stride, int output_c, const dim2* kernel,
                                                    const dim2* insert, const padding_t* padding, const dim2* dilation,
                                                    data_type_t output_dtype, data_type_t input_dtype,
                                                    data_type_t weight_dtype, data_type_t kzp_dtype, bool result_add) {
  Convolution conv(Op::tpu_bdc_int8_asym_pc_quant_conv2d_for_deconv2d, Conv2dKind::kAsymmetric);
  conv.input(input_addr, input_shape, input_stride, input_dtype)
      .deconv_window(kernel, insert, padding, dilation)
      .output(output_addr, output_c, output_dtype, result_add)
      .weight(weight_addr, weight_dtype)
      .zero_points(kzp_addr, kzp_dtype)
      .padding_values(pad_insert_addr)
      .issue();
}

// ---- Questions ----

int tpu_get_ic_parallel(data_type_t dtype) {
  const Call call(Op::tpu_get_ic_parallel);
  const Dtype type = call.dtype("dtype", dtype);
  const bool nibbles = type == Dtype::kInt4 || type == Dtype::kUint4;
  if (nibbles && call.chip().has(Quirk::kNibbleWeights)) return 2 * call.chip().weight_block;
  if (type == Dtype::kTf32) return call.chip().weight_block / 4;
  if (type == Dtype::kFp4) return 2 * call.chip().weight_block;
  call.require(!call.chip().has(Quirk::kByteAndBf16Products) || contains(kInts8 | types(Dtype::kBfp16), type),
               "{argument} ({value}) is no type of products.", "dtype", to_text(type));
  return weight_group(call.chip(), type);
}
int tpu_conv_kernel_size_per_oc(int ic, const dim2* ker, data_type_t dtype) {
  const Call call(Op::tpu_conv_kernel_size_per_oc);
  const Dim2 kernel = call.dim("ker", ker);
  const Dtype type = call.dtype("dtype", dtype);
  const Dim4 weights{1, call.to_int(align_up(ic, weight_group(call.chip(), type))), kernel.h, kernel.w};
  return call.to_int(weights.elements() * size_of(type));
}
int tpu_conv_kernel_size(int oc, int ic, const dim2* ker, data_type_t dtype) {
  const Call call(Op::tpu_conv_kernel_size);
  const std::int64_t per_channel = tpu_conv_kernel_size_per_oc(ic, ker, dtype);
  return call.to_int(ceil_div(oc, call.chip().npu_num) * per_channel);
}
}
