#include "device/footprint/element_flow.hpp"

#include <algorithm>
#include <climits>
#include <type_traits>

namespace softtpu {
namespace {

CopyOrder order_of(const Command& command) {
  if (const auto* copy = std::get_if<DmaCopyCmd>(&command)) return copy->order;
  if (const auto* copy = std::get_if<CrossCopyCmd>(&command)) return copy->order;
  return CopyOrder::kNchw;
}

std::size_t index_of(const Dim4& shape, int n, int c, int h, int w) {
  return ((static_cast<std::size_t>(n) * static_cast<unsigned>(shape.c) + static_cast<unsigned>(c)) *
              static_cast<unsigned>(shape.h) +
          static_cast<unsigned>(h)) *
             static_cast<unsigned>(shape.w) +
         static_cast<unsigned>(w);
}

// The operand's element that the result's element at these coordinates is made of. A dimension of 1 is repeated.
std::size_t source_of(CopyOrder order, const Dim4& from, const Dim4& to, int n, int c, int h, int w) {
  const auto at = [&](int in, int ic, int ih, int iw) {
    return index_of(from, std::min(in, from.n - 1), std::min(ic, from.c - 1), std::min(ih, from.h - 1),
                    std::min(iw, from.w - 1));
  };
  switch (order) {
    case CopyOrder::kNchw: return at(n, c, h, w);
    case CopyOrder::kCnhw: return at(c, n, h, w);
    case CopyOrder::kNwhc: return at(n, w, h, c);
    case CopyOrder::kReshape:
    case CopyOrder::kBlock: return index_of(to, n, c, h, w);
    case CopyOrder::kOneChannel: return at(n, 0, h, w);
    case CopyOrder::kReverseN: return at(to.n - 1 - n, c, h, w);
    case CopyOrder::kReverseC: return at(n, to.c - 1 - c, h, w);
    case CopyOrder::kReverseH: return at(n, c, to.h - 1 - h, w);
    case CopyOrder::kReverseW: return at(n, c, h, to.w - 1 - w);
  }
  return 0;
}

}  // namespace

std::optional<Tensor> find_elementwise_result(const Command& command) {
  // With a second result, an element of either is not made of the operands of both alone.
  if (const auto* select = std::get_if<SelectCmd>(&command); select != nullptr && select->winner) return std::nullopt;
  return std::visit(
      [](const auto& cmd) -> std::optional<Tensor> {
        if constexpr (std::decay_t<decltype(cmd)>::kTraits.elementwise) return cmd.dst;
        return std::nullopt;
      },
      command);
}

namespace {

// Of a product: whether the operand's rows are those of the result. Of others: nullopt.
std::optional<bool> has_rows_of_result(const Command& command, const Tensor& operand) {
  if (const auto* product = std::get_if<OkkMatmulCmd>(&command)) return operand == product->left;
  if (const auto* product = std::get_if<OkkByteMatmulCmd>(&command)) return operand == product->left;
  return std::nullopt;
}

// What a bitwise operation or a shift does with the bytes of a word.
struct ByteEffect {
  std::uint32_t kept = 0xFFFFFFFF;  // bits of the operand that the result depends on
  int shift = 0;                    // to the left; negative: to the right
};

// nullopt: a byte of the result depends on all of the operands' elements.
std::optional<ByteEffect> effect_of(const Command& command) {
  enum class Mode { kAnd, kOr, kOther };
  const auto by_constant = [](Mode mode, const Operand& a, const Operand& b) {
    const auto* scalar = std::get_if<Scalar>(&b);
    if (scalar == nullptr) scalar = std::get_if<Scalar>(&a);
    ByteEffect effect;
    if (scalar != nullptr && mode == Mode::kAnd) effect.kept = scalar->bits;
    if (scalar != nullptr && mode == Mode::kOr) effect.kept = ~scalar->bits;
    return effect;
  };
  if (const auto* copy = std::get_if<CopyCmd>(&command); copy && type_of(copy->src) == copy->dst.dtype)
    return ByteEffect{};
  if (std::holds_alternative<CrossCopyCmd>(command)) return ByteEffect{};
  if (const auto* copy = std::get_if<DmaCopyCmd>(&command); copy && copy->src.dtype == copy->dst.dtype)
    return ByteEffect{};
  if (const auto* copy = std::get_if<OkkUnaryCmd>(&command); copy && copy->mode == OkkUnaryMode::kCopy)
    return ByteEffect{};
  if (const auto* arith = std::get_if<ArithCmd>(&command)) {
    switch (arith->mode) {
      case ArithMode::kAnd: return by_constant(Mode::kAnd, arith->a, arith->b);
      case ArithMode::kOr: return by_constant(Mode::kOr, arith->a, arith->b);
      case ArithMode::kXor: return ByteEffect{};
      default: return std::nullopt;
    }
  }
  if (const auto* words = std::get_if<OkkWordCmd>(&command)) {
    switch (words->mode) {
      case OkkWordMode::kAnd: return by_constant(Mode::kAnd, words->a, words->b);
      case OkkWordMode::kOr: return by_constant(Mode::kOr, words->a, words->b);
      case OkkWordMode::kXor: return ByteEffect{};
      case OkkWordMode::kShiftLogical: {
        const auto* scalar = std::get_if<Scalar>(&words->b);
        const int shift = scalar != nullptr ? static_cast<std::int32_t>(scalar->bits) : INT_MAX;
        if (shift <= -32 || shift >= 32) return std::nullopt;
        return ByteEffect{0xFFFFFFFF, shift};
      }
      default: return std::nullopt;
    }
  }
  return std::nullopt;
}

// The marks of the bytes that the operation makes of an operand's; each element has `bytes` of them.
ElementMarks carry_bytes(const ByteEffect& effect, const ElementMarks& from, std::size_t bytes) {
  ElementMarks made(from.size());
  const int bits = static_cast<int>(bytes) * 8;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto first = static_cast<int>(i % bytes) * 8;  // bit of the element
    if (from[i] == 0 || ((effect.kept >> first) & 0xFF) == 0) continue;
    for (const int bit : {first + effect.shift, first + effect.shift + 7}) {
      if (bit >= 0 && bit < bits) made[i - i % bytes + static_cast<std::size_t>(bit / 8)] = from[i];
    }
  }
  return made;
}

}  // namespace

