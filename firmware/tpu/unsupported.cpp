#include "firmware/tpu/unsupported.hpp"

#include <fmt/format.h>

#include "runtime/base/text.hpp"

namespace softtpu {

void refuse(Op op) {
  const Call call(op);
  const OpInfo& row = info(op);
  call.core().fault(ErrorKind::kUnsupported,
                    fmt::format("{}: {} has no {}.", row.name, to_upper(call.chip().name), row.note));
}

}  // namespace softtpu
