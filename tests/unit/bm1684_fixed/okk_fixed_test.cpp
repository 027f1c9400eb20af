// BM1684's fixed-point functions on packed elements and its casts from 8 bits against the reference: every documented
// type, shifts, constants, strides in words, start NPUs; refusals that change nothing.
#include "tests/reference/bm1684.hpp"
#include "tests/unit/okk_fixture.hpp"

namespace softtpu::okk_fixed_test {
namespace {

namespace ref = reference::bm1684;

constexpr std::uint32_t kDst = 0x0000;
constexpr std::uint32_t kSrc0 = 0x10000;
constexpr std::uint32_t kSrc1 = 0x20000;
constexpr std::uint32_t kThird = 0x30000;
constexpr std::uint32_t kWork = 0x40000;
constexpr int kTrials = 3;  // of each function with each of its types

// An integer type of a packed tensor.
struct Integer {
  int bytes = 1;
  bool is_signed = false;
  int bits() const { return 8 * bytes; }
  int per_word() const { return 4 / bytes; }
  std::int64_t low() const { return is_signed ? -(std::int64_t{1} << (bits() - 1)) : 0; }
  std::int64_t high() const { return low() + (std::int64_t{1} << bits()) - 1; }
};
constexpr Integer kS8{1, true}, kU8{1, false}, kS16{2, true}, kU16{2, false};

// A tensor of packed elements: the words of its place and what they hold. Element i of batch n has the index
// n * (elements of a batch) + i.
struct Packed {
  DeviceTensor place;
  Integer type;
  std::vector<std::uint32_t> words;
  std::size_t batch() const { return static_cast<std::size_t>(place.shape.c * place.shape.h * place.shape.w); }
  std::size_t word_of(std::size_t index) const {
    return index / batch() / static_cast<unsigned>(type.per_word()) * batch() + index % batch();
  }
  unsigned shift_of(std::size_t index) const {
    return static_cast<unsigned>(index / batch() % static_cast<unsigned>(type.per_word())) *
           static_cast<unsigned>(type.bits());
  }
  std::int64_t get(std::size_t index) const { return get(index, type.is_signed); }
  std::int64_t get(std::size_t index, bool is_signed) const {
    const std::int64_t span = std::int64_t{1} << type.bits();
    const std::int64_t value = words[word_of(index)] >> shift_of(index) & (span - 1);
    return is_signed && value >= span / 2 ? value - span : value;
  }
  void set(std::size_t index, std::int64_t value) {
    const std::uint32_t mask = (type.bytes == 1 ? 0xFFU : 0xFFFFU) << shift_of(index);
    std::uint32_t& word = words[word_of(index)];
    word = (word & ~mask) | (static_cast<std::uint32_t>(value) << shift_of(index) & mask);
  }
};

struct OpType {
  const char* name;
  op_type_t code;
  Integer a, b, dst;
};
#define OP_TYPE_ROW(a, b, d) \
  { #a "_OP_" #b "_TO_" #d, a##_OP_##b##_TO_##d, k##a, k##b, k##d }
const OpType kWidthKeeping[] = {OP_TYPE_ROW(S8, S8, S8), OP_TYPE_ROW(U8, U8, U8), OP_TYPE_ROW(S16, S16, S16),
                                OP_TYPE_ROW(U16, U16, U16)};
const OpType kOfBytes[] = {OP_TYPE_ROW(S8, S8, S8),  OP_TYPE_ROW(S8, S8, S16), OP_TYPE_ROW(S8, U8, S8),
                           OP_TYPE_ROW(S8, U8, S16), OP_TYPE_ROW(U8, S8, S8),  OP_TYPE_ROW(U8, S8, S16)};
const OpType kOfHalves[] = {OP_TYPE_ROW(S16, S16, S8),  OP_TYPE_ROW(S16, S16, S16), OP_TYPE_ROW(S16, U16, S8),
                            OP_TYPE_ROW(S16, U16, S16), OP_TYPE_ROW(U16, S16, S8),  OP_TYPE_ROW(U16, S16, S16)};
const OpType kBytesUnsigned[] = {OP_TYPE_ROW(U8, U8, U8), OP_TYPE_ROW(U8, U8, U16)};
const OpType kHalvesUnsigned[] = {OP_TYPE_ROW(U16, U16, U8), OP_TYPE_ROW(U16, U16, U16)};
const OpType kDifferences[] = {OP_TYPE_ROW(U8, U8, S8), OP_TYPE_ROW(U8, U8, S16), OP_TYPE_ROW(U16, U16, S8),
                               OP_TYPE_ROW(U16, U16, S16)};
const OpType kSumsOfProducts[] = {OP_TYPE_ROW(S8, S8, S16), OP_TYPE_ROW(S8, U8, S16), OP_TYPE_ROW(U8, S8, S16),
                                  OP_TYPE_ROW(U8, U8, U16)};

template <class... Lists>
std::vector<OpType> together(const Lists&... lists) {
  std::vector<OpType> all;
  (all.insert(all.end(), std::begin(lists), std::end(lists)), ...);
  return all;
}

// One call as the functions' arguments need it.
struct Arguments {
  local_addr_t dst, a, b;
  const dim4 *shape, *dst_stride, *a_stride, *b_stride;
  int constant;
  bool old_signed;
  op_type_t type;
  int lshift, rshift;
};
// What one element is computed from, and the exact result before it is shifted and clamped.
struct Element {
  std::int64_t a, b, old;
  int lshift;
};
enum class Form { kTensors, kConstantLast, kConstantFirst };
struct Row {
  const char* name;
  Form form;
  std::vector<OpType> types;
  bool shifts;  // takes rshift
  void (*call)(const Arguments& k);
  std::int64_t (*want)(const Element& x);
};

#define TENSORS(function, types, shifts, result, ...)                                                                 \
  {                                                                                                                   \
#function, Form::kTensors, types, shifts,                                                                           \
        [](const Arguments& k) {                                                                                    \
          function(k.dst, k.a, k.b, k.shape, k.dst_stride, k.a_stride, k.b_stride __VA_OPT__(, ) __VA_ARGS__);      \
        },                                                                                                          \
        [](const Element& x) -> std::int64_t { return result; } \
  }
#define CONSTANT(function, form, types, shifts, result, ...)                                                          \
  {                                                                                                                   \
#function, form, types, shifts,                                                                                     \
        [](const Arguments& k) {                                                                                    \
          const dim4* stride = form == Form::kConstantFirst ? k.b_stride : k.a_stride;                              \
          const local_addr_t src = form == Form::kConstantFirst ? k.b : k.a;                                        \
          function(k.dst, src, k.constant, k.shape, k.dst_stride, stride __VA_OPT__(, ) __VA_ARGS__);               \
        },                                                                                                          \
        [](const Element& x) -> std::int64_t { return result; } \
  }

const std::vector<OpType> kSums = together(kOfBytes, kOfHalves, kBytesUnsigned, kHalvesUnsigned);
const std::vector<OpType> kSubs = together(kOfBytes, kOfHalves, kDifferences);
const std::vector<OpType> kProducts = together(kOfBytes, kBytesUnsigned);
const std::vector<OpType> kMacs = together(kSumsOfProducts);
const std::vector<OpType> kOrders = together(kWidthKeeping);

const Row kRows[] = {
    TENSORS(okk_bdc_fixed_point_packed_add, kSums, true, x.a + x.b, k.type, k.rshift),
    TENSORS(okk_bdc_fixed_point_packed_sub, kSubs, true, x.a - x.b, k.type, k.rshift),
    TENSORS(okk_bdc_fixed_point_packed_mul, kProducts, true, x.a* x.b, k.type, k.rshift),
    TENSORS(okk_bdc_fixed_point_packed_max, kOrders, false, std::max(x.a, x.b), k.type),
    TENSORS(okk_bdc_fixed_point_packed_min, kOrders, false, std::min(x.a, x.b), k.type),
    TENSORS(okk_bdc_fixed_point_packed_mac, kMacs, true, x.old*(std::int64_t{1} << x.lshift) + x.a * x.b, k.old_signed,
            k.type, k.lshift, k.rshift),
    CONSTANT(okk_bdc_fixed_point_packed_add_C, Form::kConstantLast, kSums, true, x.a + x.b, k.type, k.rshift),
    CONSTANT(okk_bdc_fixed_point_packed_sub_C, Form::kConstantLast, kSubs, true, x.a - x.b, k.type, k.rshift),
    CONSTANT(okk_bdc_fixed_point_packed_C_sub, Form::kConstantFirst, kSubs, true, x.a - x.b, k.type, k.rshift),
    CONSTANT(okk_bdc_fixed_point_packed_mul_C, Form::kConstantLast, kProducts, true, x.a* x.b, k.type, k.rshift),
    CONSTANT(okk_bdc_fixed_point_packed_max_C, Form::kConstantLast, kOrders, false, std::max(x.a, x.b), k.type),
    CONSTANT(okk_bdc_fixed_point_packed_min_C, Form::kConstantLast, kOrders, false, std::min(x.a, x.b), k.type),
    CONSTANT(okk_bdc_fixed_point_packed_mac_C, Form::kConstantLast, kMacs, true,
             x.old*(std::int64_t{1} << x.lshift) + x.a * x.b, k.old_signed, k.type, k.lshift, k.rshift),
};

const std::vector<OpType> kShiftSigned{{"int16", S16_OP_S16_TO_S16, kS16, kS16, kS16}};
const std::vector<OpType> kShiftUnsigned{{"uint16", U16_OP_S16_TO_S16, kU16, kS16, kU16}};
const Row kShifts[] = {
    TENSORS(okk_bdc_fixed_point_packed_16bit_arithmetic_shift, kShiftSigned, false, ref::shift16(x.a, x.b, true)),
    TENSORS(okk_bdc_fixed_point_packed_16bit_logical_shift, kShiftUnsigned, false, ref::shift16(x.a, x.b, false)),
#define SHIFT_C(function, form, types, c_type, arithmetic)                                                       \
  {                                                                                                              \
#function, form, types, false,                                                                                 \
        [](const Arguments& k) {                                                                               \
          const dim4* stride = form == Form::kConstantFirst ? k.b_stride : k.a_stride;                         \
          const local_addr_t src = form == Form::kConstantFirst ? k.b : k.a;                                   \
          function(k.dst, src, static_cast<c_type>(k.constant), k.shape, k.dst_stride, stride);                \
        },                                                                                                     \
        [](const Element& x) -> std::int64_t { return ref::shift16(x.a, x.b, arithmetic); } \
  }
    SHIFT_C(okk_bdc_fixed_point_packed_16bit_arithmetic_shift_C, Form::kConstantLast, kShiftSigned, short, true),
    SHIFT_C(okk_bdc_fixed_point_packed_16bit_logical_shift_C, Form::kConstantLast, kShiftUnsigned, short, false),
    SHIFT_C(okk_bdc_fixed_point_packed_16bit_C_arithmetic_shift, Form::kConstantFirst, kShiftSigned, short, true),
    SHIFT_C(okk_bdc_fixed_point_packed_16bit_C_logical_shift, Form::kConstantFirst, kShiftUnsigned, unsigned short,
            false),
};

class OkkFixed : public OkkTest {
 protected:
  dim4 random_dim() { return {number(1, 9), number(1, 70), number(1, 3), number(1, 17)}; }
  // Random words in the layout of a NULL stride, or with strides of their own where `given` is a place to say so.
  Packed packed(Integer type, const dim4& dim, int npu, std::uint32_t offset, bool* given = nullptr,
                bool is_source = true) {
    const Dim4 words{(dim.n + type.per_word() - 1) / type.per_word(), dim.c, dim.h, dim.w};
    Packed made{aligned(words, npu, offset), type, {}};
    if (given != nullptr) {
      *given = flip();
      if (*given) made.place = spread(made.place);
      if (*given && is_source && flip()) made.place = repeated(made.place);
    }
    made.words = put_random(made.place);
    return made;
  }
  std::int64_t random_value(const Integer& type) {
    const std::int64_t edges[] = {type.low(), type.high(), 0, 1};
    if (number(0, 3) == 0) return edges[number(0, 3)];
    return number(static_cast<int>(type.low()), static_cast<int>(type.high()));
  }
  static std::size_t elements(const dim4& dim) { return static_cast<std::size_t>(dim.n * dim.c * dim.h * dim.w); }

  void check(const Row& row, const OpType& types, bool in_place) {
    const dim4 dim = random_dim();
    const int npu = number(0, 63);
    bool given[3] = {};
    const Packed dst = packed(types.dst, dim, npu, kDst, &given[0], false);
    Packed a = packed(types.a, dim, npu, kSrc0, &given[1]);
    const Packed b = packed(types.b, dim, npu, kSrc1, &given[2]);
    if (in_place && types.a.bytes == types.dst.bytes) a = {dst.place, types.a, dst.words}, given[1] = given[0];
    const Integer& type_of_constant = row.form == Form::kConstantFirst ? types.a : types.b;
    const std::int64_t constant = random_value(type_of_constant);
    const int lshift = number(0, 15);
    const int rshift = row.shifts ? number(0, 3) * number(0, 10) : 0;
    const bool old_signed = flip();
    Packed result = dst;
    for (std::size_t i = 0; i < elements(dim); ++i) {
      const std::int64_t exact =
          row.want({row.form == Form::kConstantFirst ? constant : a.get(i),
                    row.form == Form::kConstantLast ? constant : b.get(i), dst.get(i, old_signed), lshift});
      result.set(i, row.shifts ? ref::finish(exact, rshift, types.dst.bits(), types.dst.is_signed) : exact);
    }
    const dim4 strides[] = {dst.place.c_stride(), a.place.c_stride(), b.place.c_stride()};
    const auto stride = [&](std::size_t i) { return given[i] ? &strides[i] : nullptr; };
    expect_result(
        [&] {
          row.call({addr(dst.place), addr(a.place), addr(b.place), &dim, stride(0), stride(1), stride(2),
                    static_cast<int>(constant), old_signed, types.code, lshift, rshift});
        },
        dst.place, result.words, std::string(row.name) + " " + types.name + ", rshift " + std::to_string(rshift));
  }
};

TEST_F(OkkFixed, ArithmeticMatchesTheReference) {
  for (const Row& row : kRows) {
    for (const OpType& types : row.types) {
      for (int trial = 0; trial < kTrials; ++trial) check(row, types, trial == 0);
    }
  }
}

TEST_F(OkkFixed, ShiftsMatchTheReference) {
  for (const Row& row : kShifts) {
    for (int trial = 0; trial < 4 * kTrials; ++trial) check(row, row.types[0], trial % 4 == 0);
  }
}

// ---- halves and bytes ----

TEST_F(OkkFixed, SplitsMatchTheReference) {
  for (int trial = 0; trial < 8 * kTrials; ++trial) {
    const bool high = trial % 2 == 0;
    const dim4 dim = random_dim();
    const int npu = number(0, 63);
    bool given[3] = {};
    const Packed dst = packed(kU8, dim, npu, kDst, &given[0], false);
    const Packed src = packed(kU16, dim, npu, kSrc0, &given[1]);
    const Packed work = packed(kU16, dim, npu, kWork, &given[2], false);
    Packed result = dst;
    for (std::size_t i = 0; i < elements(dim); ++i) {
      result.set(i, high ? src.get(i) / 256 : src.get(i) % 256);
    }
    // The work tensor takes the low byte of each element, whole words at a time.
    Packed left = work;
    if (!high) {
      for (std::size_t i = 0; i < left.words.size(); ++i) left.words[i] = src.words[i] & 0x00FF00FFU;
    }
    want(work.place, left.words);
    const dim4 strides[] = {dst.place.c_stride(), src.place.c_stride(), work.place.c_stride()};
    const auto stride = [&](std::size_t i) { return given[i] ? &strides[i] : nullptr; };
    const auto kernel = [&] {
      if (high) {
        okk_bdc_fixed_point_packed_16bit_split_high_8bit(addr(dst.place), addr(src.place), &dim, stride(0), stride(1));
      } else {
        okk_bdc_fixed_point_packed_16bit_split_low_8bit(addr(dst.place), addr(src.place), addr(work.place), &dim,
                                                        stride(0), stride(1), stride(2));
      }
    };
    expect_result(kernel, dst.place, result.words, high ? "split_high" : "split_low");
  }
}

TEST_F(OkkFixed, ProductsOf16And8BitsMatchTheReference) {
  const struct {
    mul_type_t code;
    Integer a, b, dst;
  } kinds[] = {
      {S16_MUL_S8_TO_S16, kS16, kS8, kS16}, {U16_MUL_S8_TO_S16, kU16, kS8, kS16}, {U16_MUL_U8_TO_U16, kU16, kU8, kU16}};
  for (int trial = 0; trial < 8 * kTrials; ++trial) {
    const auto& kind = kinds[trial % 3];
    const dim4 dim = random_dim();
    const int npu = number(0, 63);
    const int rshift = number(0, 31);
    bool given[4] = {};
    const Packed dst = packed(kind.dst, dim, npu, kDst, &given[0], false);
    const Packed high = packed({1, kind.a.is_signed}, dim, npu, kSrc0, &given[1]);
    const Packed low = packed(kU8, dim, npu, kThird, &given[2]);
    const Packed b = packed(kind.b, dim, npu, kSrc1, &given[3]);
    Packed result = dst;
    for (std::size_t i = 0; i < elements(dim); ++i) {
      const std::int64_t exact = (high.get(i) * 256 + low.get(i)) * b.get(i);
      result.set(i, ref::finish(exact, rshift, 16, kind.dst.is_signed));
    }
    const dim4 strides[] = {dst.place.c_stride(), high.place.c_stride(), low.place.c_stride(), b.place.c_stride()};
    const auto stride = [&](std::size_t i) { return given[i] ? &strides[i] : nullptr; };
    expect_result(
        [&] {
          okk_bdc_fixed_point_packed_16bit_mul_8bit(addr(dst.place), addr(high.place), addr(low.place), addr(b.place),
                                                    &dim, stride(0), stride(1), stride(2), stride(3), kind.code,
                                                    rshift);
        },
        dst.place, result.words, "16bit_mul_8bit");
  }
}

TEST_F(OkkFixed, SignAndMagnitudeProductMatchesTheReference) {
  for (int trial = 0; trial < 4 * kTrials; ++trial) {
    dim4 dim = random_dim();
    dim.n += dim.n % 2;  // an element that fills up a last word is not documented
    const int npu = number(0, 63);
    const int rshift = number(0, 31);
    bool given[6] = {};
    const Packed dst = packed(kS16, dim, npu, kDst, &given[0], false);
    const Packed a = packed(kS16, dim, npu, kSrc0, &given[1]);
    const Packed b = packed(kU8, dim, npu, kSrc1, &given[2]);
    const Packed work[] = {packed(kS16, dim, npu, kWork, &given[3], false),
                           packed(kU8, dim, npu, kWork + 0x10000, &given[4], false),
                           packed(kU8, dim, npu, kWork + 0x20000, &given[5], false)};
    Packed result = dst;
    for (std::size_t i = 0; i < elements(dim); ++i) result.set(i, ref::s16_mul_u8(a.get(i), b.get(i), rshift));
    const Packed* all[] = {&dst, &a, &b, &work[0], &work[1], &work[2]};
    dim4 strides[6];
    const dim4* stride[6];
    for (std::size_t i = 0; i < 6; ++i) {
      strides[i] = all[i]->place.c_stride();
      stride[i] = given[i] ? &strides[i] : nullptr;
    }
    want(dst.place, result.words);
    expect_image(
        [&] {
          okk_bdc_fixed_point_packed_s16_mul_u8_to_s16(
              addr(dst.place), addr(a.place), addr(b.place), addr(work[0].place), addr(work[1].place),
              addr(work[2].place), &dim, stride[0], stride[1], stride[2], stride[3], stride[4], stride[5], rshift);
        },
        "s16_mul_u8_to_s16", {work[0].place, work[1].place, work[2].place});
  }
}

// ---- 8 bits to fp32 ----

TEST_F(OkkFixed, CastsOfBytesMatchTheReference) {
  for (int trial = 0; trial < 8 * kTrials; ++trial) {
    const bool packs = trial % 2 == 0;
    const bool is_signed = flip();
    const bool is_aligned = flip();
    const dim4 dim = random_dim();
    const Dim4 shape{dim.n, dim.c, dim.h, dim.w};
    const int npu = number(0, 63);
    const int groups = (npu + dim.c + 63) / 64;
    const auto compact = [&](DeviceTensor tensor, int channel) {
      if (!is_aligned) tensor.stride = {std::int64_t{groups} * channel, channel, dim.w, 1};
      return tensor;
    };
    const int pixels = dim.h * dim.w;
    const DeviceTensor dst = compact(aligned(shape, npu, kDst), pixels);
    const DeviceTensor work = compact(aligned(shape, npu, kWork), pixels);
    put_random(dst);
    Words result;
    std::uint32_t src = 0;
    if (packs) {
      Packed bytes{compact(aligned({(dim.n + 3) / 4, dim.c, dim.h, dim.w}, npu, kSrc0), pixels), {1, is_signed}, {}};
      bytes.words = put_random(bytes.place);
      src = addr(bytes.place);
      for (std::size_t i = 0; i < elements(dim); ++i) {
        result.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(bytes.get(i))));
      }
    } else {
      // A compact channel of bytes is filled up to whole words.
      const DeviceTensor bytes =
          compact(DeviceTensor::aligned(device_.chip(), Dtype::kInt8, shape, npu, kSrc0), (pixels + 3) / 4 * 4);
      src = addr(bytes);
      for (const std::uint32_t word : put_random(bytes)) {
        const float value =
            is_signed ? static_cast<float>(static_cast<std::int8_t>(word & 0xFFU)) : static_cast<float>(word & 0xFFU);
        result.push_back(std::bit_cast<std::uint32_t>(value));
      }
    }
    want(dst, result);
    const auto function = packs ? okk_bdc_4N_int8_to_fp32 : okk_bdc_int8_to_fp32;
    expect_image([&] { function(addr(dst), src, addr(work), &dim, is_signed, is_aligned); },
                 packs ? "4N_int8_to_fp32" : "int8_to_fp32", {work});
  }
}

// ---- refusals ----

TEST_F(OkkFixed, RefusesTypesAndShifts) {
  const dim4 shape = {2, 3, 4, 5};
  const auto add = [&](op_type_t type, int rshift) {
    okk_bdc_fixed_point_packed_add(kDst, kSrc0, kSrc1, &shape, nullptr, nullptr, nullptr, type, rshift);
  };
  device_.expect_fault([&] { add(U8_OP_U8_TO_S8, 0); }, "the result must be unsigned");
  device_.expect_fault([&] { add(S8_OP_S8_TO_S8, 32); }, "rshift (32) is outside 0..31");
  device_.expect_fault(
      [&] { okk_bdc_fixed_point_packed_add_C(kDst, kSrc0, 200, &shape, nullptr, nullptr, S8_OP_S8_TO_S8, 0); },
      "C (200) is outside -128..127");
  device_.expect_fault(
      [&] {
        okk_bdc_fixed_point_packed_mac(kDst, kSrc0, kSrc1, &shape, nullptr, nullptr, nullptr, true, S8_OP_S8_TO_S16, 16,
                                       0);
      },
      "lshift (16) is outside 0..15");
}

}  // namespace
}  // namespace softtpu::okk_fixed_test