bool keeps_bytes(const Command& command) { return effect_of(command).has_value(); }

std::optional<Tensor> find_followed_result(const Command& command) {
  if (const auto* product = std::get_if<OkkMatmulCmd>(&command)) return product->output;
  if (const auto* product = std::get_if<OkkByteMatmulCmd>(&command)) return product->output;
  return find_elementwise_result(command);
}

void follow_marks(const Command& command, const Tensor& operand, const ElementMarks& from, const Tensor& result,
                  ElementMarks& to) {
  if (const auto effect = effect_of(command)) {
    const auto bytes = static_cast<std::size_t>(size_of(operand.dtype));
    return pass_marks(command, operand.shape, carry_bytes(*effect, from, bytes), result.shape, to, bytes);
  }
  const auto by_rows = has_rows_of_result(command, operand);
  if (!by_rows) return pass_marks(command, operand.shape, from, result.shape, to);
  const auto columns = [](const Tensor& matrix) {
    return static_cast<std::size_t>(matrix.shape.c) * static_cast<unsigned>(matrix.shape.w);
  };
  const std::size_t from_columns = columns(operand);
  const std::size_t to_columns = columns(result);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 0) continue;
    const std::size_t row = i / from_columns;
    const std::size_t column = i % from_columns;
    if (*by_rows) {
      for (std::size_t j = row * to_columns; j < std::min((row + 1) * to_columns, to.size()); ++j) to[j] = from[i];
    } else {
      for (std::size_t j = column; column < to_columns && j < to.size(); j += to_columns) to[j] = from[i];
    }
  }
}

void pass_marks(const Command& command, const Dim4& operand, const ElementMarks& from, const Dim4& result,
                ElementMarks& to, std::size_t parts) {
  const CopyOrder order = order_of(command);
  const auto merge = [&](std::size_t source, std::size_t place, std::size_t count) {
    const std::uint8_t* const in = from.data() + source * parts;
    std::uint8_t* const out = to.data() + place * parts;
    for (std::size_t i = 0; i < count * parts; ++i) out[i] = in[i] != 0 ? in[i] : out[i];
  };
  const bool in_order = order == CopyOrder::kReshape || order == CopyOrder::kBlock;
  if (in_order || (order == CopyOrder::kNchw && operand == result))
    return merge(0, 0, std::min(from.size(), to.size()) / parts);
  const bool by_rows = order == CopyOrder::kNchw && operand.w == result.w;
  std::size_t i = 0;
  for (int n = 0; n < result.n; ++n) {
    for (int c = 0; c < result.c; ++c) {
      for (int h = 0; h < result.h; ++h) {
        if (by_rows) {
          const auto count = static_cast<std::size_t>(result.w);
          merge(source_of(order, operand, result, n, c, h, 0), i, count);
          i += count;
          continue;
        }
        for (int w = 0; w < result.w; ++w, ++i) {
          const std::size_t source = source_of(order, operand, result, n, c, h, w);
          if (source < from.size() / parts) merge(source, i, 1);
        }
      }
    }
  }
}

}  // namespace softtpu
