// Commands that the Python package carries out.
#pragma once

#include <string>
#include <vector>

namespace softtpu::cli {

// Becomes `python3 -m ARGUMENTS...` with the package that belongs to this program. Returns, with an exit status, only
// when it cannot be started; the message names `what` needed it.
int become_python(const std::string& what, const std::vector<std::string>& arguments);

}  // namespace softtpu::cli
