// CoreModules: the modules and functions that a core shall have, whatever became of its processes; which of them the
// present process has; their images, for the report of its end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/server/crash/symbolizer.hpp"
#include "device/server/queue/core_items.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/core_messages.hpp"

namespace softtpu {

class CoreModules {
 public:
  // Processes in a row that may end while they load a module again, before launches of it fail with that.
  static constexpr int kMostDeaths = 3;

  struct Module {
    std::string name;
    UniqueFd image;  // none: there was no descriptor left
    CoreTerms terms;
    std::map<std::uint32_t, std::string> functions;
    bool is_there = true;  // the present process has it, or an item that was sent loads it
    int deaths = 0;        // of processes that were loading it again, in a row
    std::string problem;   // why it is not there
  };

  // A load or a lookup that has succeeded; other items change nothing. Takes the image.
  void note_success(CoreItem& item);
  // The present process does not have the module, and why. `death`: its end was the reason.
  void note_failure(std::uint32_t module, const std::string& problem, bool death);
  void forget(std::uint32_t module) { static_cast<void>(take(module)); }
  // The module, which is no longer there.
  std::optional<Module> take(std::uint32_t module);

  // Another process, which has nothing.
  void begin_again();
  bool are_all_there() const { return absent_ == 0; }
  // A module that is known and that the present process does not have; null: it has it, or it is unknown.
  Module* find_absent(std::uint32_t module);
  // The number of a function's module; nothing: it is unknown.
  std::optional<std::uint32_t> module_of(std::uint32_t function) const;
  std::vector<std::uint32_t> absent() const;
  // It is loaded again now.
  void note_restored(Module& module);

  // Those that the calls lie in; nothing when there are not enough descriptors.
  std::optional<std::vector<Symbolizer::Module>> images_of(const msg::CoreExplain& question) const;
  // The calls without their source: what is known where they could not be explained.
  std::string places_text(const msg::CoreExplain& question) const;

 private:
  std::map<std::uint32_t, Module> modules_;
  std::unordered_map<std::uint32_t, std::uint32_t> modules_by_function_;
  std::size_t absent_ = 0;
};

}  // namespace softtpu
