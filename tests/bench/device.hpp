// A device in the benchmark's own process: kernels are lambdas, so that only the operation is timed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "device/core/core.hpp"

namespace softtpu::bench {

class BenchDevice {
 public:
  // One device per chip for the whole program.
  static BenchDevice& of(const char* chip);
  // That of the rows without the name of another chip: today's revision, or the one that --revision names.
  static BenchDevice& bm1684x() { return of(revision.c_str()); }
  inline static std::string revision = "bm1684x";

  // Runs `kernel` as a launch; a fault ends the program with its text, because a figure of refused work means nothing.
  void run(const std::function<void()>& kernel);
  // Ordinary f16 values in every local memory: no infinities, and as f32, bf16 or bytes nothing special either.
  void fill_local_memory();
  std::uint64_t scratch(std::uint64_t offset = 0) const;
  Memories& memories() { return *memories_; }
  const Chip& chip() const { return memories_->chip(); }

 private:
  explicit BenchDevice(const char* chip);
  std::unique_ptr<Memories> memories_;
  std::unique_ptr<Core> core_;
};

}  // namespace softtpu::bench
