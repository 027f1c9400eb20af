// Comparison and selection with SIMD instructions, compiled for several instruction sets and chosen at run time.
#include "device/engines/bdc/compare/fast.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/engines/bdc/compare/select_fast.cpp"
#include "device/memory/simd_targets.hpp"

#include "device/engines/bdc/rows/simd_float.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if SOFTTPU_NO_VECTORS

SelectRow select_row(Compare, Dtype, int) { return nullptr; }

#else

namespace {

namespace hn = hwy::HWY_NAMESPACE;
using WordMask = hn::Mask<Words>;

template <class T>
HWY_INLINE WordVector raw_bits(const T* stored) {
  if constexpr (sizeof(T) == 4) {
    return hn::LoadU(Words(), reinterpret_cast<const std::uint32_t*>(stored));
  } else {
    return load_halves(stored);
  }
}
// The outcome of comparing stored elements; what is neither greater nor equal is less.
template <class T>
HWY_INLINE WordMask greater(const T* a, const T* b) {
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    return hn::Gt(raw_bits(a), raw_bits(b));
  } else if constexpr (std::is_integral_v<T>) {
    return hn::RebindMask(Words(), hn::Gt(load_ints(a), load_ints(b)));
  } else {
    using Unit = typename UnitOf<T>::type;
    return hn::RebindMask(Words(), hn::Gt(Unit::load(a), Unit::load(b)));
  }
}
template <class T>
HWY_INLINE WordMask equal(const T* a, const T* b) {
  if constexpr (std::is_integral_v<T>) {
    return hn::RebindMask(Words(), hn::Eq(load_ints(a), load_ints(b)));
  } else {
    // A NaN equals itself bit for bit.
    using Unit = typename UnitOf<T>::type;
    const auto same_value = hn::RebindMask(Words(), hn::Eq(Unit::load(a), Unit::load(b)));
    return hn::Or(same_value, hn::Eq(raw_bits(a), raw_bits(b)));
  }
}

// The relations that the others are the opposite of.
struct Greater {
  template <class T>
  static HWY_INLINE WordMask of(const T* a, const T* b) {
    return greater(a, b);
  }
  template <class V>
  static HWY_INLINE auto of(V a, V b) {
    return hn::Gt(a, b);
  }
};
struct Equal {
  template <class T>
  static HWY_INLINE WordMask of(const T* a, const T* b) {
    return equal(a, b);
  }
  template <class V>
  static HWY_INLINE auto of(V a, V b) {
    return hn::Eq(a, b);
  }
};
struct GreaterEqual {
  template <class Side>
  static HWY_INLINE auto of(Side a, Side b) {
    return hn::Or(Greater::of(a, b), Equal::of(a, b));
  }
};

// The selected elements only pass through: unsigned integers of their size, which the clamp of a store leaves alone.
template <class D, class T, class Relation>
struct SelectStep {
  static constexpr int kStep = kLanes;
  static HWY_INLINE void apply(D* dst, const T* a, const T* b, const D* yes, const D* no) {
    store_ints(hn::BitCast(Ints(), hn::IfThenElse(Relation::of(a, b), hn::BitCast(Words(), load_ints(yes)),
                                                  hn::BitCast(Words(), load_ints(no)))),
               dst);
  }
};
// Integers that select elements of their own size, in whole vectors.
template <class D, class T, class Relation>
requires(std::is_integral_v<T> && sizeof(T) == sizeof(D)) struct SelectStep<D, T, Relation> {
  static constexpr int kStep = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));
  static HWY_INLINE void apply(D* dst, const T* a, const T* b, const D* yes, const D* no) {
    const hn::ScalableTag<T> d;
    const auto taken =
        hn::IfThenElse(Relation::of(hn::LoadU(d, a), hn::LoadU(d, b)), hn::LoadU(d, reinterpret_cast<const T*>(yes)),
                       hn::LoadU(d, reinterpret_cast<const T*>(no)));
    hn::StoreU(taken, d, reinterpret_cast<T*>(dst));
  }
};
template <class D, class T, class Relation>
void select(void* dst, const void* a, const void* b, RowOrOne yes, RowOrOne no, int count) {
  using Step = SelectStep<D, T, Relation>;
  for_each_vector<Step, Step::kStep>(count, static_cast<D*>(dst), static_cast<const T*>(a), static_cast<const T*>(b),
                                     VectorRow<D>(yes), VectorRow<D>(no));
}
template <class D, class T, class Relation>
void select_unless(void* dst, const void* a, const void* b, RowOrOne yes, RowOrOne no, int count) {
  select<D, T, Relation>(dst, a, b, no, yes, count);
}

template <class D, class T>
SelectRow row_of(Compare compare) {
  switch (compare) {
    case Compare::kLess: return select_unless<D, T, GreaterEqual>;
    case Compare::kEqual: return select<D, T, Equal>;
    case Compare::kLessEqual: return select_unless<D, T, Greater>;
    case Compare::kGreater: return select<D, T, Greater>;
    case Compare::kNotEqual: return select_unless<D, T, Equal>;
    case Compare::kGreaterEqual: return select<D, T, GreaterEqual>;
  }
  unreachable(compare);
}

}  // namespace

SelectRow select_row(Compare compare, Dtype compared, int selected_bytes) {
  SelectRow row = nullptr;
  for_any_type(compared,
               [&]<class T>(T) { for_size(selected_bytes, [&]<class D>(D) { row = row_of<D, T>(compare); }); });
  return row;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softtpu {

SOFTTPU_DISPATCH(SelectRow, fast_select_row, (Compare compare, Dtype compared, int selected_bytes), select_row,
                 (compare, compared, selected_bytes))

}  // namespace softtpu
#endif
