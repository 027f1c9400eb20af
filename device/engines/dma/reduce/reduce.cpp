// Copies that reduce with what lies at their destination, and lossy ones between fp32 and FP20 (numerics: bm1690.md
// section 4; golden bm1690/reduce).
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "device/command/functions.hpp"
#include "device/engines/dma/reduce/command.hpp"
#include "device/memory/tensor_view.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/float_unit.hpp"
#include "device/numeric/only_nan.hpp"

namespace softtpu {
namespace {

// An operand that is handed through: f32 and bf16 subnormals as zeros, a NaN as it is.
template <class T>
T kept(T value) {
  const float number = Wide<T>::load(value);
  return is_nan_bits(std::bit_cast<std::uint32_t>(number)) ? value : Wide<T>::round(number);
}

template <class T>
T combined(ReduceMode mode, T old, T value) {
  if constexpr (std::is_integral_v<T>) {
    // Recorded: unsigned words are compared as signed ones.
    const auto a = static_cast<std::int32_t>(old), b = static_cast<std::int32_t>(value);
    switch (mode) {
      case ReduceMode::kCopy: return value;
      case ReduceMode::kMul: return old * value;
      case ReduceMode::kMax: return a > b ? old : value;
      case ReduceMode::kMin: return a < b ? old : value;
      case ReduceMode::kAdd: return old + value;
    }
  } else {
    const float a = Wide<T>::load(old), b = Wide<T>::load(value);
    float result = 0;
    switch (mode) {
      case ReduceMode::kCopy: return value;
      case ReduceMode::kMul: result = float_product(a, b); break;
      case ReduceMode::kMax: return kept(b > a ? value : old);
      case ReduceMode::kMin: return kept(b < a ? value : old);
      case ReduceMode::kAdd: result = a + b; break;
    }
    if (is_nan_bits(std::bit_cast<std::uint32_t>(result))) result = std::bit_cast<float>(kOnlyNan);
    return Wide<T>::round(result);
  }
  unreachable(mode);
}

// Several cores may reduce into one place at a time, in L2 above all: what each of them brings counts.
template <class T>
void combine_into(T* place, ReduceMode mode, T value) {
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>;
  static_assert(sizeof(Word) == sizeof(T) && std::atomic_ref<Word>::is_always_lock_free);
  const bool aligned = reinterpret_cast<std::uintptr_t>(place) % sizeof(Word) == 0;
  if (mode == ReduceMode::kCopy || !aligned) {
    *place = combined(mode, *place, value);
    return;
  }
  const std::atomic_ref<Word> word(*reinterpret_cast<Word*>(place));
  Word old = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(old, std::bit_cast<Word>(combined(mode, std::bit_cast<T>(old), value)))) {
  }
}

// Value `index` of a stream of FP20: the upper 20 bits of an fp32.
class PackedValues {
 public:
  explicit PackedValues(std::uint8_t* bytes) : bytes_(bytes) {}
  float get(std::int64_t index) const { return std::bit_cast<float>((words(index) >> shift(index) & kMask) << 12); }
  void put(std::int64_t index, float value) const {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) >> 12;
    const std::uint32_t old = words(index);
    const std::uint32_t changed = (old & ~(kMask << shift(index))) | bits << shift(index);
    std::memcpy(place(index), &changed, kTouched);
  }

 private:
  static constexpr std::uint32_t kMask = 0xFFFFF;
  static constexpr std::size_t kTouched = 3;  // bytes that hold a value, wherever it begins
  static int bit(std::int64_t index) { return static_cast<int>(index % kLossyValues) * 20; }
  static int shift(std::int64_t index) { return bit(index) % 8; }
  std::uint8_t* place(std::int64_t index) const { return bytes_ + index / kLossyValues * kLossyBytes + bit(index) / 8; }
  std::uint32_t words(std::int64_t index) const {
    std::uint32_t value = 0;
    std::memcpy(&value, place(index), kTouched);
    return value;
  }
  std::uint8_t* bytes_;
};

float cut(float value) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFFF000U); }

// visit(i, n, c, h, w) in the order of the tensor.
template <class Visit>
void for_each_element(const Dim4& shape, Visit visit) {
  std::int64_t i = 0;
  for (int n = 0; n < shape.n; ++n)
    for (int c = 0; c < shape.c; ++c)
      for (int h = 0; h < shape.h; ++h)
        for (int w = 0; w < shape.w; ++w) visit(i++, n, c, h, w);
}

// The source is read before the first result is stored: the two may overlap.
template <class T>
std::vector<T> read_all(const Memories& mem, const Tensor& src) {
  std::vector<T> values(static_cast<std::size_t>(src.shape.elements()));
  const TensorView view(mem, src);
  for_each_element(src.shape, [&](std::int64_t i, int n, int c, int h, int w) {
    values[static_cast<std::size_t>(i)] = *view.at<const T>(n, c, h, w);
  });
  return values;
}

void reduce_words(const Memories& mem, const DmaReduceCmd& cmd, ReduceMode mode) {
  const auto run = [&]<class T>(T) {
    const std::vector<T> values = read_all<T>(mem, cmd.src);
    const TensorView dst(mem, cmd.dst);
    for_each_element(cmd.dst.shape, [&](std::int64_t i, int n, int c, int h, int w) {
      combine_into(dst.at<T>(n, c, h, w), mode, values[static_cast<std::size_t>(i)]);
    });
  };
  if (is_float(cmd.dst.dtype)) return for_float_type(cmd.dst.dtype, run);
  run(std::uint32_t());
}

void pack(const Memories& mem, const DmaReduceCmd& cmd, ReduceMode mode) {
  const std::vector<float> values = read_all<float>(mem, cmd.src);
  // Whole blocks are combined, with zeros behind the last value.
  auto* bytes = TensorView(mem, cmd.dst).byte_at(0, 0, 0, 0, 1);
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(cmd.dst.shape.elements()));
  const PackedValues old(bytes), dst(packed.data());
  const std::int64_t count = cmd.dst.shape.elements() / kLossyBytes * kLossyValues;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    dst.put(i, combined(mode, old.get(i), index < values.size() ? cut(values[index]) : 0.0F));
  }
  std::copy(packed.begin(), packed.end(), bytes);
}

void unpack(const Memories& mem, const DmaReduceCmd& cmd, ReduceMode mode) {
  const PackedValues src(TensorView(mem, cmd.src).byte_at(0, 0, 0, 0, 1));
  std::vector<float> values(static_cast<std::size_t>(cmd.dst.shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = src.get(static_cast<std::int64_t>(i));
  const TensorView dst(mem, cmd.dst);
  for_each_element(cmd.dst.shape, [&](std::int64_t i, int n, int c, int h, int w) {
    combine_into(dst.at<float>(n, c, h, w), mode, values[static_cast<std::size_t>(i)]);
  });
}

}  // namespace

void execute(Memories& mem, const DmaReduceCmd& cmd) {
  const ReduceMode mode = cmd.combine ? cmd.mode : ReduceMode::kCopy;
  switch (cmd.lossy) {
    case Lossy::kNone: return reduce_words(mem, cmd, mode);
    case Lossy::kPacks: return pack(mem, cmd, mode);
    case Lossy::kUnpacks: return unpack(mem, cmd, mode);
  }
  unreachable(cmd.lossy);
}

}  // namespace softtpu
