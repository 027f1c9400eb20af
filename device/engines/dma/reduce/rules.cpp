// Rules of copies that compute on the way.
#include <climits>

#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/dma/copy/side_checks.hpp"
#include "device/engines/dma/reduce/command.hpp"

namespace softtpu {

// A lossy copy's packed side is a run of bytes.
void rules(Checks& check, const DmaReduceCmd& cmd) {
  if (cmd.lossy == Lossy::kNone) check.type("dst", cmd.dst.dtype);
  const auto side = [&](const char* name, const Tensor& tensor, bool packed, Access access) {
    check.shape(packed ? "packed bytes" : "shape", tensor.shape, INT_MAX);
    if (packed) {
      check.tensor(name, tensor, NaturalAlignment::kElement);
    } else {
      check_side(check, name, tensor, access);
    }
  };
  side("dst", cmd.dst, cmd.lossy == Lossy::kPacks, Access::kWrite);
  side("src", cmd.src, cmd.lossy == Lossy::kUnpacks, Access::kRead);
}

}  // namespace softtpu
