// Which elements of a result depend on which elements of an operand, for commands whose results each depend on one
// element of an operand: element-wise ones, and copies in any order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/engines/command.hpp"

namespace softtpu {

// A mark for each element of a tensor, in n, c, h, w order; 0: none.
using ElementMarks = std::vector<std::uint8_t>;

// The one tensor whose elements each depend on single elements of the operands; nullopt: the command adds up, compares
// or chooses among elements, or which ones it takes depends on data.
std::optional<Tensor> find_elementwise_result(const Command& command);

// Adds the marks of an operand of such a command to those of its result.
void pass_marks(const Command& command, const Dim4& operand, const ElementMarks& from, const Dim4& result,
                ElementMarks& to);

// The same for products of BM1684 as well. Their instructions count whole channels of columns, so that networks compute
// columns that nothing has written and nothing reads: a column of the result depends on that of the right matrix.
std::optional<Tensor> find_followed_result(const Command& command);
void follow_marks(const Command& command, const Tensor& operand, const ElementMarks& from, const Tensor& result,
                  ElementMarks& to);

}  // namespace softtpu
