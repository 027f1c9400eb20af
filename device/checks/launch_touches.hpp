// Which bytes of global memory the launches of a device have read and written last: what a copy of the host program is
// compared with that did not wait for them. Cores write, the server reads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "device/core/observer.hpp"
#include "device/memory/shared_bytes.hpp"

namespace softtpu {

class LaunchTouches {
 public:
  // Older ones are forgotten.
  static constexpr std::uint64_t kMost = 1 << 16;

  struct Touch {
    std::uint64_t begin = 0, end = 0;
    Op op{};
    bool writes = false;
    std::array<char, 45> kernel{};  // its name, cut off where it is longer
  };

  static Result<std::shared_ptr<LaunchTouches>> create();

  void add(const Touch& touch);
  // How many there have been.
  std::uint64_t count() const { return header().count.load(std::memory_order_acquire); }
  // The latest one from number `first` on that touches bytes of [begin, end) and writes them or meets a write.
  std::optional<Touch> find(std::uint64_t first, std::uint64_t begin, std::uint64_t end, bool writes) const;

 private:
  struct Header {
    std::atomic<std::uint64_t> count;
  };
  explicit LaunchTouches(SharedBytes bytes) : bytes_(std::move(bytes)) {}
  Header& header() const { return *reinterpret_cast<Header*>(bytes_.data()); }
  Touch* touches() const { return reinterpret_cast<Touch*>(bytes_.data() + sizeof(Touch)); }

  SharedBytes bytes_;
};

// Notes what the launches' commands touch.
std::shared_ptr<Observer> make_touch_recorder(std::shared_ptr<LaunchTouches> touches);

}  // namespace softtpu
