// Commands that the Python package carries out.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace softtpu::cli {

// Becomes `python3 -m ARGUMENTS...` with the package that belongs to this program: the Python that SOFTTPU_PYTHON
// names, else the first of PATH's and the system's that has softtpu and numpy. Returns only when there is none; the
// message names `what` needed it.
Error become_python(const std::string& what, const std::vector<std::string>& arguments);

}  // namespace softtpu::cli
