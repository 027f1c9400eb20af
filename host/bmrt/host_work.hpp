// What a part for the host's processor needs to run: one layer with its parameters and constants, and the library of
// the program's own layers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/bmodel/host_layer.hpp"

namespace softtpu::bmrt {

// libusercpu.so: layers of the program's own, by the published functions user_cpu_init, user_cpu_process and
// user_cpu_uninit.
class UserLayers {
 public:
  // The library that the process has, else the one that the dynamic linker finds.
  static Result<std::shared_ptr<UserLayers>> find();
  ~UserLayers();
  UserLayers(const UserLayers&) = delete;
  UserLayers& operator=(const UserLayers&) = delete;
  Result<std::vector<bmodel::HostTensor>> run(std::span<const std::uint8_t> parameters,
                                              std::span<const bmodel::HostTensor> inputs,
                                              std::span<const bmodel::Tensor> outputs) const;

 private:
  UserLayers() = default;
  void* library_ = nullptr;
  void* handle_ = nullptr;
  void* process_ = nullptr;
  void* uninit_ = nullptr;
};

struct HostWork {
  // An error is a part that is left out.
  static Result<std::shared_ptr<const HostWork>> of(const bmodel::DynamicPart& part);
  Result<std::vector<bmodel::HostTensor>> run(std::span<const bmodel::HostTensor> inputs,
                                              std::span<const bmodel::Tensor> outputs, bool whole) const;

  std::int32_t type = 0;
  std::vector<std::uint8_t> parameters;
  std::map<std::string, std::vector<std::uint8_t>> constants;
  std::vector<bool> read_later;  // of each output: instructions behind it read it
  std::string label;
  std::shared_ptr<const UserLayers> user;
};

}  // namespace softtpu::bmrt
