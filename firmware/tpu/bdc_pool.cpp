// Entry points of depthwise convolutions and poolings over windows.
#include <fmt/format.h>

#include "device/command/checks.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/composite/steps.hpp"
#include "firmware/tpu/requant_call.hpp"
#include "firmware/tpu/window_call.hpp"

namespace softtpu {
namespace {

class Pooling {
 public:
  Pooling(Op op, PoolMode mode) : call_(op) { cmd_.mode = mode; }

  Pooling& input(local_addr_t addr, const dim4* shape, data_type_t type) {
    cmd_.src = call_.local(addr, call_.dim("input_shape", shape), call_.dtype("input type", type));
    cmd_.padding = cmd_.insertion = Scalar{0, cmd_.src.dtype};
    return *this;
  }
  Pooling& window(const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation) {
    cmd_.window = to_window(call_, kernel, padding, stride, dilation);
    return *this;
  }
  Pooling& insert(const dim2* insert) {
    cmd_.window.insert = call_.dim("insert", insert);
    return *this;
  }
  Pooling& deconv_window(const dim2* kernel, const dim2* insert, const padding_t* padding, const dim2* dilation) {
    cmd_.window = to_deconv_window(call_, kernel, insert, padding, dilation);
    cmd_.window.rotated_180 = !call_.chip().has(Quirk::kUnrotatedDepthwise);
    return *this;
  }
  // After input and window, which give the shape.
  Pooling& output(local_addr_t addr, data_type_t type) {
    const Dim4 shape = output_shape(cmd_.src.shape, cmd_.src.shape.c, cmd_.window);
    cmd_.dst = call_.local(addr, shape, call_.dtype("output type", type));
    return *this;
  }
  Pooling& weight(local_addr_t addr, data_type_t type) {
    const Dim4 shape{1, cmd_.src.shape.c, cmd_.window.kernel.h, cmd_.window.kernel.w};
    cmd_.weight = call_.local(addr, shape, call_.dtype("weight type", type), Layout::kCompact);
    return *this;
  }
  // Of the requantised forms.
  Pooling& byte_weight(local_addr_t addr, data_type_t type) {
    if (call_.chip().has(Quirk::kTypelessWeights))
      type = call_.dtype("weight type", type) == Dtype::kUint8 ? DT_UINT8 : DT_INT8;
    return weight(addr, type);
  }
  Pooling& weight(const scalar_t& value, data_type_t type) {
    cmd_.weight = scalar(value, call_.dtype("weight type", type));
    return *this;
  }
  Pooling& scale(const Scalar& value) {
    cmd_.weight = value;
    return *this;
  }
  Pooling& rescale(const Scalar& value) {
    cmd_.rescale = value;
    return *this;
  }
  Pooling& pad(const scalar_t& value) {
    cmd_.padding = scalar(value, cmd_.src.dtype);
    return *this;
  }
  // Of the transposed forms of 8-bit integers.
  Pooling& deconv_pad(const scalar_t& value) {
    if (call_.chip().has(Quirk::kDeconvOperands)) cmd_.insertion = scalar(value, cmd_.src.dtype);
    return pad(value);
  }
  Pooling& deconv_pad_pairs(local_addr_t addr) {
    return call_.chip().has(Quirk::kDeconvOperands) ? *this : pad_pairs(addr);
  }
  Pooling& pad_pairs(local_addr_t addr) {
    cmd_.padding = channel_pairs(addr, cmd_.src.shape, cmd_.src.dtype);
    return *this;
  }
  Pooling& bias(bool used, local_addr_t addr) {
    if (used) cmd_.bias = per_channel(addr, cmd_.src.dtype);
    return *this;
  }
  // 32 bits for each channel, whatever the type says; it gives only the sign.
  Pooling& wide_bias(bool used, local_addr_t addr, data_type_t type) {
    if (!used) return *this;
    cmd_.bias_type = call_.dtype("bias_dtype", type);
    cmd_.bias = per_channel(addr, is_signed_int(cmd_.bias_type) ? Dtype::kInt32 : Dtype::kUint32);
    return *this;
  }
  void check_deconv_bias(bool used, data_type_t type) const {
    if (!used || !call_.chip().has(Quirk::kWideDeconvBias)) return;
    const Dtype bias = call_.dtype("bias_dtype", type);
    call_.require(contains(kInts32, bias), "{argument} is {value} (allowed: {limit}).", "bias_dtype", to_text(bias),
                  "int32, uint32");
  }
  void without_half_ties(rounding_mode_t rounding) const {
    const bool half = rounding == RM_HALF_UP || rounding == RM_HALF_DOWN;
    if (half && call_.chip().has(Quirk::kNoDepthwiseTies))
      call_.require(false, "{argument} must not be HALF_UP or HALF_DOWN on this chip.", "rounding_mode");
  }
  Pooling& shift(int rshift, Rounding rounding, bool relu) {
    cmd_.rshift = rshift;
    cmd_.rounding = rounding;
    cmd_.relu = relu;
    return *this;
  }
  // Where results are shifted, they have to be of this type.
  Pooling& shifts_to(Dtype only, int rshift, data_type_t type) {
    const Dtype output = call_.dtype("output type", type);
    if (rshift != 0 && output != only && call_.chip().has(Quirk::kRequantConvolutions))
      call_.fault({"{argument} type is {value}; {limit}.", "output", std::string(to_text(output)),
                   fmt::format("with a right shift ({}) it has to be {}", rshift, to_text(only))});
    return *this;
  }
  Pooling& shift(int rshift, rounding_mode_t rounding, bool relu) {
    return shift(rshift, call_.rounding(rounding), relu);
  }
  // Instead of the shift, where it is used.
  Pooling& requant(bool used, local_addr_t table, rounding_mode_t rounding) {
    const Rounding mode = call_.rounding(rounding);
    if (used) cmd_.requant = requant_table(call_, table, cmd_.src.shape.c, mode);
    return *this;
  }
  Pooling& symmetric(bool range) {
    cmd_.symmetric = range;
    return *this;
  }
  void issue() const { call_.issue(cmd_); }

