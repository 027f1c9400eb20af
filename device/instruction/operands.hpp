// The operands of one instruction as the tensors and constants of commands.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "device/chip/layout.hpp"
#include "device/command/packing.hpp"
#include "device/instruction/translate.hpp"

namespace softtpu::stream {

// Why an instruction is refused; caught in translate().
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Codes of TIU layouts (bmodel facts, section 5).
enum class Layout : std::uint8_t { kAligned, kCompact, kPerChannel, kGiven, kRows };

// The fields of one TIU operand, by its name in the table.
struct TiuOperand {
  Field addr, prec;
  Field layout = Field::kCount;
  Field n_stride = Field::kCount, c_stride = Field::kCount, h_stride = Field::kCount, w_stride = Field::kCount;
};

// Two 16-bit extents multiplied; what no int holds is larger than every limit as well.
inline int extent(std::int64_t first, std::int64_t second, std::int64_t rest = 0) {
  return static_cast<int>(std::min<std::int64_t>(first * second + rest, std::numeric_limits<int>::max()));
}

class Operands {
 public:
  Operands(const Chip& chip, const Instruction& instruction, const Registers& registers, Purpose purpose)
      : chip_(chip), instruction_(instruction), registers_(registers), purpose_(purpose) {}

  // Only the time is asked for: what decides the results alone may stay unknown.
  bool timed_only() const { return purpose_ == Purpose::kTime; }

  std::uint64_t value(Field field) const { return instruction_[field]; }
  int size(Field field) const { return static_cast<int>(value(field)); }
  bool flag(Field field) const { return value(field) != 0; }
  bool has(Field field) const { return instruction_.format->has(field); }
  unsigned function() const { return instruction_.function(); }
  unsigned operation() const { return instruction_.format->operation; }
  std::uint32_t register_value(int number) const { return registers_[static_cast<std::size_t>(number)]; }
  bool by_sdma() const { return instruction_.by_sdma; }
  const Chip& chip() const { return chip_; }

  // A data type of its code and, for integers, its sign.
  Dtype type(Field prec, bool is_signed) const {
    switch (value(prec)) {
      case 0: return is_signed ? Dtype::kInt8 : Dtype::kUint8;
      case 1: return Dtype::kFp16;
      case 2: return Dtype::kFp32;
      case 3: return is_signed ? Dtype::kInt16 : Dtype::kUint16;
      case 4: return is_signed ? Dtype::kInt32 : Dtype::kUint32;
      case 5: return Dtype::kBfp16;
      case 7: return is_signed ? Dtype::kFp8E4M3 : Dtype::kFp8E5M2;
      default: refuse(prec, "is no data type of this instruction");
    }
  }

  // As type(), with the 4-bit integers that some functions take.
  Dtype type_or_nibble(Field prec, bool is_signed) const {
    constexpr std::uint64_t kNibble = 6;
    if (value(prec) == kNibble) return is_signed ? Dtype::kInt4 : Dtype::kUint4;
    return type(prec, is_signed);
  }

  // Of a result: its own sign where the format has one, else that of the operands.
  Dtype result_type(bool is_signed) const {
    return type(Field::res0_prec, has(Field::res0_sign) ? flag(Field::res0_sign) : is_signed);
  }

  Rounding rounding(std::uint64_t code) const {
    if (code > static_cast<std::uint64_t>(Rounding::kHalfDown)) {
      throw Refusal(fmt::format("rounding {} is outside 0..{}", code, static_cast<int>(Rounding::kHalfDown)));
    }
    return static_cast<Rounding>(code);
  }

  Dim4 shape(Field n, Field c, Field h, Field w) const { return {size(n), size(c), size(h), size(w)}; }
  Dim4 result_shape() const { return shape(Field::res0_n, Field::res0_c, Field::res0_h, Field::res0_w); }

