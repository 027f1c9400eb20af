#include "device/core/command_ring.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/core/call_site.hpp"

namespace softtpu {

std::string operands_line(const Command& command) {
  std::string text;
  const auto add = [&](Access, const char* name, const Operand& operand) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, to_text(operand));
  };
  for_each_operand(command, add);
  return text;
}

std::vector<std::string> CommandRing::last_lines(std::uint64_t count) const {
  const std::uint64_t given = this->given();
  std::vector<std::string> lines;
  const std::uint64_t shown = std::min<std::uint64_t>({count, given, kShown});
  for (std::uint64_t i = given - shown; i < given; ++i) {
    const Entry& entry = entries_[i % kKept];
    const std::size_t known = all_ops().size();
    // Overwritten by the kernel.
    if (static_cast<std::size_t>(entry.op) >= known || static_cast<std::size_t>(entry.called) >= known) continue;
    const std::string operands = operands_line(entry.command);
    lines.push_back(fmt::format("{} {}{}{}", i + 1 - (given - count), call_name(entry.op, entry.called),
                                operands.empty() ? "" : " ", operands));
  }
  return lines;
}

}  // namespace softtpu
