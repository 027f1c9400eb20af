#include "device/isa/message_engine.hpp"

namespace softtpu {

Engine message_engine(Op op) {
  const std::string_view name = info(op).name;
  if (!name.ends_with("_msg")) return Engine::kControl;
  if (name.find("_bdc_") != std::string_view::npos) return Engine::kBdc;
  if (name.find("_sdma_") != std::string_view::npos) return Engine::kSdma;
  if (name.find("_gdma_") != std::string_view::npos) return Engine::kGdma;
  return name.find("_hau_") != std::string_view::npos ? Engine::kHau : Engine::kControl;
}

}  // namespace softtpu
