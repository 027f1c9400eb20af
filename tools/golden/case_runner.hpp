// Runs recorded cases on a device and judges the bytes that come back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/golden/case.hpp"

namespace softtpu::golden {

// What running a case needs of a device. Addresses are global memory addresses.
class Target {
 public:
  virtual ~Target() = default;
  virtual AddressBases bases() const = 0;
  virtual std::string chip() const = 0;
  // A block for the script and the answer, at least this large; its address stays valid.
  virtual Result<std::uint64_t> buffer(std::uint64_t bytes) = 0;
  virtual Result<void> write(std::uint64_t addr, const void* data, std::uint64_t bytes) = 0;
  virtual Result<void> read(std::uint64_t addr, void* data, std::uint64_t bytes) = 0;
  // Runs the replay kernel on so many cores; the error is the fault of the launch.
  virtual Result<void> launch(const void* arguments, std::uint64_t bytes, std::size_t cores) = 0;
};

// kOtherNpu: refused on purpose, whatever the recording says (docs/deviations.md: operands on different start NPUs).
enum class Verdict : std::uint8_t { kPassed, kFailed, kSkipped, kOtherNpu };

struct CaseResult {
  Verdict verdict = Verdict::kFailed;
  std::string text;  // why it failed or was skipped: first differing elements, fault text ...
};

class CaseRunner {
 public:
  explicit CaseRunner(Target& target) : target_(target) {}
  CaseResult run(const Case& recorded);

 private:
  Target& target_;
};

}  // namespace softtpu::golden
