#include "firmware/tpu/unsupported.hpp"

#include <fmt/format.h>

#include "runtime/base/text.hpp"

namespace softtpu {

void refuse(Op op) {
  const Call call(op);
  const OpInfo& row = info(op);
  const std::string chip = to_upper(call.chip().name);
  call.core().fault(ErrorKind::kUnsupported,
                    row.support == Support::kUndetermined
                        ? fmt::format("{}: its {} on {} is neither recorded nor described.", row.name, row.note, chip)
                        : fmt::format("{}: {} has no {}.", row.name, chip, row.note));
}

}  // namespace softtpu
