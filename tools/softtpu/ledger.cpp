#include "tools/softtpu/ledger.hpp"

#include <nlohmann/json.hpp>

namespace softtpu::cli {

Ledger::Ledger(std::string_view json) {
  const auto all = nlohmann::json::parse(json);
  for (const auto& [name, row] : all.at("verified").items())
    verified_[name] = {row.at("exact"), row.at("deviating"), row.at("reference"), row.at("oracle")};
  for (const auto& name : all.at("assumed")) verified_[name.get<std::string>()].assumed = true;
  for (const auto& [chip, functions] : all.at("recorded").items())
    for (const auto& [name, counts] : functions.items())
      recorded_[chip][name] = {counts.at(0), counts.at(1), counts.at(2)};
}

const Ledger& Ledger::get() {
  static const Ledger ledger(embedded_ledger("ledger.json"));
  return ledger;
}

Verification Ledger::verification(Op op) const {
  const auto found = verified_.find(info(op).name);
  return found == verified_.end() ? Verification() : found->second;
}

std::optional<RecordedCases> Ledger::recorded_on(Op op, const std::string& chip) const {
  const auto functions = recorded_.find(chip);
  if (functions == recorded_.end()) return std::nullopt;
  const auto found = functions->second.find(info(op).name);
  if (found == functions->second.end()) return std::nullopt;
  return found->second;
}

std::vector<ChipCases> Ledger::recorded_anywhere(Op op) const {
  std::vector<ChipCases> all;
  for (const auto& [chip, functions] : recorded_)
    if (const auto found = functions.find(info(op).name); found != functions.end())
      all.push_back({chip, found->second});
  return all;
}

}  // namespace softtpu::cli
