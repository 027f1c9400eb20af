// Entry points of convolutions.
#include "firmware/tpu/window_call.hpp"

namespace softtpu {
namespace {

// Input channels that weights of a type keep together: how many a lane's multipliers take at once.
int weight_group(Dtype type) {
  if (size_of(type) == 1) return 64;
  return size_of(type) == 2 ? 32 : 1;
}

class Convolution {
 public:
  Convolution(Op op, Conv2dKind kind) : call_(op) { cmd_.kind = kind; }

  Convolution& input(local_addr_t addr, const dim4* shape, const dim4* stride, data_type_t type) {
    cmd_.src = call_.local(addr, call_.dim("input_shape", shape), stride, call_.dtype("input_dtype", type));
    return *this;
  }
  Convolution& window(const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation) {
    cmd_.window = to_window(call_, kernel, padding, stride, dilation);
    return *this;
  }
  Convolution& deconv_window(const dim2* kernel, const dim2* insert, const padding_t* padding, const dim2* dilation) {
    cmd_.window = to_deconv_window(call_, kernel, insert, padding, dilation);
    return *this;
  }
  // After input and window, which give the shape.
  Convolution& output(local_addr_t addr, int channels, data_type_t type, bool add_old) {
    const Dim4 shape = output_shape(cmd_.src.shape, channels, cmd_.window);
    cmd_.dst = call_.local(addr, shape, call_.dtype("output_dtype", type));
    cmd_.add_old = add_old;
    return *this;
  }
  Convolution& weight(local_addr_t addr, Dtype type) {
    const int group = weight_group(type);
    const std::int64_t units = ceil_div(cmd_.src.shape.c, group) * cmd_.window.taps();
    const Dim4 shape{1, cmd_.dst.shape.c, static_cast<int>(std::min<std::int64_t>(units, kMaxUnits)), group};
    cmd_.weight = call_.local(addr, shape, type, Layout::kCompact);
    return *this;
  }
  Convolution& weight(local_addr_t addr, data_type_t type) { return weight(addr, call_.dtype("weight_dtype", type)); }
  Convolution& weight(const scalar_t& value, Dtype type) {
    cmd_.weight = scalar(value, type);
    return *this;
  }
  Convolution& bias(bool used, local_addr_t addr, Dtype type) {
    cmd_.bias_type = type;
    if (used) cmd_.bias = per_output_channel(addr, type);
    return *this;
  }
  Convolution& zero_point(const scalar_t& value, data_type_t type) {
    cmd_.zero_point = scalar(value, call_.dtype("kzp_dtype", type));
    return *this;
  }
  Convolution& zero_points(local_addr_t addr, data_type_t type) {
    cmd_.zero_point = per_output_channel(addr, call_.dtype("kzp_dtype", type));
    return *this;
  }
  Convolution& surroundings(const scalar_t& padding) {
    cmd_.padding = scalar(padding, cmd_.src.dtype);
    return *this;
  }
  Convolution& surroundings(const scalar_t& padding, const scalar_t& insertion) {
    cmd_.insertion = scalar(insertion, cmd_.src.dtype);
    return surroundings(padding);
  }
  Convolution& surroundings(local_addr_t pairs) {
    cmd_.padding = channel_pairs(pairs, cmd_.src.shape, cmd_.src.dtype);
    return *this;
  }
  Convolution& shift(int rshift, bool relu) {
    cmd_.rshift = rshift;
    cmd_.relu = relu;
    return *this;
  }
  void issue() const { call_.issue(cmd_); }
  const Call& call() const { return call_; }
  Dtype input_type() const { return cmd_.src.dtype; }

 private:
  // More weights than a local memory holds; keeps the extent an int, and validation refuses it.
  static constexpr std::int64_t kMaxUnits = 1 << 24;

  Tensor per_output_channel(local_addr_t addr, Dtype type) const {
    return call_.local(addr, Dim4{1, cmd_.dst.shape.c, 1, 1}, Stride4{0, 1, 0, 0}, type);
  }

  Call call_;
  Conv2dCmd cmd_;
};

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

// ---- Floats ----

#define CONV_FP(name)                                                                                            \
  void name(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr, local_addr_t bias_addr, \
            const dim4* input_shape, const dim4* input_stride, int output_c, const dim2* kernel,                 \
            const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t output_dtype,        \
            data_type_t input_dtype, bool has_bias, bool result_add) {                                           \
    Convolution conv(Op::name, Conv2dKind::kFloat);                                                              \
    conv.input(input_addr, input_shape, input_stride, input_dtype)                                               \
        .window(kernel, padding, stride, dilation)                                                               \
        .output(output_addr, output_c, output_dtype, result_add);                                                \
    conv.weight(weight_addr, conv.input_type()).bias(has_bias, bias_addr, Dtype::kFp32).issue();                 \
  }
CONV_FP(tpu_bdc_fp_conv2d)
// The same convolution, encoded differently for the chip.
CONV_FP(tpu_bdc_fp_conv2d_long_instr)

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
      .bias(has_bias, bias_addr, conv.call().dtype("bias_dtype", bias_dtype))
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
      .surroundings(pad_val)
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
      .surroundings(pad_val)
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
      .surroundings(pad_addr)
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
      .surroundings(pad_val, insert_val)
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
      .surroundings(pad_insert_addr)
      .issue();
}

// ---- Questions ----

int tpu_get_ic_parallel(data_type_t dtype) {
  const Call call(Op::tpu_get_ic_parallel);
  return weight_group(call.dtype("dtype", dtype));
}
int tpu_conv_kernel_size_per_oc(int ic, const dim2* ker, data_type_t dtype) {
  const Call call(Op::tpu_conv_kernel_size_per_oc);
  const Dim2 kernel = call.dim("ker", ker);
  const Dtype type = call.dtype("dtype", dtype);
  const int group = weight_group(type);
  return static_cast<int>(align_up(ic, group) * kernel.h * kernel.w * size_of(type));
}
int tpu_conv_kernel_size(int oc, int ic, const dim2* ker, data_type_t dtype) {
  const Call call(Op::tpu_conv_kernel_size);
  const int per_channel = tpu_conv_kernel_size_per_oc(ic, ker, dtype);
  return static_cast<int>(ceil_div(oc, call.chip().npu_num)) * per_channel;
}
}
