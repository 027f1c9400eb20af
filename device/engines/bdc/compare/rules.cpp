// Rules of comparison and selection (numerics: bm1684x-elementwise.md section 8; golden bm1684x/limits).
#include <fmt/format.h>

#include "device/command/checks.hpp"
#include "device/command/functions.hpp"
#include "device/engines/bdc/compare/command.hpp"

namespace softtpu {
namespace {

void check_equal_types(Checks& check, const char* name, Dtype type, const char* other, Dtype other_type) {
  check.require(type == other_type, "constraint/data-type", [&] {
    return fmt::format("{} type ({}) differs from {} type ({})", name, to_text(type), other, to_text(other_type));
  });
}

}  // namespace

void rules(Checks& check, const CompareCmd& cmd) {
  check.target(cmd.dst);
  check.type_in("src", type_of(cmd.a), kAnyTypes);
  check.source("src0", cmd.a, cmd.dst).source("src1", cmd.b, cmd.dst);
  check.require(size_of(cmd.dst.dtype) <= size_of(type_of(cmd.a)), "constraint/data-type", [&] {
    return fmt::format("dst type ({}) is wider than the type of the sources ({})", to_text(cmd.dst.dtype),
                       to_text(type_of(cmd.a)));
  });
}

void rules(Checks& check, const SelectCmd& cmd) {
  if (cmd.winner) check.type("dst0", cmd.winner->dtype);
  const char* dst = cmd.dst_name();
  check.target(cmd.dst, dst);
  if (cmd.winner) check.source("dst0", *cmd.winner, cmd.dst);
  const Dtype compared = type_of(cmd.a);
  check.type_in("src0 and src1", compared, kAnyTypes);
  check.source("src0", cmd.a, cmd.dst).source("src1", cmd.b, cmd.dst);
  check.source("src2", cmd.yes, cmd.dst).source("src3", cmd.no, cmd.dst);
  check_equal_types(check, "src2", type_of(cmd.yes), dst, cmd.dst.dtype);
  const int width = size_of(compared);
  const int selected = size_of(cmd.dst.dtype);
  const bool exact = is_float(compared) || cmd.winner;
  check.require(exact ? selected == width : selected >= width, "constraint/data-type", [&] {
    return fmt::format("the selected type ({}) has to be {} the compared type ({})", to_text(cmd.dst.dtype),
                       exact ? "as wide as" : "at least as wide as", to_text(compared));
  });
}

}  // namespace softtpu
