// RpcClient: requests and answers over one socket, from any number of threads. There is no thread behind it: of the
// threads that wait for an answer one reads the socket and hands the others theirs, so a single caller gets its answer
// without a detour.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/frame.hpp"
#include "runtime/transport/adaptive_spin.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {

struct RpcReply {
  MessageType type{};
  Bytes payload;
  std::vector<UniqueFd> fds;
};

// A call that may be given up before its answer has come.
struct Interrupt {
  // Asked a few times a second, and when a signal has come. True, once: the message below is sent, and the answer to
  // the call should come soon; without one it fails. Called without a lock; may take its time.
  bool (*is_wanted)() = nullptr;
  Bytes frame;
};

class RpcClient {
 public:
  static constexpr const char* kEnded = "the device process has ended";
  static constexpr std::size_t kKeptBytes = 4096;

  explicit RpcClient(UniqueFd socket) : socket_(std::move(socket)) {}

  // Sends a request and waits for its answer; a Failure answer becomes the error. `fds` in the reply go to `received`.
  template <class Reply, class Request>
  Result<Reply> call(const Request& request, std::span<const int> fds = {}, std::vector<UniqueFd>* received = nullptr,
                     const Interrupt* interrupt = nullptr);
  // Sends a message that has no answer.
  template <class Message>
  Result<void> send(const Message& message);

  // Gets each message that answers no request, in its place among the answers, on the thread that reads the socket. Set
  // before the first call; the function makes no call of its own.
  void on_notice(std::function<void(const Frame&)> take) { take_notice_ = std::move(take); }

  int socket() const { return socket_.get(); }
  // A call or message has found that the other end is gone.
  bool is_broken() const { return is_broken_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    const Interrupt* interrupt = nullptr;
    std::optional<RpcReply> reply;
    Bytes room;
    bool reply_is_lost = false;  // there was no memory for it
    std::condition_variable ready;
    std::optional<std::chrono::steady_clock::time_point> give_up_at;  // it has been interrupted
    bool is_over() const { return reply_is_lost || (give_up_at && std::chrono::steady_clock::now() >= *give_up_at); }
  };

  Result<RpcReply> exchange(std::uint64_t request, const Bytes& frame, std::span<const int> fds,
                            const Interrupt* interrupt);
  Result<void> send_frame(const Bytes& frame, std::span<const int> fds);
  void wait_for_reply(std::unique_lock<std::mutex>& lock, Waiting& mine);
  void read_for(std::unique_lock<std::mutex>& lock, Waiting& mine);
  void read_frames(std::unique_lock<std::mutex>& lock, Waiting& mine);
  static void hand_over(Waiting& waiting, Frame& got);
  Result<Received> receive_for(const Waiting& mine);
  void ask_for_interrupt(std::unique_lock<std::mutex>& lock, Waiting& mine, bool at_once);
  Error bad_reply(std::string_view expected, MessageType got) const;
  std::uint64_t next_request();

  UniqueFd socket_;
  std::atomic<bool> is_broken_ = false;
  std::function<void(const Frame&)> take_notice_;
  std::mutex send_mutex_;
  std::mutex mutex_;  // guards everything below
  std::map<std::uint64_t, Waiting*> waiting_;
  std::uint64_t last_request_ = 0;
  bool reading_ = false;  // one of the waiting threads reads the socket
  FrameBuffer buffer_;    // this and wait_: used by the reading thread only
  AdaptiveSpin wait_;
  std::optional<Error> broken_;
};

template <class Reply, class Request>
Result<Reply> RpcClient::call(const Request& request, std::span<const int> fds, std::vector<UniqueFd>* received,
                              const Interrupt* interrupt) {
  const std::uint64_t id = next_request();
  Bytes frame;
  append_frame(frame, id, request, static_cast<std::uint16_t>(fds.size()));
  auto reply = exchange(id, frame, fds, interrupt);
  if (!reply) return reply.error();
  if (reply->type == MessageType::kFailure) {
    if (auto failure = find_message<msg::Failure>(reply->payload))
      return Error{failure->kind, std::move(failure->text)};
  }
  if (reply->type != Reply::kType) return bad_reply(members::type_name<Reply>(), reply->type);
  auto message = find_message<Reply>(reply->payload);
  if (!message) return bad_reply(members::type_name<Reply>(), reply->type);
  if (received != nullptr) *received = std::move(reply->fds);
  return *std::move(message);
}

template <class Message>
Result<void> RpcClient::send(const Message& message) {
  // Kept for the next message of this thread, of queued launches for example; a long one is not.
  thread_local Bytes frame;
  if (frame.capacity() > kKeptBytes) frame = Bytes();
  frame.clear();
  append_frame(frame, 0, message);
  return send_frame(frame, {});
}

}  // namespace softtpu
