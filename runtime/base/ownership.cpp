#include "runtime/base/ownership.hpp"

namespace softtpu {
namespace {

bool owns = true;  // NOLINT: of the whole process

}  // namespace

void give_up_ownership() { owns = false; }

bool has_ownership() { return owns; }

}  // namespace softtpu
