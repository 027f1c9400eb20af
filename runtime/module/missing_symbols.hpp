// Why a kernel module cannot be loaded that needs functions which are not defined.
#pragma once

#include <string>

namespace softtpu {

// "it needs nodechip_a and nodechip_b. nodechip_* are not TPUKernel or OKKernel functions; they ...": the names that
// this process does not have, `first` among them, and where they would come from. Empty: nothing is known of such
// names.
std::string explain_missing(int fd, const std::string& first);

}  // namespace softtpu
