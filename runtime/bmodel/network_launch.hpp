// What a launch of a compiled network passes to the core: which streams to carry out, in which areas of global memory,
// and the copies before and after. Written by libbmrt, read by device/network; both are of one version of softtpu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace softtpu::bmodel {

// Kernels whose name begins so are networks; what follows is the network's name, for people.
inline constexpr std::string_view kNetworkKernel = "network ";

// One step of a launch. Steps are carried out in order; areas hold for the groups behind them.
enum class NetworkStepKind : std::uint64_t {
  kCopy = 1,  // a = destination, b = source, c = bytes: all of global memory
  kArea,      // a = first compiled address, b = the one behind the last, c = where the area lies in this device
  kGroup,     // a, b = address and bytes of the TIU stream, c, d = of the DMA stream
  kKeep,      // the next group copies c bytes from b to a, when they have been written for the last time
  kCheck,     // like kGroup, but the streams are only read and judged
  kLayers,    // a, b = address and bytes of the next group's layers (tensor_map.hpp), for reports
  kSdma,      // a, b = address and bytes of the next group's SDMA stream
  kMeet,      // waits for all cores of the launch
};

struct NetworkStep {
  NetworkStepKind kind{};
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
};

// The arguments of a launch, each core's own: this head, and `count` steps.
struct NetworkLaunchHead {
  static constexpr std::uint64_t kMagic = 0x314b524f5754454e;  // "NETWORK1"
  std::uint64_t magic = kMagic;
  std::uint64_t count = 0;
};

// Steps that fit into the arguments of one launch; more are several launches, one behind the other.
inline constexpr std::size_t kMostNetworkSteps = 96;

}  // namespace softtpu::bmodel
