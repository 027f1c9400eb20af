// The names that people use for built-in chips. A chip's description gives its further names ("also_called"), each with
// what is different under it: a cv186x is a bm1688 with one core. Case does not count, and a name may be followed by
// the chip's revision: "bm1688-1.30".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/chip/chip.hpp"

namespace softtpu {

// Whether the text is one of this chip's names.
bool is_name_of(const Chip& chip, std::string_view text);
// The name that the built-in chip has itself; a text that names none is given back.
std::string canonical_chip_name(const std::string& text);
// The further names of a built-in chip.
std::vector<std::string> other_names(const std::string& builtin);

}  // namespace softtpu