 private:
  Tensor per_channel(local_addr_t addr, Dtype type) const {
    return call_.local(addr, Dim4{1, cmd_.src.shape.c, 1, 1}, Stride4{0, 1, 0, 0}, type);
  }

  Call call_;
  PoolCmd cmd_;
};

Scalar byte_scale(unsigned char scale) { return {scale, Dtype::kUint8}; }

scalar_t bits_of(unsigned int bits) {
  scalar_t value;
  value.u32 = bits;
  return value;
}

struct PoolWindow {
  const dim2* kernel;
  const padding_t* padding;
  const dim2 *stride, *dilation;
};

// The largest or smallest element of each window.
void pool_best(Op op, PoolMode mode, local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
               const PoolWindow& of, data_type_t dtype, scalar_t pad_val) {
  Pooling pool(op, mode);
  pool.input(input_addr, input_shape, dtype).window(of.kernel, of.padding, of.stride, of.dilation).pad(pad_val);
  pool.output(output_addr, dtype).issue();
}

// Each plane, or each of its rows, reduced to one element.
void reduce(const Call& call, local_addr_t to, local_addr_t from, const dim4* shape, const dim4* to_stride,
            const dim4* from_stride, const data_type_t (&types)[2], int reduce_op, int saturate, bool planes) {
  const Dim4 dim = call.dim("shape", shape);
  const Dtype result = call.dtype("odtype", types[0]), type = call.dtype("idtype", types[1]);
  if (!call.require(contains(kFloats, type), "{argument} ({value}) is no {limit}.", "idtype", to_text(type), "float"))
    return;
  if (!call.require(result == type, "{argument} ({value}) other than idtype ({limit}) is not determined.", "odtype",
                    to_text(result), to_text(type)))
    return;
  // The functions number what they do. Only the minimum of a row is recorded (golden bm1684x2/fused).
  enum : std::uint8_t { kLargestSize = 1, kMinimum = 2, kSum = 3 };
  const bool known = reduce_op == kMinimum || (planes && (reduce_op == kLargestSize || reduce_op == kSum));
  if (!call.require(known, "{argument} ({value}) is not determined; {limit}.", "reduce_op", reduce_op,
                    planes ? "1, 2 and 3 are" : "2 is"))
    return;
  if (!call.require(saturate == 0, "{argument} is not determined.", "saturate")) return;
  if (reduce_op != kMinimum) {
    ReduceCmd cmd;
    cmd.kind = reduce_op == kSum ? Reduction::kSum : Reduction::kLargestSize;
    cmd.src = call.local(from, dim, from_stride, type);
    cmd.dst = call.local(to, Dim4{dim.n, dim.c, 1, 1}, to_stride, type);
    return call.issue(cmd);
  }
  PoolCmd cmd;
  cmd.mode = PoolMode::kMin;
  cmd.window.kernel = {planes ? dim.h : 1, dim.w};
  cmd.window.stride = cmd.window.dilation = {1, 1};
  cmd.src = call.local(from, dim, from_stride, type);
  cmd.dst = call.local(to, Dim4{dim.n, dim.c, planes ? 1 : dim.h, 1}, to_stride, type);
  cmd.padding = cmd.insertion = Scalar{0, type};
  call.issue(cmd);
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define POOL_BEST(name, mode)                                                                                          \
  void name(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape, const dim2* kernel,            \
            const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype, scalar_t pad_val) { \
    pool_best(Op::name, mode, output_addr, input_addr, input_shape, {kernel, padding, stride, dilation}, dtype,        \
              pad_val);                                                                                                \
  }
POOL_BEST(tpu_bdc_fp_max_pool2d, PoolMode::kMax)
POOL_BEST(tpu_bdc_fp_min_pool2d, PoolMode::kMin)
POOL_BEST(tpu_bdc_int8_max_pool2d, PoolMode::kMax)
POOL_BEST(tpu_bdc_int8_min_pool2d, PoolMode::kMin)
// Of the newest headers; on 8 bits the extreme of a window can be only one.
POOL_BEST(tpu_bdc_int_max_pool2d, PoolMode::kMax)
POOL_BEST(tpu_bdc_int_min_pool2d, PoolMode::kMin)

// ---- Floats ----

void tpu_bdc_fp_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
                           const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation,
                           data_type_t dtype, scalar_t scale) {
  Pooling pool(Op::tpu_bdc_fp_avg_pool2d, PoolMode::kAverage);
  pool.input(input_addr, input_shape, dtype).window(kernel, padding, stride, dilation).weight(scale, dtype);
  pool.output(output_addr, dtype).issue();
}

// re_scale is applied to results of FP8 only.
void tpu_bdc_fp8_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
                            const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation,
                            data_type_t input_dtype, data_type_t output_dtype, scalar_t scale, float re_scale) {
  Pooling pool(Op::tpu_bdc_fp8_avg_pool2d, PoolMode::kAverage);
  pool.input(input_addr, input_shape, input_dtype).window(kernel, padding, stride, dilation).weight(scale, input_dtype);
  pool.rescale(scalar(re_scale, Dtype::kFp32)).output(output_addr, output_dtype).issue();
}

void tpu_bdc_fp_ins_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
                               const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation,
                               const dim2* ins, data_type_t dtype, scalar_t scale) {
  Pooling pool(Op::tpu_bdc_fp_ins_avg_pool2d, PoolMode::kAverage);
  pool.input(input_addr, input_shape, dtype).window(kernel, padding, stride, dilation).insert(ins);
  pool.weight(scale, dtype).output(output_addr, dtype).issue();
}

