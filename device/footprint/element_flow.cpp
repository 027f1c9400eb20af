#include "device/footprint/element_flow.hpp"

#include <algorithm>
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

}  // namespace

std::optional<Tensor> find_followed_result(const Command& command) {
  if (const auto* product = std::get_if<OkkMatmulCmd>(&command)) return product->output;
  if (const auto* product = std::get_if<OkkByteMatmulCmd>(&command)) return product->output;
  return find_elementwise_result(command);
}

void follow_marks(const Command& command, const Tensor& operand, const ElementMarks& from, const Tensor& result,
                  ElementMarks& to) {
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
                ElementMarks& to) {
  const CopyOrder order = order_of(command);
  const auto merge = [&](std::size_t source, std::size_t place, std::size_t count) {
    const std::uint8_t* const in = from.data() + source;
    std::uint8_t* const out = to.data() + place;
    for (std::size_t i = 0; i < count; ++i) out[i] = in[i] != 0 ? in[i] : out[i];
  };
  const bool in_order = order == CopyOrder::kReshape || order == CopyOrder::kBlock;
  if (in_order || (order == CopyOrder::kNchw && operand == result))
    return merge(0, 0, std::min(from.size(), to.size()));
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
          if (source < from.size() && from[source] != 0) to[i] = from[source];
        }
      }
    }
  }
}

}  // namespace softtpu
