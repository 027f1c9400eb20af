// Element-wise arithmetic with SIMD instructions, compiled for several instruction sets and chosen at run time.
#include "device/engines/bdc/elementwise/fast.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/elementwise/arith_fast.cpp"
#include "device/memory/simd_targets.hpp"

#include "device/engines/bdc/rows/simd_float.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

BinaryRow arith_row(ArithMode, Dtype) { return nullptr; }
TernaryRow scale_bias_row(Dtype, bool) { return nullptr; }
TernaryRow mac_row() { return nullptr; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;

// ---- Lanes: operands that a unit has loaded, an f32 that it will store ----

struct Add {
  template <class Unit>
  static HWY_INLINE FloatVector apply(FloatVector a, FloatVector b) {
    return Unit::add(a, b);
  }
};
struct Sub {
  template <class Unit>
  static HWY_INLINE FloatVector apply(FloatVector a, FloatVector b) {
    return Unit::sub(a, b);
  }
};
struct Mul {
  template <class Unit>
  static HWY_INLINE FloatVector apply(FloatVector a, FloatVector b) {
    return Unit::mul(a, b);
  }
};
struct DiffAbs {
  template <class Unit>
  static HWY_INLINE FloatVector apply(FloatVector a, FloatVector b) {
    return hn::IfThenElse(hn::Gt(a, b), Unit::sub(a, b), Unit::sub(b, a));
  }
};
struct AddSquare {
  template <class Unit>
  static HWY_INLINE FloatVector apply(FloatVector a, FloatVector b) {
    const auto sum = Unit::round(Unit::add(a, b));
    return Unit::mul(sum, sum);
  }
};
struct SubSquare {
  template <class Unit>
  static HWY_INLINE FloatVector apply(FloatVector a, FloatVector b) {
    const auto difference = Unit::round(Unit::sub(a, b));
    return Unit::mul(difference, difference);
  }
};
struct Prelu {
  template <class Unit>
  static HWY_INLINE FloatVector apply(FloatVector a, FloatVector b) {
    return hn::IfThenElse(hn::Gt(a, hn::Zero(Floats())), Unit::pass(a), Unit::mul(a, b));
  }
};

template <class T, class Lane>
struct ComputeStep {
  using Unit = typename UnitOf<T>::type;
  static HWY_INLINE void apply(T* dst, const T* a, const T* b) {
    Unit::store(Lane::template apply<Unit>(Unit::load(a), Unit::load(b)), dst);
  }
};
template <class T, class Lane>
void compute_row(void* dst, const void* a, const void* b, int count) {
  for_each_vector<ComputeStep<T, Lane>, kLanes>(count, static_cast<T*>(dst), static_cast<const T*>(a),
                                                static_cast<const T*>(b));
}

// ---- One operand is handed on ----

struct Max {
  template <class V>
  static HWY_INLINE auto takes_first(V a, V b) {
    return hn::Gt(a, b);
  }
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Max(a, b);
  }
};
struct Min {
  template <class V>
  static HWY_INLINE auto takes_first(V a, V b) {
    return hn::Not(hn::Ge(a, b));
  }
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Min(a, b);
  }
};

template <class T, class Lane>
struct ChooseStep;
template <class Lane>
struct ChooseStep<float, Lane> {
  static HWY_INLINE void apply(float* dst, const float* a, const float* b) {
    const auto first = F32Unit::load(a);
    const auto second = F32Unit::load(b);
    F32Unit::store(F32Unit::pass(hn::IfThenElse(Lane::takes_first(first, second), first, second)), dst);
  }
};
template <class Lane>
struct ChooseStep<F16, Lane> {
  static HWY_INLINE void apply(F16* dst, const F16* a, const F16* b) {
    const auto first = hn::RebindMask(Words(), Lane::takes_first(F16Unit::load(a), F16Unit::load(b)));
    store_halves(hn::IfThenElse(first, load_halves(a), load_halves(b)), dst);
  }
};
template <class Lane>
struct ChooseStep<Bf16, Lane> {
  static HWY_INLINE void apply(Bf16* dst, const Bf16* a, const Bf16* b) {
    const auto first = Bf16Unit::load(a);
    const auto second = Bf16Unit::load(b);
    const auto taken = flushed(hn::IfThenElse(Lane::takes_first(first, second), first, second));
    store_halves(hn::ShiftRight<16>(bits_of(taken)), dst);
  }
};
template <class T, class Lane>
requires std::is_integral_v<T>
struct ChooseStep<T, Lane> {
  static HWY_INLINE void apply(T* dst, const T* a, const T* b) {
    const hn::ScalableTag<T> d;
    hn::StoreU(Lane::of(hn::LoadU(d, a), hn::LoadU(d, b)), d, dst);
  }
};
// Elements that one step takes.
template <class T>
constexpr int step_of() {
  return std::is_integral_v<T>
             ? static_cast<int>(hn::MaxLanes(hn::ScalableTag<std::conditional_t<std::is_integral_v<T>, T, float> >()))
             : kLanes;
}
template <class T, class Lane>
void choose_row(void* dst, const void* a, const void* b, int count) {
  for_each_vector<ChooseStep<T, Lane>, step_of<T>()>(count, static_cast<T*>(dst), static_cast<const T*>(a),
                                                     static_cast<const T*>(b));
}

