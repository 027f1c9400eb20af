// What products and windows of all chips have in common.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/chip/layout.hpp"
#include "device/instruction/operands.hpp"

namespace softtpu::stream {

inline int low_byte(std::uint64_t value) { return static_cast<int>(value & 0xFF); }

inline Window window_of(const Operands& in) {
  Window window;
  window.kernel = {in.size(Field::opd1_h), in.size(Field::opd1_w)};
  window.stride = {in.size(Field::res_op_y_str), in.size(Field::res_op_x_str)};
  window.dilation = {in.size(Field::opd1_y_ins0) + 1, in.size(Field::opd1_x_ins0) + 1};
  window.insert = {in.size(Field::opd0_y_ins0), in.size(Field::opd0_x_ins0)};
  window.padding = {in.size(Field::opd0_up_pad), in.size(Field::opd0_dn_pad), in.size(Field::opd0_lf_pad),
                    in.size(Field::opd0_rt_pad)};
  window.rotated_180 = in.flag(Field::kernel_rotate);
  window.beyond = static_cast<Beyond>(in.value(Field::pad_mode));
  return window;
}

// The pair (padding, insertion) of each input channel.
inline Tensor channel_pairs(const Operands& in, int channels, Dtype type) {
  return Operands::local(in.value(Field::opd3_addr), Dim4{1, channels, 1, 2}, Stride4{0, 2, 0, 1}, type, false);
}

// The size of the result is what counts: windows that reach beyond the padding below and right of the input see more of
// it, and padding or input that no window reaches is not there.
inline void fit_input(const Dim4& result, Dim4& input, Window& window) {
  const auto after = [](int windows, int stride, int kernel, int dilation, int before, int size, int inserted) {
    return (windows - 1) * stride + (kernel - 1) * dilation + 1 - before - ((size - 1) * (inserted + 1) + 1);
  };
  const int bottom = after(result.h, window.stride.h, window.kernel.h, window.dilation.h, window.padding.top, input.h,
                           window.insert.h);
  const int right = after(result.w, window.stride.w, window.kernel.w, window.dilation.w, window.padding.left, input.w,
                          window.insert.w);
  const Dim2 size = output_size(input, window);
  const auto fit = [](int needed, int inserted, int& extent, int& padding) {
    padding = std::max(needed, 0);
    if (needed < 0 && inserted == 0) extent += needed;
    if (needed < 0 && inserted != 0) padding = needed;
  };
  if (size.h != result.h) fit(bottom, window.insert.h, input.h, window.padding.bottom);
  if (size.w != result.w) fit(right, window.insert.w, input.w, window.padding.right);
}

// Pooling counts its windows by the input, the padding and the kernel and stores them one after the other, so that rows
// of another width than the result's lie across its rows (golden-bmodel bm1690/instr_2 pord/0012). Depthwise
// convolutions of bytes follow the result's size, unless the kernel is spread (pord/0118, pord/0121).
inline void require_own_width(const Operands& in, const Dim4& result, const Dim4& input, const Window& window,
                              bool follows_result) {
  const int width = output_size(input, window).w;
  const bool plain = window.dilation.h == 1 && window.dilation.w == 1;
  if (width == result.w || (result.h == 1 && width > result.w) || (follows_result && plain)) return;
  in.refuse(Field::res0_w, fmt::format("is another width than the {} of the windows", width));
}

// The part of a tensor that windows reach; it lies where the whole one lies.
inline Tensor reached(Tensor whole, const Dim4& shape) {
  whole.shape = shape;
  return whole;
}

PoolMode pool_mode(const Operands& in);
// The weights of a depthwise convolution, or the factor of an average.
Operand pool_weight(const Operands& in, PoolMode mode, const Dim4& result, Dtype type);
Issued region_pooling(const Operands& in, PoolMode mode);

// Whether instructions end products themselves, with what registers hold.
inline bool ends_products(const Operands& in) { return in.has(Field::rq); }
Issued ended_convolution(const Operands& in);
Issued ended_matrix_product(const Operands& in);
Issued ended_row_product(const Operands& in);
Issued ended_pooling(const Operands& in);

}  // namespace softtpu::stream
