// What whole networks took on boards says of a chip: fitted parameters, and how far estimates with them were off.
// tests/timing/fit.py makes the files (device/timing/fits/*.json), which are compiled in.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "device/chip/chip.hpp"
#include "device/timing/command_cost.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

// Estimate against board of networks that were left out while the parameters were fitted, one after the other.
struct FitError {
  int networks = 0;
  double error = 0;                         // mean of |log(estimate / board)|
  double median = 1, lower = 1, upper = 1;  // of estimate / board: the median and the quartiles
};

// "+- 6 % (8 networks of this precision)": how far the estimate of the network of this name may be off.
std::string to_text(const FitError& error, std::string_view network);

// Which precision most of a network's products have.
class PrecisionCount {
 public:
  // A command that is a product or a convolution.
  void add(const Command& product, double operations);
  // "F32", "F16", "INT8"; empty: nothing was added.
  std::string name() const;

 private:
  std::array<double, 3> operations_{};  // INT8, F16, F32
};

class Fit {
 public:
  // Of this chip; nullptr: there is none. A chip of a file with another name has none, whatever it is based on.
  static const Fit* find(const Chip& chip);
  // Another fit for the chip of this name, from the text of such a file: for the program that makes the fits.
  static Result<void> replace(const std::string& chip_name, const std::string& json);

  struct Parameter {
    double value = 1;
    Basis basis = Basis::kGuess;
  };
  // nullptr: the fit does not have it.
  const Parameter* parameter(std::string_view name) const {
    const auto found = parameters_.find(name);
    return found == parameters_.end() ? nullptr : &found->second;
  }
  const std::map<std::string, Parameter, std::less<>>& parameters() const { return parameters_; }
  // One that every fit has.
  const Parameter& operator[](std::string_view name) const { return parameters_.find(name)->second; }
  // Of networks of this precision ("F32", "F16", "INT8") on so many cores; nullptr: none was compared.
  const FitError* error_of(const std::string& precision, int cores) const;

 private:
  static std::map<std::string, Fit>& all();
  static Fit read(const std::string& json);
  std::map<std::string, Parameter, std::less<>> parameters_;
  std::map<std::string, FitError, std::less<>> errors_;
};

}  // namespace softtpu
