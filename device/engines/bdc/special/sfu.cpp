// Series, roots and quotients (numerics: bm1684x-elementwise.md section 7).
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/chip/rules.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/rows/fast_rows.hpp"
#include "device/engines/bdc/rows/flushed_halves.hpp"
#include "device/engines/bdc/rows/one_nan.hpp"
#include "device/engines/bdc/special/command.hpp"
#include "device/engines/bdc/special/fast.hpp"
#include "device/memory/apart_rows.hpp"
#include "device/memory/rows.hpp"
#include "device/memory/sources_apart.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/narrow.hpp"
#include "device/numeric/newton.hpp"
#include "device/numeric/steps_in_type.hpp"

namespace softtpu {
namespace {

// A stored element as f32, f32 subnormals kept: the first guess of a root looks at them.
template <class T>
float raw_value(T value) {
  if constexpr (std::is_same_v<T, float>) return value;
  return Wide<T>::load(value);
}

// Elements past the end of a row are 1, which no step turns into a NaN.
template <class T>
Block load_block(const T* values, int count) {
  Block block;
  if (count < kBlock) block.fill(1.0F);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) block[i] = raw_value(values[i]);
  return block;
}

template <class T>
void store_block(T* values, const Block& block, int count) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) values[i] = Wide<T>::round(block[i]);
}

// Calls body(first, count) for every block of a row from element `begin` on.
template <class Body>
void for_each_block(int begin, int count, Body body) {
  for (int first = begin; first < count; first += kBlock) body(first, std::min(kBlock, count - first));
}

// The SIMD rows that a command may run; none of them when it has to take the plain ones.
template <class... Sources>
SfuRows rows_for(const Memories& mem, const Tensor& dst, const Sources&... sources) {
  return fast_rows(mem, dst, sources...) ? fast_sfu_rows(dst.dtype) : SfuRows();
}

// Horner's scheme, rounded to the type after every multiplication and addition.
template <class T, class Arithmetic>
Block horner(const Block& x, const std::vector<float>& coeff) {
  Block sum;
  sum.fill(coeff.back());
  for (std::size_t term = coeff.size() - 1; term-- > 0;) {
    for (std::size_t i = 0; i < kBlock; ++i) {
      const float product = narrow<T>(Arithmetic::mul(sum[i], x[i]));
      sum[i] = narrow<T>(Arithmetic::add(product, coeff[term]));
    }
  }
  return sum;
}

template <class T>
std::vector<float> coefficients(const Memories& mem, const Tensor& coeff, int npu) {
  const auto* stored = reinterpret_cast<const T*>(mem.local(npu) + mem.chip().offset_of(coeff.addr));
  std::vector<float> values(static_cast<std::size_t>(coeff.shape.w));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = Wide<T>::load(stored[i]);
  return values;
}

// The NaNs of a row of results.
template <class T>
void settle_nans(UnifyRow unify, T* row, int count) {
  if constexpr (std::is_same_v<T, float>) {
    if (unify != nullptr) unify(reinterpret_cast<std::uint32_t*>(row), count);
  }
}

template <class T>
void taylor(const Memories& mem, const TaylorCmd& cmd) {
  const SfuRows fast = rows_for(mem, cmd.dst, cmd.src);
  const UnifyRow unify = unify_row_of(mem, cmd.dst);
  const auto lane = [&](int npu) {
    return [fast, unify, coeff = coefficients<T>(mem, cmd.coeff, npu)](T* dst, const T* src, int count) {
      const int done =
          fast.taylor == nullptr ? 0 : fast.taylor(dst, src, count, coeff.data(), static_cast<int>(coeff.size()));
      for_each_block(done, count, [&](int first, int size) {
        Block x = load_block(src + first, size);
        for (float& value : x) value = flush(value);
        const Block sum = settled<T>([&]<class Arithmetic>(Arithmetic) { return horner<T, Arithmetic>(x, coeff); });
        store_block(dst + first, sum, size);
      });
      settle_nans(unify, dst, count);
    };
  };
  const ShortLanes lanes(mem, cmd.dst);
  if (fast.taylor != nullptr && lanes.fit() &&
      lanes.share(cmd.coeff.addr, static_cast<unsigned>(cmd.coeff.shape.w) * sizeof(T)))
    return for_each_apart_row<T, T>(mem, cmd.dst, lane(mem.chip().npu_of(cmd.dst.addr)), cmd.src);
  for_each_row_by_lane<T, T>(mem, cmd.dst, lane, cmd.src);
}

