// What one command costs on the chip: time on its engine, time of the control processor, bytes moved by path,
// operations. Chips differ in what is known of them, so there is one CostModel for each family.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/cost/timing_parameters.hpp"
#include "device/engines/command.hpp"
#include "device/isa/op.hpp"

namespace softtpu {

enum class BytePath : std::uint8_t { kDdrRead, kDdrWrite, kL2Read, kL2Write, kLocal, kCount };
constexpr std::size_t kBytePaths = static_cast<std::size_t>(BytePath::kCount);
std::string_view to_text(BytePath path);

// What a part of an estimate rests on. kFitted: chosen so that estimates of whole networks agree with published times.
enum class Basis : std::uint8_t { kMeasured, kFitted, kVendor, kGuess, kCount };
constexpr std::size_t kBases = static_cast<std::size_t>(Basis::kCount);
using ByBasis = std::array<double, kBases>;
std::string_view to_text(Basis basis);
Basis to_basis(Founded founded);

struct CommandCost {
  double start_us = 0;  // fixed part on the engine
  double work_us = 0;   // the rest
  double issue_us = 0;  // of the control processor
  ByBasis by_basis{};   // engine_us(), by what it rests on
  double operations = 0;
  double ideal_us = 0;  // the operations at the peak of their data type
  std::array<double, kBytePaths> bytes{};

  double engine_us() const { return start_us + work_us; }
  double ddr_bytes() const {
    return bytes[static_cast<std::size_t>(BytePath::kDdrRead)] + bytes[static_cast<std::size_t>(BytePath::kDdrWrite)];
  }
};

class CostModel {
 public:
  virtual ~CostModel() = default;
  // The error names the first parameter that the chip's description lacks.
  static Result<std::unique_ptr<CostModel>> make(const Chip& chip, TimingPreset preset);

  // The model of networks on a chip whose parameters are fitted to published times of networks (device/timing/fits):
  // the engines fetch their instructions themselves. Without a fit it is the one above, without what issuing costs.
  static Result<std::unique_ptr<CostModel>> make_for_networks(const Chip& chip, TimingPreset preset);

  // Of a command that is not a ControlCmd.
  CommandCost cost(Op op, const Command& command) const;
  // The same time as quantities of named parameters, for the fit; empty: this model is not fitted.
  struct Quantity {
    std::string_view parameter;
    double amount = 0;  // of "..._gbps" in KB, of others in what makes microseconds of the parameter
  };
  virtual std::vector<Quantity> quantities(Op, const Command&) const { return {}; }
  const Chip& chip() const { return chip_; }
  double launch_us() const { return launch_us_; }
  Basis launch_basis() const { return launch_basis_; }
  Basis issue_basis() const { return issue_basis_; }
  double section_us() const { return section_us_; }  // joining two engines at the end of a parallel section
  double read_gbps() const { return read_gbps_; }
  // The part of a core's time at DDR for which DDR, shared by all cores, is busy.
  double ddr_share() const { return std::min(1.0, read_gbps_ / all_cores_gbps_); }
  // What a message between cores costs the one that waits, and what is known of cores that work together.
  double message_us() const { return message_us_; }
  Basis cores_basis() const { return cores_basis_; }
  double bdc_us(double cycles) const { return cycles / bdc_mhz_; }
  // Operations per microsecond of matrix products and convolutions, multiplications and additions counted each.
  double peak_per_us(Dtype type) const;

 protected:
  CostModel(const Chip& chip, TimingParameters& timing);
  void set_launch(double us, Basis basis) {
    launch_us_ = us;
    launch_basis_ = basis;
  }
  void set_read_gbps(double gbps) { read_gbps_ = gbps; }
  void set_cores(double all_cores_gbps, double message_us, Basis basis) {
    all_cores_gbps_ = all_cores_gbps;
    message_us_ = message_us;
    cores_basis_ = basis;
  }
  // Time, of a command of its engine; bytes and operations are added by cost().
  virtual CommandCost engine_cost(Op op, const Command& command) const = 0;

 private:
  Chip chip_;
  double launch_us_ = 0, section_us_ = 0, read_gbps_ = 1, all_cores_gbps_ = 1, bdc_mhz_ = 1;
  double message_us_ = 0;
  Basis cores_basis_ = Basis::kGuess;
  double narrow_outputs_ = 0, narrow_inner_bytes_ = 0;  // 0: 16-bit floats are no faster than f32
  double f32_per_lane_ = 1, bytes_per_lane_ = 1;
  Basis launch_basis_ = Basis::kGuess, issue_basis_ = Basis::kGuess;
};

// The models behind make().
Result<std::unique_ptr<CostModel>> make_cycle_costs(const Chip& chip, TimingPreset preset);
Result<std::unique_ptr<CostModel>> make_feature_costs(const Chip& chip, TimingPreset preset);
class Fit;
Result<std::unique_ptr<CostModel>> make_fitted_costs(const Chip& chip, const Fit& fit);

// Operations of a command: two for each multiplication with its addition, one for each element of other commands; data
// movement has none.
double operations_of(const Command& command);
// Whether they are those of the matrix unit.
bool is_product(const Command& command);
// The type of what a product multiplies.
Dtype type_of_product(const Command& command);

}  // namespace softtpu
