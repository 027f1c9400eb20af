// Reciprocal with correction steps.
#include "device/isa/op_names.hpp"
#include "firmware/composite/composite.hpp"

namespace softtpu {
namespace {

// The error of f32 is as small as it gets after two or three; a larger count is an argument gone wrong.
constexpr int kMaxCorrections = 64;

struct Correction {
  local_addr_t dst, src, value, error, next_error;
  const dim4* src_stride;
};

// One correction: z = y + y (1 - x y), kept where its error 1 - x z is smaller.
void correct(const Steps& s, const Correction& a) {
  const scalar_t one = s.constant(1.0F);
  const dim4* shape = s.shape();
  const auto error_of_value = [&](local_addr_t error) {
    tpu_bdc_fp_mul(error, a.value, a.src, shape, nullptr, nullptr, a.src_stride, DT_FP32);
    tpu_bdc_fp_C_sub(error, error, one, shape, nullptr, nullptr, DT_FP32);
  };
  tpu_bdc_cpy(a.value, a.dst, shape, nullptr, nullptr, DT_FP32);
  error_of_value(a.error);
  tpu_bdc_fp32_mac(a.value, a.value, a.error, shape, nullptr, nullptr, nullptr);
  error_of_value(a.next_error);
  s.abs(a.error, a.error);
  s.abs(a.next_error, a.next_error);
  const variable_t old_error = tensor_variable(a.error);
  const variable_t new_error = tensor_variable(a.next_error);
  const variable_t old_value = tensor_variable(a.dst);
  const variable_t new_value = tensor_variable(a.value);
  tpu_bdc_less_select(a.dst, &old_error, &new_error, &old_value, &new_value, shape, DT_FP32, DT_FP32);
}

void compensate(Op op, local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                local_addr_t work2_addr, const dim4* shape, const dim4* src_stride, int iterations, int corrections) {
  Composite run(op, shape);
  run.writes("dst", dst_addr).writes("work0", work0_addr).writes("work1", work1_addr).writes("work2", work2_addr);
  run.reads("src", src_addr, src_stride);
  run.in_range("num_iter", iterations, 1, 4).in_range("num_comp", corrections, 0, kMaxCorrections);
  const Steps s = run.steps();
  tpu_bdc_fp32_tunable_reciprocal(dst_addr, src_addr, s.shape(), nullptr, src_stride, iterations);
  const Correction step{dst_addr, src_addr, work0_addr, work1_addr, work2_addr, src_stride};
  for (int i = 0; i < corrections && !run.call().core().faulted(); ++i) correct(s, step);
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_bdc_fp32_compensate_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
                                        local_addr_t work1_addr, local_addr_t work2_addr, const dim4* shape,
                                        const dim4* src_stride, int num_comp) {
  compensate(Op::tpu_bdc_fp32_compensate_reciprocal, dst_addr, src_addr, work0_addr, work1_addr, work2_addr, shape,
             src_stride, 3, num_comp);
}

void tpu_bdc_fp32_tunable_compensate_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
                                                local_addr_t work1_addr, local_addr_t work2_addr, const dim4* shape,
                                                const dim4* src_stride, int num_iter, int num_comp) {
  compensate(Op::tpu_bdc_fp32_tunable_compensate_reciprocal, dst_addr, src_addr, work0_addr, work1_addr, work2_addr,
             shape, src_stride, num_iter, num_comp);
}
}