// Where both types are one it is tpu_bdc_fp_ins_avg_pool2d; how another type of the output is rounded is not known.
void tpu_bdc_fp_avg_pool2d_ex(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
                              const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation,
                              const dim2* ins, data_type_t in_dtype, data_type_t out_dtype, scalar_t scale) {
  const Call call(Op::tpu_bdc_fp_avg_pool2d_ex);
  const Dtype in = call.dtype("in_dtype", in_dtype), out = call.dtype("out_dtype", out_dtype);
  call.require(in == out,
               "{argument} ({value}) is not in_dtype ({limit}); how the output is rounded then is neither recorded nor "
               "described.",
               "out_dtype", to_text(out), to_text(in));
  Pooling pool(Op::tpu_bdc_fp_avg_pool2d_ex, PoolMode::kAverage);
  pool.input(input_addr, input_shape, in_dtype).window(kernel, padding, stride, dilation).insert(ins);
  pool.weight(scale, in_dtype).output(output_addr, out_dtype).issue();
}

// As recorded (golden bm1690/fused): the elements of a plane stand in rows of one vector of the EUs. Columns are added,
// then their scaled sums. What the last row lacks are zeros, put behind the input in its own layout.
void tpu_bdc_fp_hw_reduce_mean(local_addr_t output_addr, local_addr_t input_addr, local_addr_t buffer_addr,
                               const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_hw_reduce_mean);
  const Dim4 input = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  const int columns = size_of(type) > 0 ? call.chip().eu_num(type) : 1;
  const std::int64_t elements = std::int64_t{input.h} * input.w;
  const int rows = static_cast<int>(ceil_div(elements, std::int64_t{columns}));
  const auto missing = static_cast<int>(std::int64_t{rows} * columns - elements);
  const Tensor src = call.local(input_addr, Dim4{input.n, input.c, rows, columns}, type);
  const Tensor sums = call.local(buffer_addr, Dim4{input.n, input.c, 1, columns}, type);
  const Tensor dst = call.local(output_addr, Dim4{input.n, input.c, 1, 1}, type);
  // By their own names: each is two operands of the commands.
  Checks check(call.core().memories(), call.op());
  check.shape("shape", input).tensor("input", src).tensor("buffer", sums).tensor("output", dst);
  check.same_npu("input", src.addr, "output", dst.addr).same_npu("buffer", sums.addr, "output", dst.addr);
  if (check.violation()) return call.core().fault(ErrorKind::kUsage, *check.violation());
  const Steps steps(call.chip(), dim4{}, type);
  const auto pool = [&](const Tensor& to, const Tensor& from, Dim2 kernel, float scale) {
    PoolCmd cmd;
    cmd.mode = PoolMode::kAverage;
    cmd.window.kernel = kernel;
    cmd.dst = to;
    cmd.src = from;
    cmd.padding = cmd.insertion = Scalar{0, type};
    cmd.weight = scalar(steps.constant(scale), type);
    return cmd;
  };
  const PoolCmd in_columns = pool(sums, src, {rows, 1}, 1.0F);
  const PoolCmd in_row = pool(dst, sums, {1, columns}, 1.0F / static_cast<float>(elements));
  if (missing == 0) return call.issue_all(in_columns, in_row);
  const auto behind = static_cast<local_addr_t>(input_addr + static_cast<std::uint64_t>(elements * size_of(type)));
  const Tensor tail = Call::local(behind, {input.n, input.c, 1, missing}, src.stride, type);
  call.issue_all(CopyCmd{tail, Scalar{0, type}}, in_columns, in_row);
}

