// Notes which code touches chosen bytes of this process: their pages are closed, and the first access to one opens it
// again. For a process with one thread that runs kernels; a system call that is given such bytes fails with EFAULT.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device/core/call_site.hpp"

namespace softtpu {

class PageGuard {
 public:
  struct Touch {
    const std::uint8_t* address = nullptr;
    bool writes = false;
    CallStack stack;  // of the code that did it, innermost first
  };

  PageGuard() = default;
  ~PageGuard() { open(); }
  PageGuard(const PageGuard&) = delete;
  PageGuard& operator=(const PageGuard&) = delete;

  // The bytes are part of memory that is mapped for reading and writing. Without room for more ranges nothing happens.
  void close(const std::uint8_t* begin, std::uint64_t bytes);
  // Opens all pages.
  void open();
  // Since the last forget_touches(), at most as many as are kept: with the last one all pages are opened.
  std::span<const Touch> touches() const { return {touches_.data(), touch_count_}; }
  void forget_touches() { touch_count_ = 0; }

  // For the signal handler: an access at `address` failed. False: for another reason than this guard.
  bool take(std::uintptr_t address, bool writes, const void* code);

 private:
  struct Pages {
    std::uintptr_t begin = 0, end = 0;
  };
  void open_page(std::size_t index, std::uintptr_t page);

  // Fixed places: the handler must not allocate.
  std::array<Pages, 128> closed_{};
  std::size_t closed_count_ = 0;
  std::array<Touch, 64> touches_{};
  std::size_t touch_count_ = 0;
};

}  // namespace softtpu
