// Entry points of BM1684's element-wise functions on 32-bit elements.
#include <tuple>
#include <utility>

#include "device/isa/op_names.hpp"
#include "firmware/okk/okk_call.hpp"

namespace softtpu {
namespace {

constexpr int kDefaultTerms = 32;

// The operands of a function of one tensor with strides.
struct UnaryBody {
  const Call& call;
  Dim4 dim;
  local_addr_t dst_addr, src_addr;
  const dim4 *dst_stride, *src_stride;

  Tensor dst() const { return call.local(dst_addr, dim, dst_stride, Dtype::kFp32); }
  Tensor src() const { return call.local(src_addr, dim, src_stride, Dtype::kFp32); }
  Tensor channels(local_addr_t addr) const { return call.per_channel(addr, dim, Dtype::kFp32); }
};

constexpr Scalar kZero{0, Dtype::kFp32};
constexpr Scalar kOne{0x3F800000U, Dtype::kFp32};
constexpr Scalar kTwo{0x40000000U, Dtype::kFp32};

// The tensors of exp, sigmoid and tanh, all in the 128-byte aligned layout.
struct ExpBody {
  ExpBody(const Call& c, local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape)
      : call(c),
        dim(c.dim("shape", shape)),
        dst(aligned_tensor(c, "dst", dst_addr, dim)),
        src(aligned_tensor(c, "src", src_addr, dim)),
        work(aligned_tensor(c, "work", work_addr, dim)) {
    for (const auto& [name, addr] : {std::pair("dst", dst_addr), std::pair("src", src_addr)}) {
      call.require(work_addr != addr, "work and {argument} have the same address ({value}); work has to be apart.",
                   name, Address{work_addr});
    }
    check_operand(call, "src", src, dst);
    check_operand(call, "work", work, dst);
  }

  // e^x = e^t + e^t * series(x - t), t the whole part of x from a table of 256; work keeps the series. The order of the
  // steps shows when dst is src: the fraction is then lost and e^t remains.
  auto exp_of(const Tensor& x, int terms) const {
    return std::tuple(OkkUnaryCmd{OkkUnaryMode::kToInt32, dst, x}, OkkUnaryCmd{OkkUnaryMode::kLookupInt, dst, dst},
                      ArithCmd{ArithMode::kSub, work, x, dst}, OkkTaylorCmd{work, work, terms, true},
                      OkkUnaryCmd{OkkUnaryMode::kToInt32, dst, dst}, OkkUnaryCmd{OkkUnaryMode::kLookupExp, dst, dst},
                      OkkMulAddCmd{dst, work, dst, dst});
  }
  template <class... Steps>
  void issue(const Steps&... steps) const {
    std::apply([&](const auto&... cmd) { call.issue_all(cmd...); }, std::tuple_cat(steps...));
  }