void tpu_bdc_fp_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                            local_addr_t bias_addr, const dim4* input_shape, const dim2* kernel,
                            const padding_t* padding, const dim2* stride, const dim2* dilation, data_type_t dtype,
                            bool has_bias) {
  Pooling pool(Op::tpu_bdc_fp_depthwise2d, PoolMode::kDepthwise);
  pool.input(input_addr, input_shape, dtype).window(kernel, padding, stride, dilation).weight(weight_addr, dtype);
  pool.bias(has_bias, bias_addr).output(output_addr, dtype).issue();
}

void tpu_bdc_fp_ins_depthwise(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                              local_addr_t bias_addr, const dim4* input_shape, const dim2* kernel,
                              const padding_t* padding, const dim2* stride, const dim2* ins, const dim2* dilation,
                              data_type_t dtype, bool has_bias) {
  Pooling pool(Op::tpu_bdc_fp_ins_depthwise, PoolMode::kDepthwise);
  pool.input(input_addr, input_shape, dtype).window(kernel, padding, stride, dilation).insert(ins);
  pool.weight(weight_addr, dtype).bias(has_bias, bias_addr).output(output_addr, dtype).issue();
}

// kernel_is_const: weight_addr holds the bits of the constant.
void tpu_bdc_fp_depthwise_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                       local_addr_t bias_addr, const dim4* input_shape, const dim2* kernel,
                                       const dim2* insert, const padding_t* padding, const dim2* dilation,
                                       data_type_t output_dtype, data_type_t input_dtype, bool kernel_is_const,
                                       bool has_bias) {
  Pooling pool(Op::tpu_bdc_fp_depthwise_for_deconv2d, PoolMode::kDepthwise);
  pool.input(input_addr, input_shape, input_dtype).deconv_window(kernel, insert, padding, dilation);
  if (kernel_is_const) {
    pool.weight(bits_of(weight_addr), input_dtype);
  } else {
    pool.weight(weight_addr, input_dtype);
  }
  pool.bias(has_bias, bias_addr).output(output_addr, output_dtype).issue();
}

// ---- 8-bit integers ----

