// Fixed-point arithmetic of BM1684 on packed elements (numerics: bm1684-okkernel.md section 5).
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>

#include "device/command/functions.hpp"
#include "device/engines/bdc/bm1684_fixed/command.hpp"
#include "device/memory/parallel.hpp"
#include "device/numeric/by_type.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu {
namespace {

constexpr int kChunk = 1024;  // elements of a row that are computed together
constexpr int kWordBytes = 4;
using Row = std::array<std::int32_t, kChunk>;

// One operand seen by elements: where row (n, group, h) of a lane starts, and how far apart its elements are.
class PackedRows {
 public:
  PackedRows(const Memories& mem, const Operand& operand, Dtype type, bool packed) : type_(type) {
    if (const auto* scalar = std::get_if<Scalar>(&operand)) {
      constant_ = static_cast<std::int32_t>(scalar->bits);
      return;
    }
    const auto& tensor = std::get<Tensor>(operand);
    unit_bytes_ = size_of(tensor.dtype);
    per_unit_ = packed ? unit_bytes_ / size_of(type) : 1;
    lane0_ = mem.local(0) + mem.chip().offset_of(tensor.addr);
    local_bytes_ = mem.chip().local_bytes;
    stride_ = tensor.stride;
  }

  bool joins_rows(int width) const { return lane0_ == nullptr || stride_.h == width * stride_.w; }

