#include "firmware/tpu/unsupported.hpp"

#include <fmt/format.h>

#include "runtime/base/text.hpp"

namespace softtpu {

void refuse(Op op) {
  const Call call(op);
  const OpInfo& row = info(op);
  const std::string chip = to_upper(call.chip().name);
  const std::string what = row.support == Support::kUndetermined
                               ? fmt::format("its {} on {} is neither recorded nor described", row.note, chip)
                               : fmt::format("{} has no {}", chip, row.note);
  call.core().fault(ErrorKind::kUnsupported, Refusal{.op = op, .wrong = {.what = what}});
}

}  // namespace softtpu
