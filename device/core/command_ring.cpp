#include "device/core/command_ring.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace softtpu {

std::string operands_line(const Command& command) {
  std::string text;
  const auto add = [&](Access, const char* name, const Operand& operand) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, to_text(operand));
  };
  std::visit([&](const auto& cmd) { cmd.operands(add); }, command);
  return text;
}

std::vector<std::string> CommandRing::last_lines(std::uint64_t count) const {
  const std::uint64_t given = this->given();
  std::vector<std::string> lines;
  const std::uint64_t shown = std::min<std::uint64_t>({count, given, kShown});
  for (std::uint64_t i = given - shown; i < given; ++i) {
    const Entry& entry = entries_[i % kKept];
    if (static_cast<std::size_t>(entry.op) >= all_ops().size()) continue;  // overwritten by the kernel
    const std::string operands = operands_line(entry.command);
    lines.push_back(
        fmt::format("{} {}{}{}", i + 1 - (given - count), info(entry.op).name, operands.empty() ? "" : " ", operands));
  }
  return lines;
}

}  // namespace softtpu
