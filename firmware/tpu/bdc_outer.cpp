// Entry points of vector by vector functions.
#include <fmt/format.h>

#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

constexpr int kMaxLength = 65535;
constexpr int kNewtonSteps = 3;  // of the quotient

// The two vectors and how their elements are spread over channels: vector i is [1, ceil(length / per channel), 1, per
// channel], dst is [length of src0, channels of src1, 1, per channel of src1].
class Vectors {
 public:
  Vectors(const Call& call, int src0_len, int src1_len, int src0_len_per_channel, int src1_len_per_channel)
      : call_(call), length_(src0_len) {
    const bool legal = is_length("src0_len", src0_len) && is_length("src1_len", src1_len) &&
                       is_length("src0_len_per_channel", src0_len_per_channel) &&
                       is_length("src1_len_per_channel", src1_len_per_channel);
    if (!legal) return;
    src0_ = {1, (src0_len + src0_len_per_channel - 1) / src0_len_per_channel, 1, src0_len_per_channel};
    src1_ = {1, (src1_len + src1_len_per_channel - 1) / src1_len_per_channel, 1, src1_len_per_channel};
  }

  Tensor src0(local_addr_t addr, Dtype type) const { return call_.local(addr, src0_, type); }
  Tensor dst(local_addr_t addr, Dtype type) const { return call_.local(addr, result_shape(), type); }
  // src1 repeated over the batches of dst.
  Tensor src1(local_addr_t addr, Dtype type) const {
    Tensor tensor = call_.local(addr, src1_, type);
    tensor.shape = result_shape();
    tensor.stride.n = 0;
    return tensor;
  }

 private:
  bool is_length(const char* name, int value) const { return call_.within(name, value, 1, kMaxLength); }
  Dim4 result_shape() const { return {length_, src1_.c, 1, src1_.w}; }

  const Call& call_;
  int length_;
  Dim4 src0_, src1_;
};

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OP_OUTER(name, mode, types)                                                                            \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len, \
            int src0_len_per_channel, int src1_len_per_channel, data_type_t dtype) {                           \
    const Call call(Op::name);                                                                                 \
    const Vectors vectors(call, src0_len, src1_len, src0_len_per_channel, src1_len_per_channel);               \
    const Dtype type = call.dtype("dtype", dtype);                                                             \
    call.issue(OuterCmd{vectors.src0(src0_addr, type),                                                         \
                        ArithCmd{mode, vectors.dst(dst_addr, type), {}, vectors.src1(src1_addr, type)}});      \
  }
#define OP_OUTER_COMPARE(name, compare)                                                                             \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val, int src0_len, \
            int src1_len, int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype,                \
            data_type_t src_dtype) {                                                                                \
    const Call call(Op::name);                                                                                      \
    const Vectors vectors(call, src0_len, src1_len, src0_len_per_channel, src1_len_per_channel);                    \
    const Dtype dst_type = call.dtype("dst_dtype", dst_dtype);                                                      \
    const Dtype src_type = call.dtype("src_dtype", src_dtype);                                                      \
    call.issue(OuterCmd{vectors.src0(src0_addr, src_type), CompareCmd{compare,                                      \
                                                                      vectors.dst(dst_addr, dst_type),              \
                                                                      {},                                           \
                                                                      vectors.src1(src1_addr, src_type),            \
                                                                      scalar(true_val, dst_type)}});                \
  }
#define OP_OUTER_INT(name, mode)                                                                               \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len, int src1_len, \
            int src0_len_per_channel, int src1_len_per_channel, data_type_t dst_dtype, data_type_t src0_dtype, \
            data_type_t src1_dtype, bool saturation) {                                                         \
    const Call call(Op::name);                                                                                 \
    const Vectors vectors(call, src0_len, src1_len, src0_len_per_channel, src1_len_per_channel);               \
    const Dtype dst_type = call.dtype("dst_dtype", dst_dtype);                                                 \
    const Dtype src0_type = call.dtype("src0_dtype", src0_dtype);                                              \
    const Dtype src1_type = call.dtype("src1_dtype", src1_dtype);                                              \
    call.issue(OuterCmd{vectors.src0(src0_addr, src0_type), IntArithCmd{mode,                                  \
                                                                        vectors.dst(dst_addr, dst_type),       \
                                                                        {},                                    \
                                                                        vectors.src1(src1_addr, src1_type),    \
                                                                        Scalar{0, Dtype::kInt8},               \
                                                                        Rounding::kHalfToEven,                 \
                                                                        saturation}});                         \
  }
#include "device/isa/ops.def"

void tpu_bdc_fp32_vc_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, int src0_len,
                         int src1_len, int src0_len_per_channel, int src1_len_per_channel) {
  const Call call(Op::tpu_bdc_fp32_vc_div);
  const Vectors vectors(call, src0_len, src1_len, src0_len_per_channel, src1_len_per_channel);
  call.issue(OuterCmd{
      vectors.src0(src0_addr, Dtype::kFp32),
      DivideCmd{vectors.dst(dst_addr, Dtype::kFp32), {}, vectors.src1(src1_addr, Dtype::kFp32), kNewtonSteps}});
}
}
