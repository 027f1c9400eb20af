// RpcClient: requests and answers over one socket, from any number of threads. There is no thread behind it: of the
// threads that wait for an answer one reads the socket and hands the others theirs, so a single caller gets its answer
// without a detour.
#pragma once

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
#include "runtime/transport/short_wait.hpp"

namespace softtpu {

struct RpcReply {
  MessageType type{};
  Bytes payload;
  std::vector<UniqueFd> fds;
};

class RpcClient {
 public:
  explicit RpcClient(UniqueFd socket) : socket_(std::move(socket)) {}

  // Sends a request and waits for its answer; a Failure answer becomes the error. `fds` in the reply go to `received`.
  template <class Reply, class Request>
  Result<Reply> call(const Request& request, std::span<const int> fds = {}, std::vector<UniqueFd>* received = nullptr);
  // Sends a message that has no answer.
  template <class Message>
  Result<void> send(const Message& message);

  // Gets each message that answers no request, in its place among the answers, on the thread that reads the socket. Set
  // before the first call; the function makes no call of its own.
  void on_notice(std::function<void(const Frame&)> take) { take_notice_ = std::move(take); }

  int socket() const { return socket_.get(); }

 private:
  struct Waiting {
    std::optional<RpcReply> reply;
    std::condition_variable ready;
  };

  Result<RpcReply> exchange(std::uint64_t request, const Bytes& frame, std::span<const int> fds);
  Result<void> send_frame(const Bytes& frame, std::span<const int> fds);
  void read_for(std::unique_lock<std::mutex>& lock, Waiting& mine);
  Error bad_reply(const char* expected, MessageType got) const;
  std::uint64_t next_request();

  UniqueFd socket_;
  std::function<void(const Frame&)> take_notice_;
  std::mutex send_mutex_;
  std::mutex mutex_;  // guards everything below
  std::map<std::uint64_t, Waiting*> waiting_;
  std::uint64_t last_request_ = 0;
  bool reading_ = false;  // one of the waiting threads reads the socket
  FrameBuffer buffer_;    // this and wait_: used by the reading thread only
  ShortWait wait_;
  std::optional<Error> broken_;
};

template <class Reply, class Request>
Result<Reply> RpcClient::call(const Request& request, std::span<const int> fds, std::vector<UniqueFd>* received) {
  const std::uint64_t id = next_request();
  Bytes frame;
  append_frame(frame, id, request, static_cast<std::uint16_t>(fds.size()));
  auto reply = exchange(id, frame, fds);
  if (!reply) return reply.error();
  if (reply->type == MessageType::kFailure) {
    if (auto failure = find_message<Failure>(reply->payload)) return Error{failure->kind, std::move(failure->text)};
  }
  if (reply->type != Reply::kType) return bad_reply(Reply::kName, reply->type);
  auto message = find_message<Reply>(reply->payload);
  if (!message) return bad_reply(Reply::kName, reply->type);
  if (received != nullptr) *received = std::move(reply->fds);
  return *std::move(message);
}

template <class Message>
Result<void> RpcClient::send(const Message& message) {
  Bytes frame;
  append_frame(frame, 0, message);
  return send_frame(frame, {});
}

}  // namespace softtpu