void tpu_bdc_int8_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
                             const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* dilation,
                             data_type_t output_dtype, data_type_t input_dtype, unsigned char scale,
                             unsigned char rshift) {
  Pooling pool(Op::tpu_bdc_int8_avg_pool2d, PoolMode::kAverage);
  pool.input(input_addr, input_shape, input_dtype).window(kernel, padding, stride, dilation).scale(byte_scale(scale));
  pool.shift(rshift, Rounding::kHalfUp, false).output(output_addr, output_dtype).issue();
}

void tpu_bdc_int8_ins_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
                                 const dim2* kernel, const padding_t* padding, const dim2* stride, const dim2* ins,
                                 const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                 unsigned char scale, unsigned char rshift) {
  Pooling pool(Op::tpu_bdc_int8_ins_avg_pool2d, PoolMode::kAverage);
  pool.input(input_addr, input_shape, input_dtype).window(kernel, padding, stride, dilation).insert(ins);
  pool.scale(byte_scale(scale)).shift(rshift, Rounding::kHalfUp, false).output(output_addr, output_dtype).issue();
}

void tpu_bdc_int8_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                              local_addr_t bias_addr, scalar_t pad_val, const dim4* input_shape, const dim2* kernel,
                              const padding_t* padding, const dim2* stride, const dim2* dilation,
                              data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
                              data_type_t bias_dtype, unsigned char rshift, bool has_bias, bool result_relu,
                              rounding_mode_t rounding_mode) {
  Pooling pool(Op::tpu_bdc_int8_depthwise2d, PoolMode::kDepthwise);
  pool.input(input_addr, input_shape, input_dtype).window(kernel, padding, stride, dilation).pad(pad_val);
  pool.weight(weight_addr, weight_dtype).wide_bias(has_bias, bias_addr, bias_dtype);
  pool.shift(rshift, rounding_mode, result_relu).output(output_addr, output_dtype).issue();
}

void tpu_bdc_int8_depthwise2d_kernel_const(local_addr_t output_addr, local_addr_t input_addr, local_addr_t bias_addr,
                                           scalar_t C, scalar_t pad_val, const dim4* input_shape, const dim2* kernel,
                                           const padding_t* padding, const dim2* stride, const dim2* dilation,
                                           data_type_t output_dtype, data_type_t input_dtype, data_type_t weight_dtype,
                                           data_type_t bias_dtype, unsigned char rshift, bool has_bias,
                                           bool result_relu, rounding_mode_t rounding_mode) {
  Pooling pool(Op::tpu_bdc_int8_depthwise2d_kernel_const, PoolMode::kDepthwise);
  pool.input(input_addr, input_shape, input_dtype).window(kernel, padding, stride, dilation).pad(pad_val);
  pool.weight(C, weight_dtype).wide_bias(has_bias, bias_addr, bias_dtype);
  pool.shift(rshift, rounding_mode, result_relu).output(output_addr, output_dtype).issue();
}

void tpu_bdc_int8_pc_pad_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                     local_addr_t bias_addr, local_addr_t pad_addr, const dim4* input_shape,
                                     const dim2* kernel, const padding_t* padding, const dim2* stride,
                                     const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                     data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift,
                                     bool has_bias, bool result_relu, rounding_mode_t rounding_mode) {
  Pooling pool(Op::tpu_bdc_int8_pc_pad_depthwise2d, PoolMode::kDepthwise);
  pool.input(input_addr, input_shape, input_dtype).window(kernel, padding, stride, dilation).pad_pairs(pad_addr);
  pool.weight(weight_addr, weight_dtype).wide_bias(has_bias, bias_addr, bias_dtype);
  pool.shift(rshift, rounding_mode, result_relu).output(output_addr, output_dtype).issue();
}

void tpu_bdc_int8_depthwise_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                         local_addr_t bias_addr, scalar_t pad_val, const dim4* input_shape,
                                         const dim2* kernel, const padding_t* padding, const dim2* insert,
                                         const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                         data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift,
                                         bool has_bias, bool result_relu, rounding_mode_t rounding_mode) {
  Pooling pool(Op::tpu_bdc_int8_depthwise_for_deconv2d, PoolMode::kDepthwise);
  pool.input(input_addr, input_shape, input_dtype).deconv_window(kernel, insert, padding, dilation).deconv_pad(pad_val);
  pool.check_deconv_bias(has_bias, bias_dtype);
  pool.weight(weight_addr, weight_dtype).wide_bias(has_bias, bias_addr, bias_dtype);
  pool.shift(rshift, rounding_mode, result_relu).output(output_addr, output_dtype).issue();
}

