#include "firmware/dynamic/layers.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace softtpu::dynamic {
namespace {

using Global = void (*)(const LayerRun&);
using Local = void (*)(const LocalRun&);

struct Layer {
  std::uint32_t type;
  Global global;
  Local local;
};

constexpr std::nullptr_t none = nullptr;

constexpr Layer kLayers[] = {
#define SOFTTPU_LAYER(number, name, rule, global, local, work) {number, global, local},
#include "runtime/bmodel/layers.def"
};

template <class Run>
void carry_out_with(const Run& run, void (*Layer::*function)(const Run&)) {
  const auto* const found = std::find_if(std::begin(kLayers), std::end(kLayers),
                                         [&](const Layer& one) { return one.type == run.layer.type; });
  if (found == std::end(kLayers) || found->*function == nullptr)
    fail(bmodel::name_of_layer(run.layer.type) + " is not carried out");
  const RunningLayer running(run.layer);
  (found->*function)(run);
}

}  // namespace

void carry_out(const LayerRun& run) { carry_out_with(run, &Layer::global); }
void carry_out(const LocalRun& run) { carry_out_with(run, &Layer::local); }

}  // namespace softtpu::dynamic
