// What BM1684's instructions have in common: one layout for all operations of the tensor unit, absolute addresses.
#pragma once

#include "device/chip/layout.hpp"
#include "device/instruction/operands.hpp"

namespace softtpu::stream {

inline constexpr int kOperandsWithBias = 3;  // what tsk_opd_num has where there is a bias
inline constexpr std::uint64_t kOkkByte = 0, kOkkSingle = 2, kOkkHalf = 3, kOkkWord = 4;  // codes of types

inline constexpr TiuOperand kOkkResult{Field::res0_addr,  Field::res0_prec,  Field::res0_str,  Field::res0_n_str,
                                       Field::res0_c_str, Field::res0_h_str, Field::res0_w_str};
inline constexpr TiuOperand kOkkFirst{Field::opd0_addr,  Field::opd0_prec,  Field::opd0_str,  Field::opd0_n_str,
                                      Field::opd0_c_str, Field::opd0_h_str, Field::opd0_w_str};
inline constexpr TiuOperand kOkkSecond{Field::opd1_addr,  Field::opd1_prec,  Field::opd1_str,  Field::opd1_n_str,
                                       Field::opd1_c_str, Field::opd1_h_str, Field::opd1_w_str};

class OkkOperands {
 public:
  explicit OkkOperands(const Operands& operands) : in(operands), shape(operands.result_shape()) {}

  // Integers of 8 or 16 bits, packed into words.
  bool packed() const { return is_packed(Field::res0_prec) && is_packed(Field::opd0_prec); }
  void require_words() const {
    for (const Field prec : {Field::res0_prec, Field::opd0_prec}) {
      if (in.value(prec) != kOkkSingle && in.value(prec) != kOkkWord) in.refuse(prec, "is no type of 32 bits");
    }
  }

  std::uint64_t local_address(Field addr) const {
    if (!in.chip().local_mem.contains(in.value(addr))) in.refuse(addr, "is no address of local memory");
    return in.value(addr) - in.chip().local_mem.start;
  }
  Tensor tensor(const TiuOperand& which, const Dim4& of, Dtype type) const {
    const std::uint64_t at = local_address(which.addr);
    const Layout layout = in.layout_of(which);
    if (layout != Layout::kGiven) return in.tensor_at(at, of, type, layout);
    const auto stride = [&](Field field) { return static_cast<int>(in.value(field)); };
    return Operands::local(
        at, of, {stride(which.n_stride), stride(which.c_stride), stride(which.h_stride), stride(which.w_stride)}, type,
        false);
  }
  Tensor aligned(Field addr, const Dim4& of, Dtype type = Dtype::kFp32) const {
    return in.tensor_at(local_address(addr), of, type, Layout::kAligned);
  }
  Tensor per_channel(Field addr, int channels) const {
    return in.tensor_at(local_address(addr), {1, channels, 1, 1}, Dtype::kFp32, Layout::kPerChannel);
  }
  Tensor dst(Dtype type = Dtype::kFp32) const { return tensor(kOkkResult, shape, type); }
  Operand first(Dtype type = Dtype::kFp32) const { return operand(kOkkFirst, Field::opd0_const, type); }
  Operand second(Dtype type = Dtype::kFp32) const { return operand(kOkkSecond, Field::opd1_const, type); }
  Operand selected(Field addr, Field is_constant) const {
    if (in.flag(is_constant)) return in.constant(addr, Dtype::kUint32);
    return aligned(addr, shape, Dtype::kUint32);
  }
  Tensor source(Dtype type = Dtype::kFp32) const {
    if (in.flag(Field::opd0_const)) in.refuse(Field::opd0_const, "is set: the operand of this function is a tensor");
    return tensor(kOkkFirst, shape, type);
  }
  bool words() const { return in.value(Field::res0_prec) == kOkkWord; }
  bool shifts_arithmetically() const { return in.flag(Field::shift_typ); }

  const Operands& in;
  Dim4 shape;

 private:
  bool is_packed(Field prec) const { return in.value(prec) == kOkkByte || in.value(prec) == kOkkHalf; }
  Operand operand(const TiuOperand& which, Field is_constant, Dtype type) const {
    if (in.flag(is_constant)) return in.constant(which.addr, type);
    return tensor(which, shape, type);
  }
};

// How a window of a convolution or pooling moves. Zeros between the elements of the input and kernels that are turned
// are refused.
OkkWindow okk_window(const Operands& in);
// Without zeros between neighbours of the input, and with the kernel as it is stored.
OkkWindow okk_plain_window(const Operands& in);
// Operations on packed integers (translate_okk_bytes.cpp).
Issued okk_packed(const OkkOperands& of);

}  // namespace softtpu::stream
