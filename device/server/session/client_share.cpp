#include "device/server/session/client_share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/transport/event_loop.hpp"

namespace softtpu {
Result<ClientShare::Hold> ClientShare::hold(std::size_t& count, std::size_t most, const char* what, const char* setting,
                                            std::size_t descriptors) {
  if (count >= most) {
    return Error{ErrorKind::kResource,
                 fmt::format("this program has {} {} already (its share: {}).", count, what, setting)};
  }
  if (descriptors > limits_.descriptors - std::min(descriptors_, limits_.descriptors)) {
    return Error{ErrorKind::kResource,
                 fmt::format("this program's connections and modules take {} descriptors of the device already (its "
                             "share: SOFTTPU_CLIENT_DESCRIPTORS).",
                             descriptors_)};
  }
  ++count;
  descriptors_ += descriptors;
  return Hold(nullptr, [self = shared_from_this(), &count, descriptors](void*) {
    --count;
    self->descriptors_ -= descriptors;
  });
}

Result<ClientShare::Hold> ClientShare::hold_connection() {
  return hold(connections_, limits_.connections, "connections", "SOFTTPU_CLIENT_CONNECTIONS", 1);
}

Result<ClientShare::Hold> ClientShare::hold_module(std::size_t descriptors) {
  return hold(modules_, limits_.modules, "modules", "SOFTTPU_CLIENT_MODULES", descriptors);
}

Result<void> ClientShare::take_memory(const void* device, std::uint64_t bytes) {
  std::uint64_t& held = bytes_[device];
  if (bytes > limits_.memory_bytes - std::min(held, limits_.memory_bytes)) {
    return Error{ErrorKind::kResource,
                 fmt::format("no device memory for {}: this program has {} of its share of {} (SOFTTPU_CLIENT_MEMORY).",
                             to_size_text(bytes), to_size_text(held), to_size_text(limits_.memory_bytes))};
  }
  held += bytes;
  return {};
}

void ClientShare::wait_for_turn(EventLoop& loop, std::function<void()> callback) {
  turns_.push_back(std::move(callback));
  if (!std::exchange(turn_comes_, true)) next_turn(loop);
}

void ClientShare::next_turn(EventLoop& loop) {
  loop.soon([self = shared_from_this(), &loop] {
    loop.let_woken_run();
    const auto callback = std::move(self->turns_.front());
    self->turns_.pop_front();
    callback();
    self->turn_comes_ = !self->turns_.empty();
    if (self->turn_comes_) self->next_turn(loop);
  });
}

void ClientShare::in_turn(Job job) {
  jobs_.push_back(std::move(job));
  next_job();
}

void ClientShare::next_job() {
  if (starting_) return;
  starting_ = true;
  while (!in_core_ && !jobs_.empty()) {
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    in_core_ = true;
    job([self = shared_from_this()] {
      self->in_core_ = false;
      self->next_job();
    });
  }
  starting_ = false;
}

std::shared_ptr<ClientShare> ClientShares::of(const std::string& client) {
  std::erase_if(shares_, [](const auto& row) { return row.second.expired(); });
  std::weak_ptr<ClientShare>& known = shares_[client];
  auto share = known.lock();
  if (!share) known = share = std::make_shared<ClientShare>(limits_);
  return share;
}

}  // namespace softtpu
