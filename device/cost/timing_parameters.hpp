// Reading the parameters of a timing model from a chip's description.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "device/chip/chip.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

// Which parameters count. kVendor takes only those that the vendor's own estimates state: launch, issue and start-up of
// commands, which those leave out, cost nothing.
enum class TimingPreset : std::uint8_t { kFull, kVendor };

// Remembers the first parameter that is missing or makes no sense; reads after that are harmless.
class TimingParameters {
 public:
  TimingParameters(const Chip& chip, TimingPreset preset) : chip_(chip), preset_(preset) {}

  // A size, a rate or a factor: the model cannot do without it.
  double get(const char* name) {
    const double value = require(name);
    if (value <= 0) complain(name, "is not above 0");
    return value > 0 ? value : 1;
  }
  // A size or a rate that only some chips state.
  double get_or(const char* name, double otherwise) { return find(name) ? get(name) : otherwise; }
  // Something that is added: nothing under a preset that does not know it.
  double overhead(const char* name) {
    const double value = preset_ == TimingPreset::kVendor ? find(name).value_or(0) : require(name);
    if (value < 0) complain(name, "is below 0");
    return value;
  }

  // One that only some models of a chip know.
  double overhead_or_nothing(const char* name) { return find(name) ? overhead(name) : 0; }

  Result<void> complete() const {
    if (complaint_.empty()) return {};
    return Error{ErrorKind::kUnsupported, "chip " + chip_.name + ": no times can be estimated: " + complaint_ + "."};
  }

 private:
  static constexpr double kMost = 1e6;  // far beyond every size, rate and time of a command

  double require(const char* name) {
    const auto value = find(name);
    const char* preset = preset_ == TimingPreset::kVendor ? ", founded on the vendor's estimates" : "";
    if (!value) complain(name, std::string("is missing in \"timing\"") + preset);
    if (value && *value > kMost) complain(name, "is above 1000000");
    return std::min(value.value_or(1), kMost);
  }
  void complain(const char* name, const std::string& what) {
    if (complaint_.empty()) complaint_ = std::string("\"") + name + "\" " + what;
  }
  std::optional<double> find(const char* name) const {
    const auto found = chip_.timing.find(name);
    if (found == chip_.timing.end()) return std::nullopt;
    if (preset_ == TimingPreset::kVendor && found->second.founded != Founded::kVendor) return std::nullopt;
    return found->second.value;
  }

  const Chip& chip_;
  TimingPreset preset_;
  std::string complaint_;
};

}  // namespace softtpu
