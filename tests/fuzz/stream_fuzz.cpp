// Instructions of compiled networks: each is refused with the reason, or encodes to the bytes that it came from, and
// has a text; two streams are refused, or become a program in which every message is sent before it is waited for.
#include <algorithm>
#include <set>

#include "device/core/own_messages.hpp"
#include "device/instruction/translate.hpp"
#include "device/network/program.hpp"
#include "tests/fuzz/input.hpp"

namespace softtpu::fuzz {
namespace {

using Bytes = std::span<const std::uint8_t>;

void check_instructions(const Chip& chip, stream::Unit unit, Bytes bytes) {
  const auto& set = *stream::InstructionSet::find_chip(chip.name);
  for (std::size_t at = 0; at < bytes.size();) {
    const auto decoded = stream::decode(set, unit, bytes.subspan(at), at);
    if (!decoded) return require(!decoded.error().text.empty(), "a refusal says why");
    const std::size_t size = decoded->format->bytes;
    const auto again = stream::encode(*decoded);
    require(bool(again) && std::equal(again->begin(), again->end(), bytes.begin() + static_cast<std::ptrdiff_t>(at)),
            "a decoded instruction encodes to the bytes that it came from");
    require(!stream::disassemble(*decoded).empty(), "an instruction has a text");
    if (unit == stream::Unit::kTiu && decoded->format->short_form) static_cast<void>(stream::expand(set, *decoded));
    if (!decoded->is_end()) {
      const auto issued = stream::translate(chip, *decoded);
      require(issued || !issued.error().text.empty(), "a refusal says why");
    }
    at += size;
  }
}

void check_program(const Chip& chip, Bytes tiu, Bytes dma) {
  const network::Area everything{chip.global_mem.start, chip.global_mem.start + chip.global_mem.bytes,
                                 chip.global_mem.start};
  const auto program = network::make_program(chip, {tiu, dma, {}}, {&everything, 1});
  if (!program) return require(!program.error().text.empty(), "a refusal says why");
  std::set<int> sent;
  for (const network::ProgramStep& step : program->steps) {
    const auto* control = std::get_if<ControlCmd>(&step.command);
    if (control == nullptr) {
      require(!step.instruction.empty(), "a command names its instruction");
    } else if (control->action == ControlAction::kSendMessage) {
      if (!is_own_message(control->message)) continue;  // the network's own, of any order and count
      require(sent.insert(control->message).second, "a message is sent once");
    } else if (control->action == ControlAction::kWaitMessage) {
      if (!is_own_message(control->message)) continue;
      require(sent.erase(control->message) == 1, "a message is sent before it is waited for, and once");
    }
  }
  require(sent.empty(), "every message is waited for");
}

}  // namespace
}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu;
  static const Chip chips[] = {*load_chip("bm1684x"), *load_chip("bm1688"), *load_chip("bm1690"), *load_chip("bm1684")};
  // The first two bytes: how many of the others are the TIU stream, and in the two highest bits whose.
  if (bytes < 2) return 0;
  const Chip& chip = chips[data[1] >> 6];
  const fuzz::Bytes all(data + 2, bytes - 2);
  const std::size_t first = std::min<std::size_t>(data[0] | std::size_t{data[1] & 0x3FU} << 8, all.size());
  fuzz::check_instructions(chip, stream::Unit::kTiu, all.first(first));
  fuzz::check_instructions(chip, stream::Unit::kDma, all.subspan(first));
  fuzz::check_program(chip, all.first(first), all.subspan(first));
  return 0;
}
