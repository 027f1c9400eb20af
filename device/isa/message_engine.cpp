#include "device/isa/message_engine.hpp"

namespace softtpu {

namespace {

Engine engine_named_by(std::string_view name) {
  if (name.find("_bdc_") != std::string_view::npos) return Engine::kBdc;
  if (name.find("sdma_") != std::string_view::npos) return Engine::kSdma;  // also VSDMA
  if (name.find("_gdma_") != std::string_view::npos) return Engine::kGdma;
  return name.find("_hau_") != std::string_view::npos ? Engine::kHau : Engine::kControl;
}

}  // namespace

Engine message_engine(Op op) {
  const std::string_view name = info(op).name;
  return name.ends_with("_msg") ? engine_named_by(name) : Engine::kControl;
}

Engine polled_engine(Op op) {
  const std::string_view name = info(op).name;
  return name.ends_with("_poll") ? engine_named_by(name) : Engine::kControl;
}

}  // namespace softtpu
