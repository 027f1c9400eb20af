#include "runtime/transport/rpc_client.hpp"

#include <fmt/format.h>

#include <new>

namespace softtpu {
namespace {

constexpr std::chrono::milliseconds kAskEvery{100};
// Room that is made before the request is sent, so that what an ordinary answer tells has been done is not lost for
// want of memory.
constexpr std::size_t kUsualReplyBytes = 128;
// How long the answer of an interrupted call may take.
constexpr std::chrono::seconds kAnswerTime{2};

}  // namespace

std::uint64_t RpcClient::next_request() {
  const std::lock_guard lock(mutex_);
  return ++last_request_;
}

Error RpcClient::bad_reply(std::string_view expected, MessageType got) const {
  return Error{ErrorKind::kConnection,
               fmt::format("the device answered with message {} instead of {}", static_cast<int>(got), expected)};
}

Result<void> RpcClient::send_frame(const Bytes& frame, std::span<const int> fds) {
  const std::lock_guard lock(send_mutex_);
  if (auto sent = send_all(socket_.get(), frame, fds); !sent) {
    is_broken_ = true;
    return Error{ErrorKind::kConnection, fmt::format("{} ({})", kEnded, sent.error().text)};
  }
  return {};
}

Result<RpcReply> RpcClient::exchange(std::uint64_t request, const Bytes& frame, std::span<const int> fds,
                                     const Interrupt* interrupt) {
  Waiting mine;
  mine.interrupt = interrupt;
  mine.room.reserve(kUsualReplyBytes);
  {
    const std::lock_guard lock(mutex_);
    if (broken_) return *broken_;
    waiting_.emplace(request, &mine);
  }
  // Also when there is no memory for what follows: `mine` ends with this call.
  const auto end = [&] {
    waiting_.erase(request);
    // The reading thread has its answer: another one that waits takes over.
    if (!reading_ && !waiting_.empty()) waiting_.begin()->second->ready.notify_one();
  };
  Result<void> sent;
  std::unique_lock lock(mutex_, std::defer_lock);
  try {
    sent = send_frame(frame, fds);
    lock.lock();
    if (sent) wait_for_reply(lock, mine);
  } catch (const std::bad_alloc&) {
    if (!lock.owns_lock()) lock.lock();
    end();
    throw;
  }
  end();
  if (mine.reply) return std::move(*mine.reply);
  if (mine.reply_is_lost) throw std::bad_alloc();
  if (mine.give_up_at && !broken_) return Error{ErrorKind::kTimeout, "interrupted; the device has not answered yet"};
  return broken_ ? *broken_ : sent.error();
}

void RpcClient::wait_for_reply(std::unique_lock<std::mutex>& lock, Waiting& mine) {
  while (!mine.reply && !broken_ && !mine.is_over()) {
    if (!reading_) {
      read_for(lock, mine);
    } else if (mine.interrupt == nullptr) {
      mine.ready.wait(lock);
    } else if (mine.ready.wait_for(lock, kAskEvery) == std::cv_status::timeout) {
      ask_for_interrupt(lock, mine, true);
    }
  }
}

Result<Received> RpcClient::receive_for(const Waiting& mine) {
  if (mine.interrupt == nullptr) return receive_soon(socket_.get(), buffer_, wait_);
  return receive_within(socket_.get(), buffer_, wait_, kAskEvery);
}

void RpcClient::ask_for_interrupt(std::unique_lock<std::mutex>& lock, Waiting& mine, bool at_once) {
  // The handler that is asked may wait for another thread, and that one for an answer that only this thread reads: it
  // is then asked only where it has to be.
  const bool others_wait = waiting_.size() > 1 && !at_once;
  if (mine.give_up_at || mine.interrupt == nullptr || others_wait) return;
  lock.unlock();
  const bool wanted = mine.interrupt->is_wanted();
  const bool sent = wanted && send_frame(mine.interrupt->frame, {});
  lock.lock();
  if (wanted) mine.give_up_at = std::chrono::steady_clock::now() + (sent ? kAnswerTime : std::chrono::seconds(0));
}

// Without memory for an answer its call fails; the connection goes on.
void RpcClient::hand_over(Waiting& waiting, Frame& got) {
  try {
    waiting.room.assign(got.payload.begin(), got.payload.end());
    waiting.reply = RpcReply{got.type, std::move(waiting.room), std::move(got.fds)};
  } catch (const std::bad_alloc&) {
    waiting.reply_is_lost = true;
  }
}

// Reads until `mine` has its reply or the connection breaks. The lock is free while the thread waits for bytes.
void RpcClient::read_for(std::unique_lock<std::mutex>& lock, Waiting& mine) {
  reading_ = true;
  try {
    read_frames(lock, mine);
  } catch (const std::bad_alloc&) {
    if (!lock.owns_lock()) lock.lock();
    reading_ = false;
    throw;
  }
  reading_ = false;
  if (broken_) {
    is_broken_ = true;
    for (auto& [request, waiting] : waiting_) waiting->ready.notify_one();
  }
}

void RpcClient::read_frames(std::unique_lock<std::mutex>& lock, Waiting& mine) {
  while (!mine.reply && !broken_ && !mine.is_over()) {
    auto frame = buffer_.next();
    if (!frame) {
      broken_ = frame.error();
    } else if (*frame) {
      Frame& got = **frame;
      if (const auto found = waiting_.find(got.request); found != waiting_.end()) {
        hand_over(*found->second, got);
        if (found->second != &mine) found->second->ready.notify_one();
      } else if (got.request == 0 && take_notice_) {
        lock.unlock();
        take_notice_(got);
        lock.lock();
      }
    } else {
      lock.unlock();
      const auto start = std::chrono::steady_clock::now();
      auto received = receive_for(mine);
      const bool early = std::chrono::steady_clock::now() - start < kAskEvery;
      lock.lock();
      if (!received) {
        broken_ = received.error();
      } else if (*received == Received::kNothing) {
        ask_for_interrupt(lock, mine, early);
      } else if (*received == Received::kEnd) {
        broken_ = Error{ErrorKind::kConnection, kEnded};
      }
    }
  }
}

}  // namespace softtpu
