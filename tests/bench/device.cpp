#include "tests/bench/device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

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
  // 1 MB, again and again: rows are filled many times in a run.
  static const auto words = [] {
    std::mt19937 random(3);
    std::vector<std::uint16_t> list(1 << 19);
    for (std::uint16_t& word : list) word = static_cast<std::uint16_t>(0x3800U | (random() & 0x83FFU));
    return list;
  }();
  const std::size_t part = words.size() * sizeof(words[0]);
  for (std::size_t done = 0; done < chip().local_mem.bytes; done += part)
    std::memcpy(memories().local(0) + done, words.data(), std::min<std::size_t>(part, chip().local_mem.bytes - done));
}

std::uint64_t BenchDevice::scratch(std::uint64_t offset) const {
  return chip().global_mem.start + chip().global_reserved + offset;
}

}  // namespace softtpu::bench
