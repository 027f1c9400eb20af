// What a kernel module needs that the chip, or another chip, does not have. Looked at once, when the module is loaded.
#pragma once

#include <string>
#include <vector>

#include "device/checks/findings.hpp"
#include "device/chip/chip.hpp"

namespace softtpu {

// constraint/symbol: functions that the chip's bare-metal toolchain lacks. `module` is the name that people know.
void check_symbols(Findings& findings, const std::string& module, const std::vector<std::string>& undefined);
// constraint/portable-function: functions of the SDK that one of the other chips lacks.
void check_portable_symbols(Findings& findings, const std::string& module, const std::vector<std::string>& undefined,
                            const std::vector<Chip>& targets);

}  // namespace softtpu
