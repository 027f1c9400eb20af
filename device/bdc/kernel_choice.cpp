#include "device/bdc/kernel_choice.hpp"

namespace softtpu {
namespace {

bool plain = false;

}  // namespace

void set_plain_kernels(bool value) { plain = value; }
bool plain_kernels() { return plain; }

}  // namespace softtpu
