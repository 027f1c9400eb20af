#include "device/isa/op.hpp"

#include <algorithm>
#include <array>

#include "runtime/base/unreachable.hpp"

namespace softtpu {
namespace {

constexpr auto kOps = std::to_array<OpInfo>({
#define ROW(api, name, engine, support, types, ...) {#name, api, engine, support, types __VA_OPT__(, ) __VA_ARGS__},
#define OP(...) ROW(Api::kTpuKernel, __VA_ARGS__)
#define OKK(...) ROW(Api::kOkKernel, __VA_ARGS__)
#include "device/isa/ops.def"
});
#undef ROW

}  // namespace

const OpInfo& info(Op op) { return kOps[static_cast<std::size_t>(op)]; }

std::span<const OpInfo> all_ops() { return kOps; }

std::optional<Op> find_op(std::string_view name) {
  const auto found = std::find_if(kOps.begin(), kOps.end(), [&](const OpInfo& row) { return row.name == name; });
  if (found == kOps.end()) return std::nullopt;
  return static_cast<Op>(found - kOps.begin());
}

std::string_view to_text(Engine engine) {
  switch (engine) {
    case Engine::kNone: return "none";
    case Engine::kBdc: return "BDC";
    case Engine::kGdma: return "GDMA";
    case Engine::kSdma: return "SDMA";
    case Engine::kHau: return "HAU";
    case Engine::kControl: return "control";
  }
  unreachable(engine);
}

}  // namespace softtpu
