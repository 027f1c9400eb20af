#include "runtime/transport/rpc_client.hpp"

#include <fmt/format.h>

#include "runtime/transport/socket.hpp"

namespace softtpu {

std::uint64_t RpcClient::next_request() {
  const std::lock_guard lock(mutex_);
  return ++last_request_;
}

Error RpcClient::bad_reply(const char* expected, MessageType got) const {
  return Error{ErrorKind::kConnection,
               fmt::format("the device answers with message {} where {} is due", static_cast<int>(got), expected)};
}

Result<void> RpcClient::send_frame(const Bytes& frame, std::span<const int> fds) {
  const std::lock_guard lock(send_mutex_);
  if (auto sent = send_all(socket_.get(), frame, fds); !sent) {
    return Error{ErrorKind::kConnection, "the device process has ended (" + sent.error().text + ")"};
  }
  return {};
}

Result<RpcReply> RpcClient::exchange(std::uint64_t request, const Bytes& frame, std::span<const int> fds) {
  Waiting mine;
  {
    const std::lock_guard lock(mutex_);
    if (broken_) return *broken_;
    waiting_.emplace(request, &mine);
  }
  const auto sent = send_frame(frame, fds);
  std::unique_lock lock(mutex_);
  if (sent) {
    while (!mine.reply && !broken_) {
      if (reading_) {
        mine.ready.wait(lock);
      } else {
        read_for(lock, mine);
      }
    }
  }
  waiting_.erase(request);
  // The reading thread has its answer: another one that waits takes over.
  if (!reading_ && !waiting_.empty()) waiting_.begin()->second->ready.notify_one();
  if (mine.reply) return std::move(*mine.reply);
  return broken_ ? *broken_ : sent.error();
}

// Reads frames until `mine` has its reply or the connection breaks. The lock is free while the thread waits for bytes.
void RpcClient::read_for(std::unique_lock<std::mutex>& lock, Waiting& mine) {
  reading_ = true;
  while (!mine.reply && !broken_) {
    auto frame = buffer_.next();
    if (!frame) {
      broken_ = frame.error();
    } else if (*frame) {
      Frame& got = **frame;
      if (const auto found = waiting_.find(got.request); found != waiting_.end()) {
        found->second->reply = RpcReply{got.type, Bytes(got.payload.begin(), got.payload.end()), std::move(got.fds)};
        if (found->second != &mine) found->second->ready.notify_one();
      } else if (got.request == 0 && take_notice_) {
        lock.unlock();
        take_notice_(got);
        lock.lock();
      }
    } else {
      lock.unlock();
      auto received = receive_soon(socket_.get(), buffer_, wait_);
      lock.lock();
      if (!received) {
        broken_ = received.error();
      } else if (*received == Received::kEnd) {
        broken_ = Error{ErrorKind::kConnection, "the device process has ended"};
      }
    }
  }
  reading_ = false;
  if (broken_) {
    for (auto& [request, waiting] : waiting_) waiting->ready.notify_one();
  }
}

}  // namespace softtpu
