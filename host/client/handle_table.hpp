// The names that programs know things by: streams, events, handles. A name is looked up, never followed, and never
// given out twice, so one that was destroyed, or never given out, is always refused.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace softtpu::host {

// Of all tables and libraries of the program, so that no two things have one name.
[[gnu::visibility("default")]] void* new_handle_name();
// Why a table has nothing of that name: "the stream is NULL", "the stream was destroyed or never created".
[[gnu::visibility("default")]] std::string why_unknown(std::string_view kind, const void* name,
                                                       std::string_view fate = "destroyed or never created");

// What may have become of a module, and what to do.
inline constexpr std::string_view kModuleFate =
    "unloaded or never loaded; load it again, and give the handle that the load returns";

template <class Thing>
class HandleTable {
 public:
  void* add(std::shared_ptr<Thing> thing) {
    void* const name = new_handle_name();
    add_as(name, std::move(thing));
    return name;
  }
  // Under a name that the thing has elsewhere already.
  void add_as(const void* name, std::shared_ptr<Thing> thing) {
    const std::unique_lock lock(mutex_);
    things_.emplace(name, std::move(thing));
  }
  // nullptr: no thing has the name.
  std::shared_ptr<Thing> find(const void* name) const {
    const std::shared_lock lock(mutex_);
    const auto found = things_.find(name);
    return found == things_.end() ? nullptr : found->second;
  }
  // The same, and the name is free from now on.
  std::shared_ptr<Thing> take(const void* name) {
    const std::unique_lock lock(mutex_);
    const auto found = things_.find(name);
    if (found == things_.end()) return nullptr;
    auto thing = std::move(found->second);
    things_.erase(found);
    return thing;
  }
  std::vector<std::shared_ptr<Thing>> all() const {
    const std::shared_lock lock(mutex_);
    std::vector<std::shared_ptr<Thing>> things;
    for (const auto& [name, thing] : things_) things.push_back(thing);
    return things;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<Thing>> things_;
};

}  // namespace softtpu::host
