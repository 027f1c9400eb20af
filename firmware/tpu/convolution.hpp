// Builds the command of a convolution from the arguments of its functions.
#pragma once

#include <algorithm>

#include "device/chip/rules.hpp"
#include "firmware/tpu/window_call.hpp"

namespace softtpu {

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
    if (add_old) call_.dtype("output_dtype with result_add", type);
    return *this;
  }
  Convolution& weight(local_addr_t addr, Dtype type) {
    const int group = weight_group(call_.chip(), type);
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
    // Without a sign, an unused bias changes no sum.
    cmd_.bias_type = !used && is_integer(type) && call_.chip().has(Quirk::kUntypedBias) ? Dtype::kUint32 : type;
    if (used) cmd_.bias = per_output_channel(addr, type);
    return *this;
  }
  // The address at which a transposed form finds its bias.
  local_addr_t deconv_bias(local_addr_t addr) const { return call_.chip().has(Quirk::kDeconvOperands) ? 0 : addr; }
  Convolution& zero_point(const scalar_t& value, data_type_t type) {
    const Dtype named = call_.dtype("kzp_dtype", type);
    if (call_.chip().has(Quirk::kByteZeroPointType)) {
      call_.require(contains(kInts8, named), "{argument} is {value} (allowed: {limit}).", "kzp_dtype", to_text(named),
                    "int8, uint8");
    }
    const Chip& chip = call_.chip();
    const bool raw = chip.has(Quirk::kRawZeroPoints) && !chip.has(Quirk::kNoKernelPoints);
    cmd_.zero_point = scalar(value, raw ? Dtype::kUint8 : named);
    return *this;
  }
  Convolution& zero_points(local_addr_t addr, data_type_t type) {
    const Dtype named = call_.dtype("kzp_dtype", type);
    cmd_.zero_point = per_output_channel(addr, call_.chip().has(Quirk::kRawZeroPoints) ? Dtype::kInt16 : named);
    return *this;
  }
  Convolution& zero_point(const Scalar& value) {
    cmd_.zero_point = value;
    return *this;
  }
  Convolution& padding_values(const scalar_t& padding) {
    cmd_.padding = scalar(padding, cmd_.src.dtype);
    return *this;
  }
  Convolution& padding_values(const scalar_t& padding, const scalar_t& insertion) {
    cmd_.insertion = scalar(insertion, cmd_.src.dtype);
    return padding_values(padding);
  }
  Convolution& padding_values(local_addr_t pairs) {
    cmd_.padding = channel_pairs(pairs, cmd_.src.shape, cmd_.src.dtype);
    return *this;
  }
  Convolution& shift(int rshift, bool relu) {
    cmd_.rshift = rshift;
    return this->relu(relu);
  }
  Convolution& relu(bool used) {
    cmd_.relu = used;
    return *this;
  }
  Convolution& rescale(local_addr_t addr) {
    cmd_.rescale = per_output_channel(addr, Dtype::kFp32);
    return *this;
  }
  Convolution& rescale(const Scalar& value) {
    cmd_.rescale = value;
    return *this;
  }
  Convolution& requant(const std::optional<Requant>& requant, bool symmetric) {
    cmd_.requant = requant;
    cmd_.symmetric = symmetric;
    return *this;
  }
  void issue() const { call_.issue(cmd_); }
  const Call& call() const { return call_; }
  Dtype input_type() const { return cmd_.src.dtype; }
  const Tensor& result() const { return cmd_.dst; }

 private:
  // More weights than a local memory holds; keeps the extent an int, and validation refuses it.
  static constexpr std::int64_t kMaxUnits = 1 << 24;

  Tensor per_output_channel(local_addr_t addr, Dtype type) const {
    return call_.local(addr, Dim4{1, cmd_.dst.shape.c, 1, 1}, Stride4{0, 1, 0, 0}, type);
  }

  Call call_;
  Conv2dCmd cmd_;
};

}  // namespace softtpu
