#include "runtime/base/text.hpp"

#include <array>
#include <charconv>

namespace softtpu {

std::optional<std::uint64_t> find_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string to_size_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  std::string text = std::to_string(bytes) + " bytes";
  for (int i = static_cast<int>(kUnits.size()) - 1; i >= 0; --i) {
    const std::uint64_t unit = 1ULL << (10 * (i + 1));
    if (bytes >= unit && bytes % unit == 0) {
      return text + " (" + std::to_string(bytes / unit) + " " + kUnits[static_cast<std::size_t>(i)] + ")";
    }
  }
  return text;
}

std::string to_upper(std::string_view text) {
  std::string upper(text);
  for (char& letter : upper) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return upper;
}

std::string to_printable(std::string_view text, std::size_t limit) {
  std::string line(text.substr(0, limit));
  for (char& letter : line) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F) letter = '?';
  }
  return text.size() > limit ? line + "..." : line;
}

std::string escape_controls(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto letter = static_cast<unsigned char>(text[i]);
    const bool is_plain = (letter >= 0x20 && letter != 0x7F) || letter == '\n' || letter == '\t';
    // U+0080 to U+009F, some of which terminals obey as well.
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool is_wide_control = letter == 0xC2 && next >= 0x80 && next < 0xA0;
    if (is_plain && !is_wide_control) {
      shown += text[i];
      continue;
    }
    const unsigned char code = is_wide_control ? next : letter;
    shown += "\\x";
    shown += kDigits[code >> 4];
    shown += kDigits[code & 15];
    if (is_wide_control) ++i;
  }
  return shown;
}

}  // namespace softtpu
