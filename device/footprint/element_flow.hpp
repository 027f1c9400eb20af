// Which elements of a result depend on which elements of an operand, for commands whose results each depend on one
// element of an operand: element-wise ones, and copies in any order.
#pragma once

#include <cstddef>
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

// Adds the marks of an operand of such a command to those of its result; `parts`: as many marks for each element.
void pass_marks(const Command& command, const Dim4& operand, const ElementMarks& from, const Dim4& result,
                ElementMarks& to, std::size_t parts = 1);

// Whether each byte of the result depends on few bytes of the operands: copies, bitwise operations and logical shifts
// by a constant. BM1684's networks load words of which a part was stored, and take that part out of them.
bool keeps_bytes(const Command& command);

// The same for products of BM1684 as well. Their instructions count whole channels of columns, so that networks compute
// columns that nothing has written and nothing reads: a column of the result depends on that of the right matrix.
std::optional<Tensor> find_followed_result(const Command& command);
// Of a command that keeps bytes there is a mark for each byte.
void follow_marks(const Command& command, const Tensor& operand, const ElementMarks& from, const Tensor& result,
                  ElementMarks& to);

}  // namespace softtpu