  const Call& call;
  Dim4 dim;
  Tensor dst, src, work;
};

void exp(const Call& call, local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape,
         int terms) {
  const ExpBody body(call, dst_addr, src_addr, work_addr, shape);
  body.issue(body.exp_of(body.src, terms));
}

// 1 / (1 + e^-x)
void sigmoid(const Call& call, local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape,
             int terms) {
  const ExpBody body(call, dst_addr, src_addr, work_addr, shape);
  const Tensor& dst = body.dst;
  body.issue(std::tuple(ArithCmd{ArithMode::kSub, body.work, kZero, body.src}), body.exp_of(body.work, terms),
             std::tuple(ArithCmd{ArithMode::kAdd, dst, dst, kOne}, OkkWordCmd{OkkWordMode::kDiv, dst, kOne, dst}));
}

// 1 - 2 q with q = i / (E + i), E = e^x, i = 1 / E.
void tanh(const Call& call, local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape,
          int terms) {
  const ExpBody body(call, dst_addr, src_addr, work_addr, shape);
  const Tensor& dst = body.dst;
  const Tensor& work = body.work;
  body.issue(body.exp_of(body.src, terms),
             std::tuple(OkkWordCmd{OkkWordMode::kDiv, work, kOne, dst}, ArithCmd{ArithMode::kAdd, dst, dst, work},
                        OkkWordCmd{OkkWordMode::kDiv, dst, work, dst}, ArithCmd{ArithMode::kMul, dst, dst, kTwo},
                        ArithCmd{ArithMode::kSub, dst, kOne, dst}));
}

// A tensor or a constant, as the caller's union says.
template <class Union>
Operand select_operand(const Call& call, const char* name, const Union* value, const Dim4& dim, Dtype type) {
  if (!call.given(name, value)) return kZero;
  // A union that its caller has not filled holds any byte, which must not be read as a bool.
  if (*reinterpret_cast<const unsigned char*>(&value->is_addr) != 0)
    return aligned_tensor(call, name, value->context.addr, dim, type);
  return scalar(value->context.val, type);
}

void select(const Call& call, OkkCompare compare, local_addr_t dst_addr, const fp32_or_addr_t* src0,
            const fp32_or_addr_t* src1, const x32_or_addr_t* select0, const x32_or_addr_t* select1, const dim4* shape) {
  const Dim4 dim = call.dim("shape", shape);
  call.issue(OkkSelectCmd{compare, aligned_tensor(call, "dst", dst_addr, dim, Dtype::kUint32),
                          select_operand(call, "src0", src0, dim, Dtype::kFp32),
                          select_operand(call, "src1", src1, dim, Dtype::kFp32),
                          select_operand(call, "select0", select0, dim, Dtype::kUint32),
                          select_operand(call, "select1", select1, dim, Dtype::kUint32)});
}

// A tensor of a function with strides.
struct Placed {
  local_addr_t addr;
  const dim4* stride;
};

// dst = src0 <mode> src1.
template <class Cmd, class Mode>
void binary(const Call& call, Mode mode, Dtype type, const Placed& dst, const Placed& src0, const Placed& src1,
            const dim4* shape) {
  const Dim4 dim = call.dim("shape", shape);
  call.issue(Cmd{mode, call.local(dst.addr, dim, dst.stride, type), call.local(src0.addr, dim, src0.stride, type),
                 call.local(src1.addr, dim, src1.stride, type)});
}

// dst = src <mode> C, or with the constant first.
template <class Cmd, class Mode>
void binary_c(const Call& call, Mode mode, Dtype type, const Placed& dst, const Placed& src, const Scalar& C,
              bool constant_first, const dim4* shape) {
  const Dim4 dim = call.dim("shape", shape);
  const Tensor result = call.local(dst.addr, dim, dst.stride, type);
  Operand a = call.local(src.addr, dim, src.stride, type), b = C;
  if (constant_first) std::swap(a, b);
  call.issue(Cmd{mode, result, a, b});
}

void unary(const Call& call, OkkUnaryMode mode, Dtype type, const Placed& dst, const Placed& src, const dim4* shape) {
  const Dim4 dim = call.dim("shape", shape);
  call.issue(
      OkkUnaryCmd{mode, call.local(dst.addr, dim, dst.stride, type), call.local(src.addr, dim, src.stride, type)});
}

void aligned_unary(const Call& call, OkkUnaryMode mode, Dtype type, local_addr_t dst_addr, local_addr_t src_addr,
                   const dim4* shape) {
  const Dim4 dim = call.dim("shape", shape);
  call.issue(
      OkkUnaryCmd{mode, aligned_tensor(call, "dst", dst_addr, dim, type), aligned_tensor(call, "src", src_addr, dim)});
}

void select_value(const Call& call, OkkCompare compare, const Placed& dst, const Placed& src0, const Placed& src1,
                  x32 value, const dim4* shape) {
  const Dim4 dim = call.dim("shape", shape);
  call.issue(OkkSelectCmd{compare, call.local(dst.addr, dim, dst.stride, Dtype::kUint32),
                          call.local(src0.addr, dim, src0.stride, Dtype::kFp32),
                          call.local(src1.addr, dim, src1.stride, Dtype::kFp32), scalar(value, Dtype::kUint32), kZero});
}

// src <compare> C, or with the constant first.
void select_value_c(const Call& call, OkkCompare compare, bool constant_first, const Placed& dst, const Placed& src,
                    float C, x32 value, const dim4* shape) {
  const Dim4 dim = call.dim("shape", shape);
  Operand a = call.local(src.addr, dim, src.stride, Dtype::kFp32), b = scalar(C, Dtype::kFp32);
  if (constant_first) std::swap(a, b);
  call.issue(OkkSelectCmd{compare, call.local(dst.addr, dim, dst.stride, Dtype::kUint32), a, b,
                          scalar(value, Dtype::kUint32), kZero});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OKK(family, ...) OKK_##family(__VA_ARGS__)
#define OKK_bdc(...)
#define OKK_composite(...)
#define OKK_binary(name, command, mode, type)                                                         \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape, \
            const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride) {               \
    binary<command>(Call(Op::name), mode, type, {dst_addr, dst_stride}, {src0_addr, src0_stride},     \
                    {src1_addr, src1_stride}, shape);                                                 \
  }
#define OKK_binary_c(name, command, mode, type, c_type)                                                            \
  void name(local_addr_t dst_addr, local_addr_t src_addr, c_type C, const dim4* shape, const dim4* dst_stride,     \
            const dim4* src_stride) {                                                                              \
    binary_c<command>(Call(Op::name), mode, type, {dst_addr, dst_stride}, {src_addr, src_stride}, scalar(C, type), \
                      false, shape);                                                                               \
  }
#define OKK_c_binary(name, command, mode, type, c_type)                                                            \
  void name(local_addr_t dst_addr, local_addr_t src_addr, c_type C, const dim4* shape, const dim4* dst_stride,     \
            const dim4* src_stride) {                                                                              \
    binary_c<command>(Call(Op::name), mode, type, {dst_addr, dst_stride}, {src_addr, src_stride}, scalar(C, type), \
                      true, shape);                                                                                \
  }
#define OKK_unary(name, mode, type)                                                                  \
  void name(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride, \
            const dim4* src_stride) {                                                                \
    unary(Call(Op::name), mode, type, {dst_addr, dst_stride}, {src_addr, src_stride}, shape);        \
  }
#define OKK_aligned_unary(name, mode, type)                                    \
  void name(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape) { \
    aligned_unary(Call(Op::name), mode, type, dst_addr, src_addr, shape);      \
  }
#include "device/isa/ops/okk_elementwise.def"
#undef OKK

void okk_bdc_32bit_set_C(local_addr_t dst_addr, x32 C, const dim4* shape, const dim4* dst_stride) {
  const Call call(Op::okk_bdc_32bit_set_C);
  const Dim4 dim = call.dim("shape", shape);
  call.issue(OkkUnaryCmd{OkkUnaryMode::kCopy, call.local(dst_addr, dim, dst_stride, Dtype::kUint32),
                         scalar(C, Dtype::kUint32)});
}

void okk_bdc_neg(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                 const dim4* src_stride) {
  const Call call(Op::okk_bdc_neg);
  const UnaryBody body{call, call.dim("shape", shape), dst_addr, src_addr, dst_stride, src_stride};
  call.issue(ArithCmd{ArithMode::kSub, body.dst(), kZero, body.src()});
}

void okk_bdc_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                        const dim4* src_stride) {
  const Call call(Op::okk_bdc_reciprocal);
  const UnaryBody body{call, call.dim("shape", shape), dst_addr, src_addr, dst_stride, src_stride};
  call.issue(OkkWordCmd{OkkWordMode::kDiv, body.dst(), kOne, body.src()});
}

void okk_bdc_mac(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
                 const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride) {
  const Call call(Op::okk_bdc_mac);
  const UnaryBody body{call, call.dim("shape", shape), dst_addr, src0_addr, dst_stride, src0_stride};
  const Tensor dst = body.dst();
  call.issue(OkkMulAddCmd{dst, body.src(), call.local(src1_addr, body.dim, src1_stride, Dtype::kFp32), dst});
}

void okk_bdc_mac_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape, const dim4* dst_stride,
                   const dim4* src_stride) {
  const Call call(Op::okk_bdc_mac_C);
  const UnaryBody body{call, call.dim("shape", shape), dst_addr, src_addr, dst_stride, src_stride};
  const Tensor dst = body.dst();
  call.issue(OkkMulAddCmd{dst, body.src(), scalar(C, Dtype::kFp32), dst});
}

