#include "device/server/core_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "device/server/postmortem.hpp"

namespace softtpu {

void CoreModules::note_success(CoreItem& item) {
  const std::span payload = std::span(item.frame).subspan(kFrameHeaderBytes);
  if (item.type == MessageType::kCoreLoad) {
    if (auto load = find_message<CoreLoad>(payload)) {
      Module& module = modules_[load->module];
      module.name = load->name;
      module.image = std::move(item.image);
      module.terms = item.terms;
    }
  }
  if (item.type == MessageType::kCoreDefine) {
    const auto define = find_message<CoreDefine>(payload);
    const auto module = define ? modules_.find(define->module) : modules_.end();
    // The module may have been unloaded since.
    if (module != modules_.end()) module->second.functions[define->function] = define->name;
  }
}

std::optional<CoreModules::Module> CoreModules::take(std::uint32_t module) {
  auto known = modules_.extract(module);
  if (!known) return std::nullopt;
  return std::move(known.mapped());
}

std::optional<std::vector<Explainer::Module>> CoreModules::images_of(const CoreExplain& question) const {
  std::vector<Explainer::Module> images;
  for (const CodePlace& place : question.calls) {
    const auto module = modules_.find(place.module);
    const auto is_same = [&](const Explainer::Module& m) { return m.id == place.module; };
    if (module == modules_.end() || std::any_of(images.begin(), images.end(), is_same)) continue;
    UniqueFd image = module->second.image.duplicate();
    if (!image) return std::nullopt;
    images.push_back({place.module, module->second.name, std::move(image)});
  }
  return images;
}

std::string CoreModules::places_text(const CoreExplain& question) const {
  std::string text;
  for (const CodePlace& place : question.calls) {
    const auto module = modules_.find(place.module);
    if (module == modules_.end()) continue;
    const std::string file = std::filesystem::path(module->second.name).filename().string();
    text += "\n     " + frame_text(fmt::format("{}+0x{:x}", file, place.offset), place);
  }
  if (text.empty()) return text;
  return fmt::format("\n - {} (their source could not be read in time):{}", places_title(question), text);
}

}  // namespace softtpu
