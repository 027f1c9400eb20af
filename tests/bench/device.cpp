#include "tests/bench/device.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

namespace softtpu::bench {
namespace {

template <class T>
T need(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "benchmark: %s\n", result.error().text.c_str());
  std::exit(1);
}

}  // namespace

BenchDevice::BenchDevice(const char* chip)
    : memories_(need(Memories::create(need(load_chip(chip))))), core_(std::make_unique<Core>(*memories_, 0)) {}

BenchDevice& BenchDevice::of(const char* chip) {
  static std::map<std::string, std::unique_ptr<BenchDevice>> devices;
  auto& device = devices[chip];
  if (device == nullptr) device.reset(new BenchDevice(chip));
  return *device;
}

void BenchDevice::run(const std::function<void()>& kernel) {
  const auto call = [](const void* argument) { (*static_cast<const std::function<void()>*>(argument))(); };
  const LaunchOutcome outcome = core_->run(call, "benchmark", &kernel);
  if (outcome.ok) return;
  std::fprintf(stderr, "benchmark: %s\n", outcome.text.c_str());
  std::exit(1);
}

void BenchDevice::fill_local_memory() {
  std::mt19937 random(3);
  auto* words = reinterpret_cast<std::uint16_t*>(memories().local(0));
  for (std::size_t i = 0; i < chip().local_mem.bytes / 2; ++i)
    words[i] = static_cast<std::uint16_t>(0x3800U | (random() & 0x83FFU));
}

std::uint64_t BenchDevice::scratch(std::uint64_t offset) const {
  return chip().global_mem.start + chip().global_reserved + offset;
}

}  // namespace softtpu::bench
