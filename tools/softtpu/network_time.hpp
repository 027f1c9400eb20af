// How long a compiled network would take on its chip, from its instruction streams alone: nothing is computed, and
// constants are not read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/cost/timing_parameters.hpp"
#include "device/timing/engine_times.hpp"
#include "device/timing/fit.hpp"
#include "runtime/base/result.hpp"
#include "runtime/bmodel/container.hpp"

namespace softtpu::cli {

// The name of the chip's description for what a file says that it is compiled for.
std::string chip_name(const std::string& compiled_for);

// Instructions of one layer, or of one kind where the file does not say which belong to which layer.
struct LayerTime {
  std::string name;
  std::uint64_t commands = 0;
  double products_us = 0, other_us = 0, ddr_us = 0;  // how long the units are busy with it
  double us() const { return std::max(products_us + other_us, ddr_us); }
};

struct NetworkTime {
  std::string file, chip, network, precision;
  int stage = 0;
  int cores = 1;
  std::uint64_t commands = 0;
  Moment end;
  std::array<double, kQueues> busy_us{};
  std::array<double, kBytePaths> bytes{};
  double operations = 0, ideal_us = 0;   // and how long they take one core at the peak of their types
  PrecisionCount products;               // of all cores
  std::optional<FitError> error;         // of networks of this precision
  std::vector<LayerTime> layers;         // the costliest first
  std::vector<std::string> not_counted;  // parts for the host's processor
};

// One command as the fit sees it.
struct FitRow {
  int engine = 0;           // 0: BDC, 1: DMA
  std::int64_t after = -1;  // the row that it waits for, beside the one before it on its engine
  std::vector<CostModel::Quantity> quantities;
};

struct StageOfFile {
  const bmodel::Model& model;
  const bmodel::Network& network;
  std::size_t stage = 0;
};

// Errors name the network and what is wrong with it.
Result<NetworkTime> time_stage(const StageOfFile& at, TimingPreset preset, std::vector<FitRow>* rows = nullptr);

// One launch of each of two networks that begin together on one chip. Where it has cores for both they share DDR on one
// timeline; else the second has to wait for the first.
struct Together {
  double first_alone_us = 0, second_alone_us = 0;
  double first_us = 0, second_us = 0;  // when each ends
  bool side_by_side = false;
};
Result<Together> time_together(const StageOfFile& a, const StageOfFile& b, TimingPreset preset);

// Device memory that the networks of a file take together: equal constants and the tensors between layers are shared.
struct MemoryUse {
  std::uint64_t constants = 0, context = 0, io = 0, instructions = 0;
  std::uint64_t sum() const { return constants + context + io + instructions; }
  std::string largest;  // what takes most
};
MemoryUse memory_of(const bmodel::Model& model);

}  // namespace softtpu::cli
