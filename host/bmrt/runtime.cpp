#include "host/bmrt/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>

#include "host/client/handle_table.hpp"
#include "host/client/log_sink.hpp"
#include "runtime/bmodel/runs.hpp"
#include "softtpu/device.h"

namespace softtpu::bmrt {
namespace {

// Never destroyed: exit handlers of the program may still come here.
struct Published {
  std::mutex mutex;
  std::map<void*, std::shared_ptr<Runtime>> known;
};
Published& published() {
  static auto& instance = *new Published;
  return instance;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

Result<void> check_chip(bm_handle_t handle, const bmodel::Model& model) {
  const bmodel::Runs* found = bmodel::find_runs(lower(model.chip));
  if (found == nullptr) return Error{ErrorKind::kUnsupported, bmodel::why_chip_cannot_run(model.chip)};
  unsigned id = 0;
  if (bm_get_chipid(handle, &id) != BM_SUCCESS) return Error{ErrorKind::kConnection, "the device does not answer"};
  if (id == found->id) return {};
  return Error{ErrorKind::kUsage,
               fmt::format("the file is for chip {}, the device is a {:x} (SOFTTPU_CHIP)", model.chip, id)};
}

}  // namespace

Result<void> Runtime::load(std::span<const std::uint8_t> file) {
  MemorySource own(handle());
  return load(file, own);
}

Result<void> Runtime::load(const std::shared_ptr<const bmodel::ModelFile>& file, const std::string& path) {
  MemorySource own(handle());
  own.give_file(file);
  return load(file->bytes(), own, {}, path);
}

Result<void> Runtime::load(std::span<const std::uint8_t> file, MemorySource& memory, const bmodel::Decrypt& decrypt,
                           const std::string& path) {
  auto model = bmodel::read_model(file, decrypt, memory.fetch());
  if (!model) return model.error();
  const std::string beside = path.empty() ? std::string() : bmodel::read_map_beside(path);
  for (bmodel::Network& network : model->networks) {
    for (bmodel::Stage& stage : network.stages) bmodel::try_tensor_map(stage, beside);
    if (network.name != map.network || map.stage >= network.stages.size()) continue;
    if (auto used = bmodel::use_tensor_map(network.stages[map.stage], map.json); !used) return used;
  }
  if (auto good = check_chip(handle(), *model); !good) return good;
  const std::unique_lock lock(mutex_);
  auto walkers = Walkers::make(handle(), *model, firmware, walkers_);
  if (!walkers) return walkers.error();
  std::vector<std::shared_ptr<Network>> loaded;
  for (const bmodel::Network& network : model->networks) {
    const auto has_name = [&](const auto& other) { return other->name() == network.name; };
    if (std::any_of(networks_.begin(), networks_.end(), has_name) ||
        std::any_of(loaded.begin(), loaded.end(), has_name))
      return Error{ErrorKind::kUsage, fmt::format("a network \"{}\" is loaded already", network.name)};
    const bool share = (flags & BM_RUNTIME_SHARE_MEM) != 0;
    auto made = Network::load(memory, network, *walkers, share ? &context_ : nullptr, static_parts);
    if (!made) return Error{made.error().kind, fmt::format("network \"{}\": {}", network.name, made.error().text)};
    loaded.push_back(*std::move(made));
    for (std::size_t i = 0; i < loaded.back()->stages(); ++i) {
      const auto& parts = loaded.back()->left_out(i);
      if (!parts.empty())
        bmlib_log("bmrt", BMLIB_LOG_WARNING, "network \"%s\": %s: %s.\n", network.name.c_str(),
                  static_parts ? "left out" : "cannot run", fmt::format("{}", fmt::join(parts, "; ")).c_str());
    }
  }
  if (loaded.empty()) return Error{ErrorKind::kUsage, "the file holds no network"};
  std::move(loaded.begin(), loaded.end(), std::back_inserter(networks_));
  return {};
}

std::shared_ptr<Network> Runtime::find(const char* name) const {
  if (name == nullptr) return nullptr;
  const std::shared_lock lock(mutex_);
  const auto found =
      std::find_if(networks_.begin(), networks_.end(), [&](const auto& network) { return network->name() == name; });
  return found == networks_.end() ? nullptr : *found;
}

std::shared_ptr<Network> Runtime::find(std::size_t index) const {
  const std::shared_lock lock(mutex_);
  return index < networks_.size() ? networks_[index] : nullptr;
}

int Runtime::index_of(const char* name) const {
  const std::shared_lock lock(mutex_);
  for (std::size_t i = 0; name != nullptr && i < networks_.size(); ++i) {
    if (networks_[i]->name() == name) return static_cast<int>(i);
  }
  return -1;
}

void Runtime::unload() {
  std::vector<std::shared_ptr<Network>> last;  // freed when the lock is
  const std::unique_lock lock(mutex_);
  for (const auto& network : networks_) network->add_constants(kept_constants_);
  last.swap(networks_);
  context_ = {};
}

void Runtime::prepare_thread(std::uint64_t index) {
  const std::unique_lock lock(mutex_);
  threads_.insert(index);
}

bool Runtime::is_prepared(std::uint64_t index) const {
  const std::shared_lock lock(mutex_);
  return threads_.contains(index);
}

std::size_t Runtime::count() const {
  const std::shared_lock lock(mutex_);
  return networks_.size();
}

void* publish(std::shared_ptr<Runtime> runtime) {
  void* const pointer = runtime.get();
  const std::lock_guard lock(published().mutex);
  published().known.emplace(pointer, std::move(runtime));
  return pointer;
}

bool withdraw(void* p_bmrt) {
  std::shared_ptr<Runtime> last;  // freed when the lock is
  const std::lock_guard lock(published().mutex);
  const auto found = published().known.find(p_bmrt);
  if (found == published().known.end()) return false;
  last = std::move(found->second);
  published().known.erase(found);
  return true;
}

std::shared_ptr<Runtime> find_runtime(const char* function, void* p_bmrt) {
  const std::lock_guard lock(published().mutex);
  const auto found = published().known.find(p_bmrt);
  if (found != published().known.end()) return found->second;
  refuse(function, host::why_unknown("runtime", p_bmrt));
  return nullptr;
}

std::shared_ptr<Network> find_network(const char* function, const Runtime& runtime, const char* name) {
  std::shared_ptr<Network> network = runtime.find(name);
  if (network == nullptr)
    refuse(function, name == nullptr ? "the network's name is NULL" : fmt::format("no network \"{}\" is loaded", name));
  return network;
}

namespace {

std::atomic<int>& level() {
  static std::atomic<int> least = [] {
    const char* const wanted = std::getenv("BMRT_LOG_VERSION");
    return wanted == nullptr ? int{BMRT_LOG_INFO}
                             : std::clamp(std::atoi(wanted), int{BMRT_LOG_INFO}, int{BMRT_LOG_FATAL});
  }();
  return least;
}

}  // namespace

int log_level() { return level(); }
void set_log_level(int least) { level() = least; }

bool refuse(const char* function, const std::string& text) {
  softtpu_set_last_failure(host::called_function(function), text.c_str(), BM_ERR_FAILURE);
  if (level() > BMRT_LOG_WRONG) return false;
  bmlib_log("bmrt", BMLIB_LOG_ERROR, "%s: %s.\n", host::called_function(function), text.c_str());
  return false;
}

void log_info(const char* function, const std::string& text) {
  if (level() > BMRT_LOG_INFO) return;
  bmlib_log("bmrt", BMLIB_LOG_INFO, "%s: %s.\n", function, text.c_str());
}

}  // namespace softtpu::bmrt
