// Entry points of vector by vector functions.
#include <fmt/format.h>

#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

constexpr int kMaxLength = 65535;
constexpr int kNewtonSteps = 3;  // of the quotient

// The two vectors and how their elements are spread over channels: vector i is [1, ceil(length / per channel), 1, per
// channel], dst is [length of src0, channels of src1, 1, per channel of src1].
struct Places {
  local_addr_t dst, src0, src1;
};
struct Lengths {
  int src0, src1, src0_per_channel, src1_per_channel;
};
class Vectors {
 public:
  Vectors(const Call& call, const Places& at, const Lengths& of) : call_(call), at_(at), length_(of.src0) {
    const bool legal = is_length("src0_len", of.src0) && is_length("src1_len", of.src1) &&
                       is_length("src0_len_per_channel", of.src0_per_channel) &&
                       is_length("src1_len_per_channel", of.src1_per_channel);
    if (!legal) return;
    src0_ = {1, (of.src0 + of.src0_per_channel - 1) / of.src0_per_channel, 1, of.src0_per_channel};
    src1_ = {1, (of.src1 + of.src1_per_channel - 1) / of.src1_per_channel, 1, of.src1_per_channel};
  }

  Tensor src0(Dtype type) const { return call_.local(at_.src0, src0_, type); }
  Tensor dst(Dtype type) const { return call_.local(at_.dst, result_shape(), type); }
  // src1 repeated over the batches of dst.
  Tensor src1(Dtype type) const {
    Tensor tensor = call_.local(at_.src1, src1_, type);
    tensor.shape = result_shape();
    tensor.stride.n = 0;
    return tensor;
  }

 private:
  bool is_length(const char* name, int value) const { return call_.is_in_range(name, value, 1, kMaxLength); }
  Dim4 result_shape() const { return {length_, src1_.c, 1, src1_.w}; }

  const Call& call_;
  Places at_;
  int length_;
  Dim4 src0_, src1_;
};

void outer(const Call& call, ArithMode mode, const Places& at, const Lengths& lengths, data_type_t dtype) {
  const Vectors vectors(call, at, lengths);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(OuterCmd{vectors.src0(type), ArithCmd{mode, vectors.dst(type), {}, vectors.src1(type)}});
}

void outer_compare(const Call& call, Compare compare, const Places& at, scalar_t true_val, const Lengths& lengths,
                   data_type_t dst_dtype, data_type_t src_dtype) {
  const Vectors vectors(call, at, lengths);
  const Dtype dst_type = call.dtype("dst_dtype", dst_dtype);
  const Dtype src_type = call.dtype("src_dtype", src_dtype);
  call.issue(
      OuterCmd{vectors.src0(src_type),
               CompareCmd{compare, vectors.dst(dst_type), {}, vectors.src1(src_type), scalar(true_val, dst_type)}});
}

void outer_int(const Call& call, IntMode mode, const Places& at, const Lengths& lengths, data_type_t dst_dtype,
               data_type_t src0_dtype, data_type_t src1_dtype, bool saturation) {
  const Vectors vectors(call, at, lengths);
  const Dtype dst_type = call.dtype("dst_dtype", dst_dtype);
  const Dtype src0_type = call.dtype("src0_dtype", src0_dtype);
  const Dtype src1_type = call.dtype("src1_dtype", src1_dtype);
  call.issue(OuterCmd{vectors.src0(src0_type), IntArithCmd{mode,
                                                           vectors.dst(dst_type),
                                                           {},
                                                           vectors.src1(src1_type),
                                                           Scalar{0, Dtype::kInt8},
                                                           Rounding::kHalfToEven,
                                                           saturation}});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OP(family, ...) OP_##family(__VA_ARGS__)
#define OP_bdc(...)
#define OP_outer(name, mode, types)                                                                            \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len, \
            int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype) {                           \
    outer(Call(Op::name), mode, {dst_addr, src0_addr, src1_addr},                                              \
          {src0_len, src1_len, src0_len_per_channel, src1_len_per_channel}, dtype);                            \
  }
#define OP_outer_compare(name, compare)                                                                             \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val, int src0_len, \
            int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,                \
            data_type_t src_dtype) {                                                                                \
    outer_compare(Call(Op::name), compare, {dst_addr, src0_addr, src1_addr}, true_val,                              \
                  {src0_len, src1_len, src0_len_per_channel, src1_len_per_channel}, dst_dtype, src_dtype);          \
  }
#define OP_outer_int(name, mode)                                                                                   \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len,     \
            int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype, data_type_t src0_dtype,     \
            data_type_t src1_dtype, bool saturation) {                                                             \
    outer_int(Call(Op::name), mode, {dst_addr, src0_addr, src1_addr},                                              \
              {src0_len, src1_len, src0_len_per_channel, src1_len_per_channel}, dst_dtype, src0_dtype, src1_dtype, \
              saturation);                                                                                         \
  }
#include "device/isa/ops/outer.def"
#undef OP

void tpu_bdc_fp32_vc_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
                         int src1_len, int src0_len_per_channel, int src1_len_per_channel) {
  const Call call(Op::tpu_bdc_fp32_vc_div);
  const Vectors vectors(call, {dst_addr, src0_addr, src1_addr},
                        {src0_len, src1_len, src0_len_per_channel, src1_len_per_channel});
  call.issue(OuterCmd{vectors.src0(Dtype::kFp32),
                      DivideCmd{vectors.dst(Dtype::kFp32), {}, vectors.src1(Dtype::kFp32), kNewtonSteps}});
}
}
