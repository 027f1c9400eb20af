#include "device/cli/api.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/isa/ledger.hpp"
#include "device/isa/op.hpp"

namespace softtpu::cli {
namespace {

// How far a function can be trusted, best first.
struct Standing {
  std::string state;   // "exact", "oracle", "reference", "unsupported", "unverified"
  std::string detail;  // one phrase for people
};

Standing standing(const OpInfo& row, const Verification& known) {
  if (row.support == Support::kUnsupported) return {"unsupported", fmt::format("the chip has no {}", row.note)};
  const std::string deviating = known.deviating > 0
                                    ? fmt::format(
                                          "; differs on purpose from {} cases that show a defect of the recorded "
                                          "emulator (docs/deviations.md)",
                                          known.deviating)
                                    : "";
  const std::string oracle =
      known.oracle > 0 ? fmt::format("exact against an independent oracle on {} random cases", known.oracle) : "";
  if (known.exact > 0)
    return {"exact",
            fmt::format("exact on {} recorded cases{}{}", known.exact, oracle.empty() ? "" : "; " + oracle, deviating)};
  if (known.oracle > 0 && known.assumed) return {"reference", "as firmware/README.md assumes; " + oracle};
  if (known.oracle > 0) return {"oracle", oracle + deviating};
  if (!known.reference.empty()) return {"reference", fmt::format("reference within {}{}", known.reference, deviating)};
  return {"unverified", "not verified by a recording or a reference" + deviating};
}

bool belongs_to(std::string_view name, Api api) { return name.starts_with("okk_") == (api == Api::kOkKernel); }

}  // namespace

int run_api(const ApiOptions& options) {
  std::optional<Api> api;
  if (!options.chip.empty()) {
    const auto chip = load_chip(options.chip);
    if (!chip) {
      fmt::print(stderr, "softtpu api: {}\n", chip.error().text);
      return 2;
    }
    api = chip->api;
  }
  nlohmann::json list = nlohmann::json::array();
  std::map<std::string, int> totals;
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const OpInfo& row = all_ops()[i];
    if (api && !belongs_to(row.name, *api)) continue;
    if (row.name.find(options.filter) == std::string_view::npos) continue;
    const Verification known = verification(static_cast<Op>(i));
    const Standing found = standing(row, known);
    ++totals[found.state];
    if (options.json) {
      list.push_back({{"name", row.name},
                      {"engine", to_text(row.engine)},
                      {"state", found.state},
                      {"exact", known.exact},
                      {"oracle", known.oracle},
                      {"deviating", known.deviating},
                      {"reference", known.reference},
                      {"detail", found.detail}});
    } else {
      fmt::print("{:<55} {:<8} {}\n", row.name, to_text(row.engine), found.detail);
    }
  }
  if (options.json) {
    fmt::print("{}\n", list.dump(1));
    return 0;
  }
  std::string summary;
  for (const auto& [state, count] : totals)
    summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, state);
  fmt::print("{}\n", summary.empty() ? "no function matches" : summary);
  return 0;
}

}  // namespace softtpu::cli