void tpu_bdc_int8_pc_pad_depthwise_for_deconv2d(local_addr_t output_addr, local_addr_t input_addr,
                                                local_addr_t weight_addr, local_addr_t bias_addr, local_addr_t pad_addr,
                                                const dim4* input_shape, const dim2* kernel, const padding_t* padding,
                                                const dim2* insert, const dim2* dilation, data_type_t output_dtype,
                                                data_type_t input_dtype, data_type_t weight_dtype,
                                                data_type_t bias_dtype, unsigned char rshift, bool has_bias,
                                                bool result_relu, rounding_mode_t rounding_mode) {
  Pooling pool(Op::tpu_bdc_int8_pc_pad_depthwise_for_deconv2d, PoolMode::kDepthwise);
  pool.input(input_addr, input_shape, input_dtype).deconv_window(kernel, insert, padding, dilation);
  pool.deconv_pad_pairs(pad_addr);
  pool.weight(weight_addr, weight_dtype).wide_bias(has_bias, bias_addr, bias_dtype);
  pool.shift(rshift, rounding_mode, result_relu).output(output_addr, output_dtype).issue();
}

// ---- 8-bit integers, requantised ----

void tpu_bdc_depthwise2d_requant_pc_asym_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                           local_addr_t bias_addr, local_addr_t requant_addr, scalar_t pad_val,
                                           const dim4* input_shape, const dim2* kernel, const padding_t* padding,
                                           const dim2* stride, const dim2* dilation, data_type_t output_dtype,
                                           data_type_t input_dtype, data_type_t weight_dtype, data_type_t bias_dtype,
                                           bool has_bias, bool has_requant, bool result_relu, bool sym_range,
                                           rounding_mode_t rounding_mode) {
  Pooling pool(Op::tpu_bdc_depthwise2d_requant_pc_asym_C, PoolMode::kDepthwise);
  pool.input(input_addr, input_shape, input_dtype).window(kernel, padding, stride, dilation).pad(pad_val);
  pool.byte_weight(weight_addr, weight_dtype).wide_bias(has_bias, bias_addr, bias_dtype);
  pool.shift(0, rounding_mode, result_relu).requant(has_requant, requant_addr, rounding_mode).symmetric(sym_range);
  pool.output(output_addr, output_dtype).issue();
}

// Shifted only, as by tpu_bdc_int8_depthwise2d.
void tpu_bdc_depthwise2d_requant_C_sym_C(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                                         local_addr_t bias_addr, scalar_t pad_val, const dim4* input_shape,
                                         const dim2* kernel, const padding_t* padding, const dim2* stride,
                                         const dim2* dilation, data_type_t output_dtype, data_type_t input_dtype,
                                         data_type_t weight_dtype, data_type_t bias_dtype, unsigned char rshift,
                                         bool has_bias, bool result_relu, bool sym_range,
                                         rounding_mode_t rounding_mode) {
  Pooling pool(Op::tpu_bdc_depthwise2d_requant_C_sym_C, PoolMode::kDepthwise);
  pool.input(input_addr, input_shape, input_dtype).window(kernel, padding, stride, dilation).pad(pad_val);
  pool.byte_weight(weight_addr, weight_dtype).wide_bias(has_bias, bias_addr, bias_dtype);
  pool.shifts_to(Dtype::kInt8, rshift, output_dtype).shift(rshift, rounding_mode, result_relu).symmetric(sym_range);
  pool.without_half_ties(rounding_mode);
  pool.output(output_addr, output_dtype).issue();
}

#define REDUCE(name, planes)                                                                                          \
  void name(local_addr_t R_addr, local_addr_t A_addr, const dim4* shape, const dim4* R_stride, const dim4* A_stride,  \
            int /*A_sign*/, data_type_t odtype, data_type_t idtype, int reduce_op, int saturate) {                    \
    reduce(Call(Op::name), R_addr, A_addr, shape, R_stride, A_stride, {odtype, idtype}, reduce_op, saturate, planes); \
  }
REDUCE(tpu_bdc_hw_reduce, true)
REDUCE(tpu_bdc_w_reduce, false)
}
