// Small text helpers that every layer shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace softtpu {

// Parses a decimal or 0x... number that fills the whole text; nothing else (no sign, no blanks).
std::optional<std::uint64_t> find_number(std::string_view text);

// "4294967296 bytes (4 GiB)" style size for messages.
std::string to_size_text(std::uint64_t bytes);

// ASCII letters in capitals: chip names in messages ("BM1684X").
std::string to_upper(std::string_view text);

// A text from somewhere else as one short line of a log: control characters become "?", and what is longer than `limit`
// is cut.
std::string to_printable(std::string_view text, std::size_t limit = 1024);

// A text that may hold names from a file or from another program, as a terminal may be given it: its control
// characters, but for ends of lines and tabs, are written as "\\x1b". Everything that prints such texts uses this.
std::string escape_controls(std::string_view text);

}  // namespace softtpu