  void select(int npu, int n, std::int64_t group, int h) {
    if (lane0_ == nullptr) return;
    const std::int64_t unit = n / per_unit_ * stride_.n + group * stride_.c + h * stride_.h;
    place_ = n % per_unit_ * size_of(type_) * 8;
    row_ = lane0_ + std::int64_t{npu} * local_bytes_ + unit * unit_bytes_ + place_ / 8;
  }
  void load(int first, int count, Row& out) const {
    if (lane0_ == nullptr) {
      std::fill_n(out.begin(), count, constant_);
      return;
    }
    const std::int64_t step = stride_.w * unit_bytes_;
    const std::uint8_t* from = row_ + first * step;
    if (step == kWordBytes) {
      const auto* words = reinterpret_cast<const std::uint32_t*>(from - place_ / 8);
      const int up = 32 - 8 * size_of(type_) - place_, down = 32 - 8 * size_of(type_);
      std::int32_t* values = out.data();
      if (is_signed_int(type_)) {
        for (int i = 0; i < count; ++i) values[i] = static_cast<std::int32_t>(words[i] << up) >> down;
      } else {
        for (int i = 0; i < count; ++i) values[i] = static_cast<std::int32_t>(words[i] << up >> down);
      }
      return;
    }
    for_int_type(type_, [&]<class T>(T) {
      for (int i = 0; i < count; ++i) {
        out[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(*reinterpret_cast<const T*>(from + i * step));
      }
    });
  }
  // Keeps the low bits of each value.
  void store(int first, int count, const Row& values) const {
    const std::int64_t step = stride_.w * unit_bytes_;
    std::uint8_t* to = row_ + first * step;
    if (step == kWordBytes) {
      // Words, of which the other bytes stay.
      auto* words = reinterpret_cast<std::uint32_t*>(to - place_ / 8);
      const std::uint32_t mask = 0xFFFFFFFFU >> (32 - 8 * size_of(type_)) << place_;
      for (int i = 0; i < count; ++i) {
        const std::uint32_t placed = static_cast<std::uint32_t>(values.data()[i]) << place_;
        words[i] = (words[i] & ~mask) | (placed & mask);
      }
      return;
    }
    for_size(size_of(type_), [&]<class T>(T) {
      for (int i = 0; i < count; ++i) {
        *reinterpret_cast<T*>(to + i * step) = static_cast<T>(values[static_cast<std::size_t>(i)]);
      }
    });
  }

 private:
  Dtype type_;
  std::int32_t constant_ = 0;
  std::uint8_t* lane0_ = nullptr;
  std::uint8_t* row_ = nullptr;
  std::int64_t local_bytes_ = 0;
  int place_ = 0;  // bits of its unit below the element
  int unit_bytes_ = 4;
  int per_unit_ = 1;
  Stride4 stride_;
};

// Calls body(first, count) for pieces of every row of every batch, the operands standing on that row. Lanes run in
// parallel, so body and operands are copied for each.
template <class Body, class... Operands>
void for_each_packed_row(const Memories& mem, const Tensor& dst, int batches, Body body, const Operands&... operands) {
  const Chip& chip = mem.chip();
  const int start = chip.npu_of(dst.addr);
  const Dim4& shape = dst.shape;
  const bool join = (operands.joins_rows(shape.w) && ...);
  const int height = join ? 1 : shape.h;
  const int width = join ? shape.h * shape.w : shape.w;
  parallel_for(std::min(shape.c, chip.npu_num), shape.elements(), [&](int lane) {
    std::tuple<Operands...> own(operands...);
    const int npu = (start + lane) % chip.npu_num;
    for (int c = lane; c < shape.c; c += chip.npu_num) {
      for (int n = 0; n < batches; ++n) {
        for (int h = 0; h < height; ++h) {
          std::apply([&](auto&... rows) { (rows.select(npu, n, (start + c) / chip.npu_num, h), ...); }, own);
          for (int w = 0; w < width; w += kChunk) {
            std::apply([&](auto&... rows) { body(w, std::min(kChunk, width - w), rows...); }, own);
          }
        }
      }
    }
  });
}

// Half of the last place that stays is added before shifting.
template <class Acc>
Acc round_shift(Acc value, int places) {
  return places > 0 ? (value + (Acc{1} << (places - 1))) >> places : value;
}

struct Limits {
  std::int64_t low = 0, high = 0;
};
Limits limits_of(Dtype type) {
  Limits limits;
  for_int_type(type, [&]<class T>(T) {
    limits = {static_cast<std::int64_t>(std::numeric_limits<T>::min()),
              static_cast<std::int64_t>(std::numeric_limits<T>::max())};
  });
  return limits;
}

// 16 and more places empty the value, or fill it with the sign.
std::int64_t shift(std::int64_t value, std::int32_t by) {
  const auto amount = static_cast<std::int8_t>(by);
  const int places = std::min(std::abs(static_cast<int>(amount)), 40);
  return amount >= 0 ? value << places : value >> places;
}

constexpr std::int64_t kMaxMagnitude = 0x7FFF;

std::int64_t magnitude_product(std::int32_t a, std::int32_t b, int rshift) {
  const std::int64_t magnitude = std::min<std::int64_t>(std::abs(a), kMaxMagnitude);
  const std::int64_t product = std::min(round_shift<std::int64_t>(magnitude * b, rshift), kMaxMagnitude);
  return a < 0 ? -product : product;
}

// Bits of the largest magnitude that an operand can have.
int operand_bits(const Operand& operand, Dtype type) {
  const auto* scalar = std::get_if<Scalar>(&operand);
  if (scalar == nullptr) return 8 * size_of(type);
  const auto value = static_cast<std::int32_t>(scalar->bits);
  return static_cast<int>(std::bit_width(value < 0 ? 0U - scalar->bits : scalar->bits));
}

// Runs lane(a, b, old) over one piece and stores what it returns after rounding and clamping.
template <class Acc, class Lane>
void finish_as(const OkkFixedCmd& cmd, int count, const Row& a, const Row& b, Row& out, Lane lane) {
  const Limits limits = limits_of(cmd.dst_type);
  const auto low = static_cast<Acc>(limits.low), high = static_cast<Acc>(limits.high);
  const Acc half = cmd.rshift > 0 ? Acc{1} << (cmd.rshift - 1) : Acc{0};
  const int rshift = cmd.rshift;
  const std::int32_t *first = a.data(), *second = b.data();
  std::int32_t* results = out.data();
  for (int i = 0; i < count; ++i) {
    const Acc value = (lane(Acc{first[i]}, Acc{second[i]}, Acc{results[i]}) + half) >> rshift;
    results[i] = static_cast<std::int32_t>(std::min(std::max(value, low), high));
  }
}
// In 32 bits where values of `bits` bits, and what rounds them, stay far inside.
template <class Lane>
void finish(const OkkFixedCmd& cmd, int bits, int count, const Row& a, const Row& b, Row& out, Lane lane) {
  constexpr int kMost = 29;
  if (bits <= kMost && cmd.rshift <= kMost) return finish_as<std::int32_t>(cmd, count, a, b, out, lane);
  finish_as<std::int64_t>(cmd, count, a, b, out, lane);
}
template <class Lane>
void keep_low_bits(int count, const Row& a, const Row& b, Row& out, Lane lane) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    out[i] = static_cast<std::int32_t>(lane(a[i], b[i]));
}

// out holds the old dst (kMac) or the low bytes (kMulHalves) when it comes in.
void compute(const OkkFixedCmd& cmd, int count, const Row& a, const Row& b, Row& out) {
  constexpr int kWideBits = 64;
  const int a_bits = operand_bits(cmd.a, cmd.a_type), b_bits = operand_bits(cmd.b, cmd.b_type);
  const int widest = std::max(a_bits, b_bits) + 1, product = a_bits + b_bits;
  switch (cmd.mode) {
    case OkkFixedMode::kAdd: return finish(cmd, widest, count, a, b, out, [](auto x, auto y, auto) { return x + y; });
    case OkkFixedMode::kSub: return finish(cmd, widest, count, a, b, out, [](auto x, auto y, auto) { return x - y; });
    case OkkFixedMode::kMul: return finish(cmd, product, count, a, b, out, [](auto x, auto y, auto) { return x * y; });
    case OkkFixedMode::kMax:
      return finish(cmd, widest, count, a, b, out, [](auto x, auto y, auto) { return std::max(x, y); });
    case OkkFixedMode::kMin:
      return finish(cmd, widest, count, a, b, out, [](auto x, auto y, auto) { return std::min(x, y); });
    case OkkFixedMode::kMac:
      return finish(cmd, std::max(product, 8 * size_of(cmd.dst_type) + cmd.lshift) + 1, count, a, b, out,
                    [lshift = cmd.lshift](auto x, auto y, auto old) { return (old << lshift) + x * y; });
    case OkkFixedMode::kMulHalves:
      return finish(cmd, kWideBits, count, a, b, out, [](auto x, auto y, auto low) { return (x * 256 + low) * y; });
    case OkkFixedMode::kShiftArithmetic:
    case OkkFixedMode::kShiftLogical:
      return keep_low_bits(count, a, b, out, [](std::int32_t x, std::int32_t y) { return shift(x, y); });
    case OkkFixedMode::kHighByte:
      return keep_low_bits(count, a, b, out, [](std::int32_t x, std::int32_t) { return x >> 8; });
    case OkkFixedMode::kLowByte: return keep_low_bits(count, a, b, out, [](std::int32_t x, std::int32_t) { return x; });
    case OkkFixedMode::kMulMagnitude:
      return keep_low_bits(count, a, b, out,
                           [&](std::int32_t x, std::int32_t y) { return magnitude_product(x, y, cmd.rshift); });
  }
  unreachable(cmd.mode);
}

}  // namespace

