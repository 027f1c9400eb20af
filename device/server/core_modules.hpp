// CoreModules: the modules and functions that a core has, which a core that takes its place is given before anything
// else; their images, for whoever explains its end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/server/core_items.hpp"
#include "device/server/explainer.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/core_messages.hpp"

namespace softtpu {

class CoreModules {
 public:
  struct Module {
    std::string name;
    UniqueFd image;
    CoreTerms terms;
    std::map<std::uint32_t, std::string> functions;
  };
  using ById = std::map<std::uint32_t, Module>;

  // A load or a lookup that has succeeded; other items change nothing. Takes the image.
  void note_success(CoreItem& item);
  void forget(std::uint32_t module) { modules_.erase(module); }
  // The module, which is no longer there.
  std::optional<Module> take(std::uint32_t module);
  ById take_all() { return std::exchange(modules_, {}); }

  // Those that the calls lie in; nothing when there are not enough descriptors.
  std::optional<std::vector<Explainer::Module>> images_of(const CoreExplain& question) const;
  // The calls without their source: what is known when nobody could explain them.
  std::string places_text(const CoreExplain& question) const;

 private:
  ById modules_;
};

}  // namespace softtpu