void okk_bdc_bias(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t bias_addr, const dim4* shape,
                  const dim4* dst_stride, const dim4* src_stride) {
  const Call call(Op::okk_bdc_bias);
  const UnaryBody body{call, call.dim("shape", shape), dst_addr, src_addr, dst_stride, src_stride};
  call.issue(ArithCmd{ArithMode::kAdd, body.dst(), body.src(), body.channels(bias_addr)});
}

void okk_bdc_scale(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t scale_addr, const dim4* shape,
                   const dim4* dst_stride, const dim4* src_stride) {
  const Call call(Op::okk_bdc_scale);
  const UnaryBody body{call, call.dim("shape", shape), dst_addr, src_addr, dst_stride, src_stride};
  const Tensor scale = body.channels(scale_addr);
  if (dst_stride != nullptr || src_stride != nullptr) {
    call.issue(ArithCmd{ArithMode::kMul, body.dst(), body.src(), scale});
  } else {
    // Without strides the chip takes its scale-and-bias unit with a bias of zero: a product of -0 becomes +0.
    call.issue(OkkMulAddCmd{body.dst(), body.src(), scale, kZero});
  }
}

void okk_bdc_scale_bias(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t scale_addr, local_addr_t bias_addr,
                        const dim4* shape, const dim4* dst_stride, const dim4* src_stride) {
  const Call call(Op::okk_bdc_scale_bias);
  const UnaryBody body{call, call.dim("shape", shape), dst_addr, src_addr, dst_stride, src_stride};
  call.issue(OkkMulAddCmd{body.dst(), body.src(), body.channels(scale_addr), body.channels(bias_addr)});
}

