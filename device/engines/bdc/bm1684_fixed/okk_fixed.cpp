// Fixed-point arithmetic of BM1684 on packed elements (numerics: bm1684-okkernel.md section 5).
#include <algorithm>
#include <array>
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
    row_ = lane0_ + std::int64_t{npu} * local_bytes_ + unit * unit_bytes_ + n % per_unit_ * size_of(type_);
  }
  void load(int first, int count, Row& out) const {
    if (lane0_ == nullptr) {
      std::fill_n(out.begin(), count, constant_);
      return;
    }
    const std::int64_t step = stride_.w * unit_bytes_;
    const std::uint8_t* from = row_ + first * step;
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
std::int64_t round_shift(std::int64_t value, int places) {
  return places > 0 ? (value + (std::int64_t{1} << (places - 1))) >> places : value;
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
  const std::int64_t product = std::min(round_shift(magnitude * b, rshift), kMaxMagnitude);
  return a < 0 ? -product : product;
}

// Runs lane(a, b, old) over one piece and stores what it returns after rounding and clamping.
template <class Lane>
void finish(const OkkFixedCmd& cmd, int count, const Row& a, const Row& b, Row& out, Lane lane) {
  const Limits limits = limits_of(cmd.dst_type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::int64_t value =
        round_shift(lane(std::int64_t{a[i]}, std::int64_t{b[i]}, std::int64_t{out[i]}), cmd.rshift);
    out[i] = static_cast<std::int32_t>(std::clamp(value, limits.low, limits.high));
  }
}
template <class Lane>
void keep_low_bits(int count, const Row& a, const Row& b, Row& out, Lane lane) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    out[i] = static_cast<std::int32_t>(lane(a[i], b[i]));
}

// out holds the old dst (kMac) or the low bytes (kMulHalves) when it comes in.
void compute(const OkkFixedCmd& cmd, int count, const Row& a, const Row& b, Row& out) {
  using I = std::int64_t;
  switch (cmd.mode) {
    case OkkFixedMode::kAdd: return finish(cmd, count, a, b, out, [](I x, I y, I) { return x + y; });
    case OkkFixedMode::kSub: return finish(cmd, count, a, b, out, [](I x, I y, I) { return x - y; });
    case OkkFixedMode::kMul: return finish(cmd, count, a, b, out, [](I x, I y, I) { return x * y; });
    case OkkFixedMode::kMax: return finish(cmd, count, a, b, out, [](I x, I y, I) { return std::max(x, y); });
    case OkkFixedMode::kMin: return finish(cmd, count, a, b, out, [](I x, I y, I) { return std::min(x, y); });
    case OkkFixedMode::kMac:
      return finish(cmd, count, a, b, out, [&](I x, I y, I old) { return (old << cmd.lshift) + x * y; });
    case OkkFixedMode::kMulHalves:
      return finish(cmd, count, a, b, out, [](I x, I y, I low) { return (x * 256 + low) * y; });
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