template <class T>
RootEnds root_ends(const Chip& chip) {
  if (sizeof(T) == 2 && chip.has(Quirk::kStepsInType)) return RootEnds::kInType;
  if (chip.has(Quirk::kRsqrtFlushes)) return RootEnds::kFlushed;
  if (chip.has(Quirk::kRsqrtSpecial)) return RootEnds::kIeee;
  return chip.has(Quirk::kRsqrtNoInfinity) ? RootEnds::kNoInfinity : RootEnds::kSteps;
}

template <class Arithmetic>
Block root(RootMode mode, const Block& x, int iterations, RootEnds ends) {
  Block result = rsqrt<Arithmetic>(x, iterations, ends);
  if (ends == RootEnds::kNoInfinity)
    for (float& value : result) value = value == std::numeric_limits<float>::infinity() ? 0.0F : value;
  if (mode == RootMode::kRsqrt) return result;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const bool zero = ends != RootEnds::kSteps && (std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFFU) == 0;
    result[i] = zero ? x[i] : Arithmetic::mul(result[i], flush(x[i]));
  }
  return result;
}

}  // namespace

static void carry_out(Memories& mem, const TaylorCmd& cmd) {
  for_float_type(cmd.dst.dtype, [&]<class T>(T) { taylor<T>(mem, cmd); });
}

// Where f16 subnormals are zeros: the first guess comes from all bits of the operand, and the square root of a
// subnormal is NaN, its reciprocal an infinity (golden bm1684x2: new_ew).
template <class T>
static void flushed_roots(T* dst, const T* src, int count, const RootCmd& cmd) {
  using Step = std::conditional_t<std::is_same_v<T, F16>, FlushedF16, T>;
  for (int i = 0; i < count; ++i) {
    const Step x{src[i].bits};
    const unsigned magnitude = x.bits & 0x7FFFU;
    const bool subnormal = magnitude != 0 && magnitude < HalfFormat<Step>::kLeastNormal;
    const bool root = cmd.mode != RootMode::kRsqrt;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float of_subnormal = root ? std::bit_cast<float>(kNanInvalid) : std::copysign(kInfinity, Wide<Step>::load(x));
    const float value = subnormal ? of_subnormal
                        : root    ? root_in_type(x, cmd.iterations)
                                  : inverse_root_in_type(x, cmd.iterations);
    dst[i] = T{Wide<Step>::round(value).bits};
  }
}

static void carry_out(Memories& mem, const RootCmd& cmd) {
  const UnifyRow unify = unify_row_of(mem, cmd.dst);
  const bool flushes = mem.chip().has(Quirk::kHalfFlushes);
  for_float_type(cmd.dst.dtype, [&]<class T>(T) {
    const RootEnds ends = cmd.steps_only ? RootEnds::kSteps : root_ends<T>(mem.chip());
    const SfuRows fast = rows_for(mem, cmd.dst, cmd.src);
    const auto row = [&](T* dst, const T* src, int count) {
      if constexpr (sizeof(T) == 2) {
        const bool nans = flushes || (std::is_same_v<T, Bf16> && mem.chip().has(Quirk::kRootNans));
        if (ends == RootEnds::kInType && nans) return flushed_roots(dst, src, count, cmd);
      }
      const int done = fast.root == nullptr ? 0 : fast.root(dst, src, count, cmd.mode, cmd.iterations, ends);
      if constexpr (sizeof(T) == 2) {
        if (ends == RootEnds::kInType) {
          const auto compute = cmd.mode == RootMode::kRsqrt ? inverse_root_in_type<T> : root_in_type<T>;
          for (int i = done; i < count; ++i) dst[i] = Wide<T>::round(compute(src[i], cmd.iterations));
          return;
        }
      }
      for_each_block(done, count, [&](int first, int size) {
        const Block x = load_block(src + first, size);
        const auto compute = [&]<class Arithmetic>(Arithmetic) {
          return root<Arithmetic>(cmd.mode, x, cmd.iterations, ends);
        };
        store_block(dst + first, settled<T>(compute), size);
      });
      settle_nans(unify, dst, count);
    };
    if (fast.root != nullptr) return for_each_apart_row<T, T>(mem, cmd.dst, row, cmd.src);
    for_each_row<T, T>(mem, cmd.dst, row, cmd.src);
  });
}

