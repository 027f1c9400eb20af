#include "device/instruction/translate.hpp"

#include "device/instruction/address.hpp"
#include "device/instruction/operands.hpp"
#include "device/isa/op_names.hpp"
#include "device/memory/overlap.hpp"
#include "device/memory/sources_apart.hpp"

namespace softtpu::stream {
namespace {

// Those that cores share (device/core/launch_page.hpp).
constexpr int kMessages = 128;
constexpr unsigned kRegisters = 12, kSystem = 15;  // operations of TIU
constexpr unsigned kDmaSystem = 6;
constexpr unsigned kTiuSend = 8, kTiuWait = 9, kDmaSend = 3, kDmaWait = 4;

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
    case 9: return dma_reverse(in);
    case 10: return dma_compress(in);
    case 11: return dma_decompress(in);
    case 12: return dma_lossy(in, true);
    case 13: return dma_lossy(in, false);
    default: in.refuse_function();
  }
}

bool is_okkernel(const Chip& chip) { return chip.api == Api::kOkKernel; }

// Numbers of messages and counts lie in one word.
Issued message(const Chip& chip, const Instruction& instruction, bool send) {
  const InstructionCodes codes = codes_of(chip);
  const bool tiu = instruction.unit() == Unit::kTiu;
  const std::uint64_t word = instruction[tiu ? Field::imm : Field::constant_value];
  const auto number = static_cast<int>(word & ((std::uint64_t{1} << codes.message_bits) - 1));
  const auto count = static_cast<int>(word >> (tiu ? codes.tiu_count_bit : codes.dma_count_bit) & 0xFF);
  constexpr Op kOps[3][2] = {{Op::tpu_bdc_wait_msg, Op::tpu_bdc_send_msg},
                             {Op::tpu_gdma_wait_msg, Op::tpu_gdma_send_msg},
                             {Op::tpu_sdma_wait_msg, Op::tpu_sdma_send_msg}};
  if (number >= kMessages) throw Refusal(fmt::format("message {} is outside 0..{}", number, kMessages - 1));
  if (count < 1) throw Refusal("the count of the message is 0");
  return {kOps[static_cast<std::size_t>(instruction.unit())][send ? 1 : 0],
          ControlCmd{send ? ControlAction::kSendMessage : ControlAction::kWaitMessage, number, count}};
}

// SDMA does what GDMA does under names of its own.
Op sdma_form(Op op) {
  constexpr std::string_view kGdma = "tpu_gdma_";
  const std::string_view name = info(op).name;
  const auto found = name.starts_with(kGdma) ? find_op(fmt::format("tpu_sdma_{}", name.substr(kGdma.size()))) : op;
  if (!found) throw Refusal(fmt::format("no function does on SDMA what {} does", name));
  return *found;
}

// Operands that the result overwrites are read from elsewhere in local memory: without room there the result would be
// wrong. What rises from its source is written from the last element on.
void require_room(const Chip& chip, const Command& command) {
  std::visit(
      [&]<class Cmd>(const Cmd& cmd) {
        if constexpr (Cmd::kTraits.elementwise && requires { cmd.dst; }) {
          RoomApart room(chip, cmd.dst);
          for_each_operand(cmd, [&](Access, const char*, const Operand& operand) { room.take(operand); });
          for_each_operand(cmd, [&](Access access, const char* name, const Operand& operand) {
            const auto* source = std::get_if<Tensor>(&operand);
            if (access != Access::kRead || source == nullptr || !overwrites(chip, cmd, *source)) return;
            if (second_result(cmd) == nullptr && source->addr == cmd.dst.addr && rises_from(chip, *source, cmd.dst))
              return;
            std::uint64_t at = 0;
            if (!room.find(*source, at))
              throw Refusal(
                  fmt::format("dst overlaps {} in another layout, and local memory has no room for a copy", name));
          });
        }
      },
      command);
}

void write_register(Registers& registers, std::uint64_t number, std::uint64_t value) {
  if (number < registers.size()) registers[number] = static_cast<std::uint32_t>(value);
}

}  // namespace

Result<std::optional<Issued>> Translator::translate(const Instruction& instruction) {
  const Format& format = *instruction.format;
  const Operands in(chip_, instruction, registers_, purpose_);
  const bool is_tiu = format.unit == Unit::kTiu;
  try {
    if (instruction.is_end() || format.function_name(instruction.function()) == "nop") return std::optional<Issued>();
    if (is_okkernel(chip_)) return std::optional(is_tiu ? okk_tiu(in) : okk_dma(in));
    if (is_tiu && format.operation == kRegisters && format.has(Field::imm0)) {
      constexpr std::uint64_t kWord = 0xFFFFFFFF;
      constexpr std::uint64_t kNoRegister = 127;
      const auto write = [&](Field number, std::uint64_t value) {
        if (in.value(number) != kNoRegister) write_register(registers_, in.value(number), value);
      };
      write(Field::reg_idx0, in.value(Field::imm0));
      write(Field::reg_idx1, in.value(Field::imm1) & kWord);
      write(Field::reg_idx2, in.value(Field::imm1) >> 32);
      return std::optional<Issued>();
    }
    if (is_tiu && format.operation == kSystem && format.has(Field::imm) &&
        (instruction.function() == kTiuSend || instruction.function() == kTiuWait))
      return std::optional(message(chip_, instruction, instruction.function() == kTiuSend));
    if (!is_tiu && format.operation == kDmaSystem && codes_of(chip_).message_bits != 0 &&
        (instruction.function() == kDmaSend || instruction.function() == kDmaWait))
      return std::optional(message(chip_, instruction, instruction.function() == kDmaSend));
    Issued issued = is_tiu ? tiu(format.operation, in) : dma(format.operation, in);
    if (instruction.unit() == Unit::kSdma) issued.op = sdma_form(issued.op);
    if (is_tiu && purpose_ == Purpose::kRun) require_room(chip_, issued.command);
    return std::optional(issued);
  } catch (const Refusal& refusal) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{} {} {}.{}: {}.", to_text(instruction.unit()), instruction.id(), format.name,
                             format.function_name(instruction.function()), refusal.what())};
  }
}

Result<Issued> translate(const Chip& chip, const Instruction& instruction) {
  auto issued = Translator(chip).translate(instruction);
  if (!issued) return issued.error();
  if (*issued) return **std::move(issued);
  return Error{ErrorKind::kUsage,
               fmt::format("{} {} {}.{}: it issues no command.", to_text(instruction.unit()), instruction.id(),
                           instruction.format->name, instruction.format->function_name(instruction.function()))};
}

}  // namespace softtpu::stream