void execute(Memories& mem, const OkkFixedCmd& cmd) {
  const Dtype old_type = size_of(cmd.dst_type) == 1 ? (cmd.old_signed ? Dtype::kInt8 : Dtype::kUint8)
                                                    : (cmd.old_signed ? Dtype::kInt16 : Dtype::kUint16);
  const auto body = [&](int first, int count, PackedRows& dst, PackedRows& old, PackedRows& low, PackedRows& a,
                        PackedRows& b) {
    Row a_row;
    Row b_row;
    Row out;
    a.load(first, count, a_row);
    b.load(first, count, b_row);
    (cmd.mode == OkkFixedMode::kMac ? old : low).load(first, count, out);
    compute(cmd, count, a_row, b_row, out);
    dst.store(first, count, out);
  };
  for_each_packed_row(mem, cmd.dst, cmd.batches, body, PackedRows(mem, cmd.dst, cmd.dst_type, true),
                      PackedRows(mem, cmd.dst, old_type, true), PackedRows(mem, cmd.low, Dtype::kUint8, true),
                      PackedRows(mem, cmd.a, cmd.a_type, true), PackedRows(mem, cmd.b, cmd.b_type, true));
}

void execute(Memories& mem, const OkkWidenCmd& cmd) {
  const auto body = [](int first, int count, PackedRows& dst, PackedRows& src) {
    Row values;
    src.load(first, count, values);
    for (int i = 0; i < count; ++i) {
      std::int32_t& value = values[static_cast<std::size_t>(i)];
      value = std::bit_cast<std::int32_t>(static_cast<float>(value));
    }
    dst.store(first, count, values);
  };
  for_each_packed_row(mem, cmd.dst, cmd.dst.shape.n, body, PackedRows(mem, cmd.dst, Dtype::kInt32, false),
                      PackedRows(mem, cmd.src, cmd.src_type, cmd.packed));
}

}  // namespace softtpu
