// What a p_bmrt points to: a device and the networks loaded on it. Pointers that programs pass in are looked up, never
// trusted. Any thread.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "host/bmrt/log.hpp"
#include "host/bmrt/network.hpp"

namespace softtpu::bmrt {

class Runtime {
 public:
  explicit Runtime(std::vector<bm_handle_t> handles) : handles_(std::move(handles)) {}

  bm_handle_t handle() const { return handles_.front(); }
  const std::vector<bm_handle_t>& handles() const { return handles_; }

  // All networks of a file, or none.
  // `path`: where the file lies, with what the compiler has written beside it.
  Result<void> load(std::span<const std::uint8_t> file);
  Result<void> load(const std::shared_ptr<const bmodel::ModelFile>& file, const std::string& path);
  Result<void> load(std::span<const std::uint8_t> file, MemorySource& memory, const bmodel::Decrypt& decrypt = {},
                    const std::string& path = {});
  // Null: there is none.
  std::shared_ptr<Network> find(const char* name) const;
  std::shared_ptr<Network> find(std::size_t index) const;
  int index_of(const char* name) const;  // -1: there is none
  std::size_t count() const;
  // Constants stay on the device.
  void unload();

  // Threads, each with a number that its launches carry.
  void prepare_thread(std::uint64_t index);
  bool is_prepared(std::uint64_t index) const;

  std::atomic<std::uint32_t> flags{BM_RUNTIME_AUTO};
  std::atomic<bool> static_parts{false};      // parts that cannot run are left out
  std::string firmware = firmware_setting();  // what walks dynamic parts (Walkers)
  Network::Show show;                         // empty: networks are not shown
  struct Map {
    std::string network;
    std::size_t stage = 0;
    std::string json;
  } map;  // of tensors, beside the file; of no network: none

 private:
  std::vector<bm_handle_t> handles_;
  mutable std::shared_mutex mutex_;
  std::vector<std::shared_ptr<Network>> networks_;
  SharedContext context_;
  LoadedWalkers walkers_;
  std::vector<std::shared_ptr<const Constants>> kept_constants_;
  std::set<std::uint64_t> threads_;
};

// Gives a runtime out, and takes it back. A runtime lives as long as a call uses it.
void* publish(std::shared_ptr<Runtime> runtime);
bool withdraw(void* p_bmrt);
// Null, after a message in the name of `function`, when the pointer is none.
std::shared_ptr<Runtime> find_runtime(const char* function, void* p_bmrt);

}  // namespace softtpu::bmrt

// The first lines of a function that takes a runtime: `runtime` is it, or the function returns.
#define SOFTTPU_RUNTIME(p_bmrt, result)                                                                  \
  const std::shared_ptr<softtpu::bmrt::Runtime> runtime = softtpu::bmrt::find_runtime(__func__, p_bmrt); \
  if (runtime == nullptr) return result
// The same with the network of a name.
#define SOFTTPU_NETWORK(p_bmrt, name, result)                                                                    \
  SOFTTPU_RUNTIME(p_bmrt, result);                                                                               \
  const std::shared_ptr<softtpu::bmrt::Network> network = softtpu::bmrt::find_network(__func__, *runtime, name); \
  if (network == nullptr) return result
namespace softtpu::bmrt {
std::shared_ptr<Network> find_network(const char* function, const Runtime& runtime, const char* name);
}
