#include "runtime/report/fault_location.hpp"

#include <fmt/format.h>

#include <charconv>

namespace softtpu {
namespace {

constexpr std::string_view kRunning = "\n - While running kernel \"", kOnCore = "\" on core ", kCommand = ", command ",
                           kAt = ", at ";
// Of reports about crashes, which the server words.
constexpr std::string_view kKernel = "kernel \"", kAfter = ", after ", kCalls = "\n - Calls, innermost first:";

// The number at the beginning of the text, which it is taken off.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view beginning) {
  if (!text.starts_with(beginning)) return false;
  text.remove_prefix(beginning.size());
  return true;
}

// NAME" on core N
bool take_kernel_and_core(std::string_view& text, FaultLocation& place) {
  const std::size_t end = text.find(kOnCore);
  if (end == std::string_view::npos) return false;
  place.kernel = text.substr(0, end);
  text.remove_prefix(end + kOnCore.size());
  return take_number(text, place.core);
}

// "add.c:12"; what is not of this form leaves the place as it is.
void set_line(std::string_view text, FaultLocation& place) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return;
  std::string_view digits = text.substr(colon + 1);
  std::uint32_t line = 0;
  if (!take_number(digits, line) || !digits.empty()) return;
  place.file = text.substr(0, colon);
  place.line = line;
}

// The innermost call whose line is known: "     write_at (kernel.c:16)".
void set_innermost_line(std::string_view text, FaultLocation& place) {
  std::size_t begin = text.find(kCalls);
  if (begin == std::string_view::npos) return;
  text.remove_prefix(begin + kCalls.size());
  while (take(text, "\n     ") && place.file.empty()) {
    const std::string_view call = text.substr(0, text.find('\n'));
    const std::size_t open = call.rfind('('), close = call.rfind(')');
    if (open != std::string_view::npos && close != std::string_view::npos && open < close)
      set_line(call.substr(open + 1, close - open - 1), place);
    text.remove_prefix(call.size());
  }
}

std::optional<FaultLocation> find_fault(std::string_view text) {
  const std::size_t at = text.rfind(kRunning);
  if (at == std::string_view::npos) return std::nullopt;
  text = text.substr(at + kRunning.size());
  text = text.substr(0, text.find('\n'));
  FaultLocation place;
  std::uint64_t command = 0;
  if (!take_kernel_and_core(text, place) || !take(text, kCommand) || !take_number(text, command)) return std::nullopt;
  place.command = command;
  if (take(text, kAt)) set_line(text, place);
  return place;
}

std::optional<FaultLocation> find_crash(std::string_view text) {
  const std::string_view all = text;
  FaultLocation place;
  if (!take(text, kKernel) || !take_kernel_and_core(text, place)) return std::nullopt;
  std::string_view first = text.substr(0, text.find('\n'));
  if (const std::size_t after = first.rfind(kAfter); after != std::string_view::npos) {
    std::string_view number = first.substr(after + kAfter.size());
    std::uint64_t commands = 0;
    if (take_number(number, commands)) place.command = commands;
  }
  set_innermost_line(all, place);
  return place;
}

}  // namespace

std::string fault_location_text(std::string_view kernel, std::uint32_t core, std::uint64_t command,
                                std::string_view site) {
  return fmt::format("{}{}{}{}{}{}{}{}", kRunning, kernel, kOnCore, core, kCommand, command, site.empty() ? "" : kAt,
                     site);
}

std::optional<FaultLocation> parse_fault_location(const std::string& text) {
  if (auto fault = find_fault(text)) return fault;
  return find_crash(text);
}

}  // namespace softtpu