void okk_bdc_taylor_exp(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int num_series) {
  const Call call(Op::okk_bdc_taylor_exp);
  const Dim4 dim = call.dim("shape", shape);
  call.issue(
      OkkTaylorCmd{aligned_tensor(call, "dst", dst_addr, dim), aligned_tensor(call, "src", src_addr, dim), num_series});
}

#define EXP_FUNCTIONS(name, tunable_name, body)                                                              \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape) {       \
    body(Call(Op::name), dst_addr, src_addr, work_addr, shape, kDefaultTerms);                               \
  }                                                                                                          \
  void tunable_name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape, \
                    int num_series) {                                                                        \
    body(Call(Op::tunable_name), dst_addr, src_addr, work_addr, shape, num_series);                          \
  }
EXP_FUNCTIONS(okk_bdc_exp, okk_bdc_exp_tunable, exp)
EXP_FUNCTIONS(okk_bdc_sigmoid, okk_bdc_sigmoid_tunable, sigmoid)
EXP_FUNCTIONS(okk_bdc_tanh, okk_bdc_tanh_tunable, tanh)

#define SELECT_VALUE(name, compare)                                                                                   \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, x32 select_val, const dim4* shape, \
            const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride) {                               \
    select_value(Call(Op::name), compare, {dst_addr, dst_stride}, {src0_addr, src0_stride}, {src1_addr, src1_stride}, \
                 select_val, shape);                                                                                  \
  }
SELECT_VALUE(okk_bdc_greater_select_value, OkkCompare::kGreater)
SELECT_VALUE(okk_bdc_equal_select_value, OkkCompare::kSameBits)

#define SELECT_VALUE_C(name, compare, constant_first)                                                          \
  void name(local_addr_t dst_addr, local_addr_t src_addr, float C, x32 select_val, const dim4* shape,          \
            const dim4* dst_stride, const dim4* src_stride) {                                                  \
    select_value_c(Call(Op::name), compare, constant_first, {dst_addr, dst_stride}, {src_addr, src_stride}, C, \
                   select_val, shape);                                                                         \
  }
SELECT_VALUE_C(okk_bdc_greater_C_select_value, OkkCompare::kGreater, false)
SELECT_VALUE_C(okk_bdc_C_greater_select_value, OkkCompare::kGreater, true)
SELECT_VALUE_C(okk_bdc_equal_C_select_value, OkkCompare::kSameBits, false)

void okk_bdc_greater_select(local_addr_t dst_addr, const fp32_or_addr_t* src0, const fp32_or_addr_t* src1,
                            const x32_or_addr_t* select0, const x32_or_addr_t* select1, const dim4* shape) {
  select(Call(Op::okk_bdc_greater_select), OkkCompare::kGreater, dst_addr, src0, src1, select0, select1, shape);
}

void okk_bdc_equal_select(local_addr_t dst_addr, const fp32_or_addr_t* src0, const fp32_or_addr_t* src1,
                          const x32_or_addr_t* select0, const x32_or_addr_t* select1, const dim4* shape) {
  select(Call(Op::okk_bdc_equal_select), OkkCompare::kEqual, dst_addr, src0, src1, select0, select1, shape);
}
}
