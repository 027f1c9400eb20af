// Reading the parameters of a timing model from a chip's description.
#pragma once

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

// Remembers the first parameter that is missing; reads after that are harmless.
class TimingParameters {
 public:
  TimingParameters(const Chip& chip, TimingPreset preset) : chip_(chip), preset_(preset) {}

  // A size, a rate or a factor: the model cannot do without it.
  double get(const char* name) {
    if (const auto value = find(name)) return *value;
    if (missing_.empty()) missing_ = name;
    return 1;
  }
  // Something that is added: nothing under a preset that does not know it.
  double overhead(const char* name) {
    if (preset_ == TimingPreset::kVendor) return find(name).value_or(0);
    return get(name);
  }

  Result<void> complete() const {
    if (missing_.empty()) return {};
    const char* preset = preset_ == TimingPreset::kVendor ? " founded on the vendor's estimates" : "";
    return Error{ErrorKind::kUnsupported, "chip " + chip_.name + ": no times can be estimated: \"timing\" lacks \"" +
                                              missing_ + "\"" + preset + "."};
  }

 private:
  std::optional<double> find(const char* name) const {
    const auto found = chip_.timing.find(name);
    if (found == chip_.timing.end()) return std::nullopt;
    if (preset_ == TimingPreset::kVendor && found->second.founded != Founded::kVendor) return std::nullopt;
    return found->second.value;
  }

  const Chip& chip_;
  TimingPreset preset_;
  std::string missing_;
};

}  // namespace softtpu
