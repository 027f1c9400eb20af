// Symbolizer: a process that turns what a dead core has left in its status pages into text. It has these pages to
// itself, loads the modules that the calls lie in, reads their debug information (which can take hundreds of
// milliseconds), answers once and is gone; the core that took the dead one's place works meanwhile. It may die of
// damaged pages. Lives on the server's thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/server/core_process/core_process.hpp"
#include "device/server/core_process/status_pages.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/core_messages.hpp"
#include "runtime/protocol/frame.hpp"
#include "runtime/transport/outbox.hpp"

namespace softtpu {

class EventLoop;
struct DeviceObservers;

class Symbolizer {
 public:
  struct Module {
    std::uint32_t id = 0;
    std::string name;
    UniqueFd image;
  };
  // What the core has left behind, and what is asked of it.
  struct Remains {
    StatusPages pages;
    std::vector<Module> modules;
    msg::CoreExplain question;
    bool own_namespace = true;
  };
  // Nothing: no explanation came, or not in time. May destroy the symbolizer.
  using Answer = std::function<void(const std::optional<msg::CoreExplainReply>&)>;

  // Answers at the latest 800 ms later.
  static Result<std::unique_ptr<Symbolizer>> start(EventLoop& loop, Memories& memories,
                                                   const DeviceObservers& observers, Remains remains, Answer answer);
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // Until then the process waits: several that read at the same time would all be late.
  void begin();
  bool has_begun() const { return begun_; }

 private:
  Symbolizer(EventLoop& loop, Answer answer);
  void wait();
  void flush();
  void when_readable();
  void stop();
  void finish(const std::optional<msg::CoreExplainReply>& reply);

  EventLoop& loop_;
  Answer answer_;
  UniqueFd socket_;
  CoreProcess process_;
  std::uint64_t question_ = 0;  // its number
  bool begun_ = false;
  FrameBuffer in_;
  Outbox out_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for the timer, which cannot be stopped
};

}  // namespace softtpu