  // A tensor in local memory (or, where the unit may read it, in static memory) at a TIU address.
  Tensor tensor(Field addr, const Dim4& shape, Dtype type, Layout layout = Layout::kAligned) const {
    return tensor_at(value(addr), shape, type, layout);
  }
  Tensor tensor_at(std::uint64_t at, const Dim4& shape, Dtype type, Layout layout) const {
    const int npu = chip_.npu_of(at % local_bytes());
    // The layouts of the API begin at multiples of an EU's bytes; an instruction may have the same strides anywhere.
    const bool natural = at % static_cast<unsigned>(chip_.eu_bytes) == 0;
    switch (layout) {
      case Layout::kAligned: return local(at, shape, aligned_stride(chip_, npu, shape, type), type, natural);
      case Layout::kCompact: return local(at, shape, compact_stride(chip_, npu, shape), type, natural);
      case Layout::kPerChannel: return local(at, shape, Stride4{0, 1, 0, 0}, type, false);
      case Layout::kRows: return local(at, shape, line_aligned_stride(chip_, npu, shape, type), type, true);
      case Layout::kGiven: break;
    }
    throw Refusal("an operand has no strides in this instruction");
  }
  // A tensor whose layout the instruction chooses; one of 4-bit integers as its bytes.
  Tensor tensor(const TiuOperand& operand, const Dim4& shape, Dtype type) const {
    if (is_nibble(type)) return packed(operand, shape, type);
    const Layout layout = layout_of(operand);
    if (layout != Layout::kGiven) return tensor(operand.addr, shape, type, layout);
    const auto stride = [&](Field field) { return field == Field::kCount ? 0 : static_cast<int>(value(field)); };
    return local(
        value(operand.addr), shape,
        {stride(operand.n_stride), stride(operand.c_stride), stride(operand.h_stride), stride(operand.w_stride)}, type,
        false);
  }
  Layout layout_of(const TiuOperand& operand) const {
    if (operand.layout == Field::kCount) return Layout::kAligned;
    const std::uint64_t code = value(operand.layout);
    if (code > static_cast<std::uint64_t>(Layout::kRows)) refuse(operand.layout, "is no layout");
    return static_cast<Layout>(code);
  }
  static Tensor local(std::uint64_t addr, const Dim4& shape, const Stride4& stride, Dtype type, bool natural) {
    return {Space::kLocal, addr, shape, stride, type, natural};
  }
  // The field holds a constant's bits in place of an address: its low bits in the type.
  Scalar constant(Field addr, Dtype type) const {
    const unsigned bits = static_cast<unsigned>(size_of(type)) * 8;
    const auto mask = bits >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << bits) - 1;
    return {static_cast<std::uint32_t>(value(addr)) & mask, type};
  }
  // One value for each channel of `shape`, compact.
  Tensor per_channel(Field addr, const Dim4& shape, Dtype type) const {
    return tensor(addr, shape, type, Layout::kPerChannel);
  }

  // What is not known to give the right results, though it takes its time.
  void refuse_results(Field field, const std::string& why) const {
    if (!timed_only()) refuse(field, why);
  }
  [[noreturn]] void refuse(Field field, const std::string& why) const {
    throw Refusal(fmt::format("{} ({:#x}) {}", to_text(field), value(field), why));
  }
  [[noreturn]] void refuse_function() const {
    throw Refusal(fmt::format("function {} is not carried out", instruction_.format->function_name(function())));
  }

 private:
  Tensor packed(const TiuOperand& operand, const Dim4& shape, Dtype type) const {
    const Layout layout = layout_of(operand);
    if (layout != Layout::kAligned && layout != Layout::kGiven)
      refuse(operand.layout, "is no layout of 4-bit integers that is known");
    const auto stride = [&](Field field) { return field == Field::kCount ? 0 : static_cast<int>(value(field)); };
    const std::uint64_t at = value(operand.addr);
    const Stride4 steps = layout == Layout::kGiven ? Stride4{stride(operand.n_stride), stride(operand.c_stride),
                                                             stride(operand.h_stride), stride(operand.w_stride)}
                                                   : aligned_stride(chip_.npu_num, chip_.npu_of(at % local_bytes()),
                                                                    shape, 2 * chip_.eu_bytes);
    const bool natural = layout == Layout::kAligned && at % static_cast<unsigned>(chip_.eu_bytes) == 0;
    const std::optional<Tensor> bytes = packed_bytes(at, shape, steps, type, natural);
    if (!bytes) refuse(operand.prec, "has rows that begin in the middle of a byte");
    return *bytes;
  }
  std::uint64_t local_bytes() const { return std::uint64_t{chip_.local_bytes} * static_cast<unsigned>(chip_.npu_num); }

  const Chip& chip_;
  const Instruction& instruction_;
  const Registers& registers_;
  Purpose purpose_;
};

// One for each operation, in translate_*.cpp.
Issued element_by_element(const Operands& in);  // AR
Issued compare_and_select(const Operands& in);  // CMP
Issued multiply_and_add(const Operands& in);    // LIN
Issued vector_by_vector(const Operands& in);    // VC
Issued quantisation(const Operands& in);        // RQ&DQ
Issued special_function(const Operands& in);    // SFU
Issued gather_and_scatter(const Operands& in);  // SG, SGL
Issued between_npus(const Operands& in);        // TRANS&BC
Issued convolution(const Operands& in);         // CONV
Issued matrix_product(const Operands& in);      // MM
Issued row_product(const Operands& in);         // MM2
Issued pooling(const Operands& in);             // PorD
Issued dma_tensor(const Operands& in);
Issued dma_matrix(const Operands& in);
Issued dma_general(const Operands& in);
Issued dma_cw_transpose(const Operands& in);
Issued dma_masked_select(const Operands& in);
Issued dma_nonzero(const Operands& in);
Issued dma_rows(const Operands& in, RowsMode mode);
bool reduces(const Operands& in);
Issued dma_reduce(const Operands& in);
Issued dma_reverse(const Operands& in);
Issued dma_compress(const Operands& in);
Issued dma_decompress(const Operands& in);
Issued dma_lossy(const Operands& in, bool packs);
// BM1684's instructions are the functions of OKKernel.
Issued okk_tiu(const Operands& in);
Issued okk_dma(const Operands& in);

}  // namespace softtpu::stream
