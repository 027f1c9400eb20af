#include "device/timing/fit.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "device/timing/builtin_fits.hpp"
#include "device/timing/language_part.hpp"

namespace softtpu {

void PrecisionCount::add(const Command& product, double operations) {
  const int bytes = size_of(type_of_product(product));
  operations_[bytes <= 1 ? 0 : bytes == 2 ? 1 : 2] += operations;
}

std::string PrecisionCount::name() const {
  const double all = operations_[0] + operations_[1] + operations_[2];
  if (all <= 0) return "";
  return operations_[0] >= all / 2 ? "INT8" : operations_[1] >= all / 2 ? "F16" : "F32";
}

Fit Fit::read(const std::string& json) {
  const auto file = nlohmann::json::parse(json);
  Fit fit;
  for (const auto& [name, item] : file.at("parameters").items()) {
    const std::string founded = item.at("founded");
    const Basis basis = founded == "measured" ? Basis::kMeasured
                        : founded == "fitted" ? Basis::kFitted
                        : founded == "vendor" ? Basis::kVendor
                                              : Basis::kGuess;
    fit.parameters_[name] = {item.at("value").get<double>(), basis};
  }
  for (const auto& [precision, item] : file.at("errors").items()) {
    fit.errors_[precision] = {item.at("networks"), item.at("error"), item.at("median"), item.at("lower"),
                              item.at("upper")};
  }
  return fit;
}

std::map<std::string, Fit>& Fit::all() {
  static std::map<std::string, Fit> fits = [] {
    std::map<std::string, Fit> read_fits;
    for (const auto& [name, json] : builtin_fits()) read_fits[name] = read(json);
    return read_fits;
  }();
  return fits;
}

Result<void> Fit::replace(const std::string& chip_name, const std::string& json) {
  try {
    all()[chip_name] = read(json);
  } catch (const nlohmann::json::exception& error) {
    return Error{ErrorKind::kUsage, error.what()};
  }
  return {};
}

const Fit* Fit::find(const Chip& chip) {
  const auto& fits = all();
  const auto found = fits.find(chip.name);
  return found == fits.end() ? nullptr : &found->second;
}

std::string to_text(const FitError& error, std::string_view network) {
  return fmt::format("+- {:.0f} % ({} networks of this precision{})", 100 * error.error, error.networks,
                     language_part(network) == LanguagePart::kNone ? "" : ", no language model among them");
}

const FitError* Fit::error_of(const std::string& precision, int cores) const {
  const auto found = errors_.find(cores > 1 ? fmt::format("{} on {} cores", precision, cores) : precision);
  return found == errors_.end() ? nullptr : &found->second;
}

}  // namespace softtpu
