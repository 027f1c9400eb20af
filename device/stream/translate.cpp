#include "device/stream/translate.hpp"

#include "device/stream/operands.hpp"

namespace softtpu::stream {
namespace {

Issued tiu(unsigned operation, const Operands& in) {
  switch (operation) {
    case 0: return convolution(in);
    case 1: return pooling(in);
    case 2: return in.function() <= 3 ? matrix_product(in) : row_product(in);
    case 3: return element_by_element(in);
    case 4: return quantisation(in);
    case 5: return between_npus(in);
    case 6: return gather_and_scatter(in);
    case 9: return special_function(in);
    case 10: return multiply_and_add(in);
    case 13: return compare_and_select(in);
    case 14: return vector_by_vector(in);
    default: in.refuse_function();
  }
}

Issued dma(unsigned operation, const Operands& in) {
  switch (operation) {
    case 0: return dma_tensor(in);
    case 1: return dma_matrix(in);
    case 2: return dma_masked_select(in);
    case 3: return dma_general(in);
    case 4: return dma_cw_transpose(in);
    case 5: return dma_nonzero(in);
    case 7: return dma_rows(in, RowsMode::kGather);
    case 8: return dma_rows(in, RowsMode::kScatter);
    default: in.refuse_function();
  }
}

}  // namespace

Result<Issued> translate(const Chip& chip, const Instruction& instruction) {
  const Format& format = *instruction.format;
  const Operands in(chip, instruction);
  try {
    return format.unit == Unit::kTiu ? tiu(format.operation, in) : dma(format.operation, in);
  } catch (const Refusal& refusal) {
    return Error{ErrorKind::kUsage, fmt::format("{} {} {}.{}: {}.", to_text(format.unit), instruction.id(), format.name,
                                                format.function_name(instruction.function()), refusal.what())};
  }
}

}  // namespace softtpu::stream