// ---- Bits ----

struct And {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::And(a, b);
  }
};
struct Or {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Or(a, b);
  }
};
struct Xor {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Xor(a, b);
  }
};

// ---- Products with a sum ----

template <class T, bool kElementFirst>
struct ScaleBiasStep {
  using Unit = typename UnitOf<T>::type;
  static HWY_INLINE void apply(T* dst, const T* src, const T* scale, const T* bias) {
    const auto element = Unit::load(src), factor = Unit::load(scale), term = Unit::load(bias);
    const auto product = Unit::round(kElementFirst ? Unit::mul(element, factor) : Unit::mul(factor, element));
    Unit::store(kElementFirst ? Unit::add(product, term) : Unit::add(term, product), dst);
  }
};
template <class T, bool kElementFirst>
void scale_bias(void* dst, const void* src, const void* scale, const void* bias, int count) {
  for_each_vector<ScaleBiasStep<T, kElementFirst>, kLanes>(count, static_cast<T*>(dst), static_cast<const T*>(src),
                                                           static_cast<const T*>(scale), static_cast<const T*>(bias));
}

struct MacStep {
  static HWY_INLINE void apply(float* dst, const float* a, const float* b, const float* old) {
    const auto product = F32Unit::mul(F32Unit::load(a), F32Unit::load(b));
    F32Unit::store(F32Unit::add(product, F32Unit::load(old)), dst);
  }
};
void mac(void* dst, const void* a, const void* b, const void* old, int count) {
  for_each_vector<MacStep, kLanes>(count, static_cast<float*>(dst), static_cast<const float*>(a),
                                   static_cast<const float*>(b), static_cast<const float*>(old));
}

// ---- The row of a mode and a type ----

template <class Lane>
BinaryRow computed(Dtype type) {
  BinaryRow row = nullptr;
  for_float_type(type, [&]<class T>(T) { row = compute_row<T, Lane>; });
  return row;
}
template <class Lane>
BinaryRow chosen(Dtype type) {
  BinaryRow row = nullptr;
  for_any_type(type, [&]<class T>(T) { row = choose_row<T, Lane>; });
  return row;
}
template <class Lane>
BinaryRow combined(Dtype type) {
  BinaryRow row = nullptr;
  for_size(size_of(type), [&]<class T>(T) { row = choose_row<T, Lane>; });
  return row;
}

}  // namespace

BinaryRow arith_row(ArithMode mode, Dtype type) {
  switch (mode) {
    case ArithMode::kAdd: return computed<Add>(type);
    case ArithMode::kSub: return computed<Sub>(type);
    case ArithMode::kMul: return computed<Mul>(type);
    case ArithMode::kDiffAbs: return computed<DiffAbs>(type);
    case ArithMode::kMax: return chosen<Max>(type);
    case ArithMode::kMin: return chosen<Min>(type);
    case ArithMode::kAddSquare: return computed<AddSquare>(type);
    case ArithMode::kSubSquare: return computed<SubSquare>(type);
    case ArithMode::kPrelu: return computed<Prelu>(type);
    case ArithMode::kAnd: return combined<And>(type);
    case ArithMode::kOr: return combined<Or>(type);
    case ArithMode::kXor: return combined<Xor>(type);
  }
  unreachable(mode);
}

TernaryRow scale_bias_row(Dtype type, bool element_first) {
  TernaryRow row = nullptr;
  for_float_type(type, [&]<class T>(T) {
    // The 16-bit types store every NaN alike.
    row = element_first && std::is_same_v<T, float> ? scale_bias<T, true> : scale_bias<T, false>;
  });
  return row;
}

TernaryRow mac_row() { return mac; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(BinaryRow, fast_arith_row, (ArithMode mode, Dtype type), arith_row, (mode, type))
SOFTTPU_DISPATCH(TernaryRow, fast_scale_bias_row, (Dtype type, bool element_first), scale_bias_row,
                 (type, element_first))
SOFTTPU_DISPATCH(TernaryRow, fast_mac_row, (), mac_row, ())

}  // namespace softtpu
#endif