// Quotients of a subnormal and a zero (device/chip/rules.def: subnormal-over-zero), found before dst may overwrite a.
class InfiniteQuotients {
 public:
  template <class T>
  InfiniteQuotients(bool looks, const T* a, const T* b, int count) {
    if constexpr (std::is_same_v<T, float>) {
      for (int i = 0; looks && i < count; ++i) {
        const auto x = std::bit_cast<std::uint32_t>(a[i]), y = std::bit_cast<std::uint32_t>(b[i]);
        const bool subnormal = (x & 0x7F800000U) == 0 && (x & 0x7FFFFFU) != 0;
        if (subnormal && (y & 0x7FFFFFFFU) == 0) found_.push_back({i, ((x ^ y) & 0x80000000U) | 0x7F800000U});
      }
    }
  }
  template <class T>
  void store(T* dst) const {
    for (const auto& [at, bits] : found_) std::memcpy(dst + at, &bits, sizeof(T));
  }

 private:
  std::vector<std::pair<int, std::uint32_t>> found_;
};

static void carry_out(Memories& mem, const DivideCmd& cmd) {
  const bool looks = mem.chip().has(Quirk::kSubnormalOverZero);
  const UnifyRow unify = unify_row_of(mem, cmd.dst);
  const bool flushes = mem.chip().has(Quirk::kHalfFlushes);
  for_float_type(cmd.dst.dtype, [&]<class T>(T) {
    const RootEnds ends = root_ends<T>(mem.chip());
    const SfuRows fast = rows_for(mem, cmd.dst, cmd.a, cmd.b);
    const auto row = [&](T* dst, const T* a, const T* b, int count) {
      const InfiniteQuotients infinite(looks, a, b, count);
      if constexpr (std::is_same_v<T, F16>) {
        if (ends == RootEnds::kInType && flushes) {
          for (int i = 0; i < count; ++i) {
            const FlushedF16 x{a[i].bits}, y{b[i].bits};
            dst[i] = F16{Wide<FlushedF16>::round(quotient_in_type(x, y, cmd.iterations)).bits};
          }
          return;
        }
      }
      const int done = fast.divide == nullptr ? 0 : fast.divide(dst, a, b, count, cmd.iterations, ends);
      if constexpr (sizeof(T) == 2) {
        if (ends == RootEnds::kInType) {
          for (int i = done; i < count; ++i) dst[i] = Wide<T>::round(quotient_in_type(a[i], b[i], cmd.iterations));
          return;
        }
      }
      for_each_block(done, count, [&](int first, int size) {
        const Block x = load_block(a + first, size);
        const Block y = load_block(b + first, size);
        const auto compute = [&]<class Arithmetic>(Arithmetic) {
          return divide<Arithmetic>(x, y, cmd.iterations, ends);
        };
        store_block(dst + first, settled<T>(compute), size);
      });
      infinite.store(dst);
      settle_nans(unify, dst, count);
    };
    if (fast.divide != nullptr) return for_each_apart_row<T, T, T>(mem, cmd.dst, row, cmd.a, cmd.b);
    for_each_row<T, T, T>(mem, cmd.dst, row, cmd.a, cmd.b);
  });
}

void execute(Memories& mem, const TaylorCmd& cmd) {
  with_flushed_halves(mem, cmd, [&](const TaylorCmd& flushed) { carry_out(mem, flushed); });
}

void execute(Memories& mem, const DivideCmd& cmd) {
  const auto compute = [&](const DivideCmd& apart) {
    with_flushed_halves(mem, apart, [&](const DivideCmd& flushed) { carry_out(mem, flushed); });
  };
  with_sources_apart(mem, cmd, compute, &DivideCmd::a, &DivideCmd::b);
}

void execute(Memories& mem, const RootCmd& cmd) {
  with_sources_apart(
      mem, cmd, [&](const RootCmd& apart) { carry_out(mem, apart); }, &RootCmd::src);
}

}  // namespace softtpu
