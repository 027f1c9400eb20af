#include "device/server/queue/core_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "device/server/crash/crash_info.hpp"

namespace softtpu {

void CoreModules::note_success(CoreItem& item) {
  const std::span payload = std::span(item.frame).subspan(kFrameHeaderBytes);
  if (item.type == MessageType::kCoreLoad) {
    if (auto load = find_message<msg::CoreLoad>(payload)) {
      Module& module = modules_[load->module];
      module.name = load->name;
      if (item.image) module.image = std::move(item.image);
      module.terms = item.terms;
      module.deaths = 0;
      module.problem.clear();
    }
  }
  if (item.type == MessageType::kCoreDefine) {
    const auto define = find_message<msg::CoreDefine>(payload);
    const auto module = define ? modules_.find(define->module) : modules_.end();
    // The module may have been unloaded since.
    if (module == modules_.end()) return;
    module->second.functions[define->function] = define->name;
    modules_by_function_[define->function] = define->module;
  }
}

void CoreModules::note_failure(std::uint32_t module, const std::string& problem, bool death) {
  const auto known = modules_.find(module);
  if (known == modules_.end()) return;
  if (std::exchange(known->second.is_there, false)) ++absent_;
  known->second.problem = problem;
  if (death) ++known->second.deaths;
}

std::optional<CoreModules::Module> CoreModules::take(std::uint32_t module) {
  auto known = modules_.extract(module);
  if (!known) return std::nullopt;
  if (!known.mapped().is_there) --absent_;
  for (const auto& [function, name] : known.mapped().functions) modules_by_function_.erase(function);
  return std::move(known.mapped());
}

void CoreModules::begin_again() {
  for (auto& [id, module] : modules_) module.is_there = false;
  absent_ = modules_.size();
}

CoreModules::Module* CoreModules::find_absent(std::uint32_t module) {
  const auto known = modules_.find(module);
  return known == modules_.end() || known->second.is_there ? nullptr : &known->second;
}

std::optional<std::uint32_t> CoreModules::module_of(std::uint32_t function) const {
  const auto known = modules_by_function_.find(function);
  if (known == modules_by_function_.end()) return std::nullopt;
  return known->second;
}

std::vector<std::uint32_t> CoreModules::absent() const {
  std::vector<std::uint32_t> absent;
  for (const auto& [id, module] : modules_) {
    if (!module.is_there) absent.push_back(id);
  }
  return absent;
}

void CoreModules::note_restored(Module& module) {
  if (!std::exchange(module.is_there, true)) --absent_;
}

std::optional<std::vector<Symbolizer::Module>> CoreModules::images_of(const msg::CoreExplain& question) const {
  std::vector<Symbolizer::Module> images;
  for (const msg::CodeAddress& place : question.calls) {
    const auto module = modules_.find(place.module);
    const auto is_same = [&](const Symbolizer::Module& m) { return m.id == place.module; };
    if (module == modules_.end() || std::any_of(images.begin(), images.end(), is_same)) continue;
    UniqueFd image = module->second.image.duplicate();
    if (!image) return std::nullopt;
    images.push_back({place.module, module->second.name, std::move(image)});
  }
  return images;
}

std::string CoreModules::places_text(const msg::CoreExplain& question) const {
  std::string text;
  for (const msg::CodeAddress& place : question.calls) {
    const auto module = modules_.find(place.module);
    if (module == modules_.end()) continue;
    const std::string file = std::filesystem::path(module->second.name).filename().string();
    text += "\n     " + frame_text(fmt::format("{}+0x{:x}", file, place.offset), place);
  }
  if (text.empty()) return text;
  return fmt::format("\n - {} (their source could not be read in time):{}", places_title(question), text);
}

}  // namespace softtpu
