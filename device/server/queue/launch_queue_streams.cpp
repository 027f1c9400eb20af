// LaunchQueue: what clients ask of their streams. Waits, times and limits, and the end of streams and of clients.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/server/queue/launch_queue.hpp"

namespace softtpu {

void LaunchQueue::sync(const std::shared_ptr<Client>& client, std::uint32_t id, Answer answer) {
  if (id == 0) return sync_all(client, std::move(answer));
  wait(client, id, std::move(answer), true);
}

void LaunchQueue::wait(const std::shared_ptr<Client>& client, std::uint32_t id, Answer answer, bool takes_failure) {
  // A copy: hurrying may finish launches, and with them this stream, before the call returns.
  const std::shared_ptr<Stream> stream = stream_of(*client, id);
  stream->waiters.push_back({stream->submitted, std::move(answer), takes_failure});
  answer_waiters(*client, *stream);
  if (stream->sent > 0 && stream->pending.empty()) await_now(*stream);
}

void LaunchQueue::sync_all(const std::shared_ptr<Client>& client, Answer answer) {
  struct State {
    std::size_t left = 0;
    std::optional<Error> first;
    std::uint64_t order = UINT64_MAX;
    Answer answer;
  };
  auto state = std::make_shared<State>();
  state->answer = std::move(answer);
  forget_idle(*client);
  std::vector<std::uint32_t> ids;
  for (const auto& stream : client->active_) ids.push_back(stream->id);
  // One more than there are streams: the answer must not come before all are counted.
  state->left = ids.size() + 1;
  const auto one_less = [state] {
    if (--state->left == 0) state->first ? state->answer(*state->first) : state->answer({});
  };
  for (const std::uint32_t id : ids) {
    const auto found = client->streams_.find(id);
    if (found == client->streams_.end()) {  // was to be closed, and has just come to its end
      one_less();
      continue;
    }
    const auto stream = found->second;
    const auto note = [state, one_less, weak = std::weak_ptr<Stream>(stream)](const Result<void>& outcome) {
      const auto held = weak.lock();
      const std::uint64_t order = held ? held->failure_order : 0;
      if (!outcome && order < state->order) {
        state->first = outcome.error();
        state->order = order;
      }
      one_less();
    };
    // Not sync(): a client may have spoken of a stream 0, and what it did there has failed.
    wait(client, id, note, true);
  }
  one_less();
}

void LaunchQueue::when_finished(const std::shared_ptr<Client>& client, std::function<void()> callback) {
  forget_idle(*client);
  const auto streams = client->active_;
  auto left = std::make_shared<std::size_t>(streams.size() + 1);
  const auto one_less = [left, callback = std::move(callback)] {
    if (--*left == 0) callback();
  };
  for (const auto& stream : streams) {
    if (!client->streams_.contains(stream->id)) {
      one_less();
      continue;
    }
    wait(
        client, stream->id, [one_less](const Result<void>&) { one_less(); }, false);
  }
  one_less();
}

void LaunchQueue::reject(const std::shared_ptr<Client>& client, std::uint32_t id, const Error& error) {
  const std::shared_ptr<Stream>& stream = stream_of(*client, id);
  note_active(*client, stream);
  note_fault(error.text);
  if (stream->failure) return;
  stream->failure = error;
  stream->failure_order = ++failure_order_;
}

msg::StreamTimeReply LaunchQueue::time(const std::shared_ptr<Client>& client, std::uint32_t stream) {
  return stream == 0 ? client->time_ : stream_of(*client, stream)->time;
}

void LaunchQueue::set_timeout(const std::shared_ptr<Client>& client, std::uint32_t stream, std::uint32_t milliseconds) {
  Stream& limited = *stream_of(*client, stream);
  if (limits_.fixed) return;
  const auto within = [&](std::uint32_t most) {
    if (!limits_.most || most == 0) return milliseconds;
    return milliseconds == 0 ? most : std::min(milliseconds, most);
  };
  limited.timeout_ms = within(limits_.timeout_ms);
  limited.limit_ms = within(limits_.limit_ms);
}

void LaunchQueue::close_stream(const std::shared_ptr<Client>& client, std::uint32_t id) {
  const auto found = client->streams_.find(id);
  if (found == client->streams_.end()) return;
  found->second->closed = true;
  if (found->second->finished != found->second->submitted) return;
  log_unreported(*found->second);
  forget_active(*client, *found->second);
  client->streams_.erase(found);
}

void LaunchQueue::cancel(const std::shared_ptr<Client>& client, std::uint32_t id) {
  std::vector<std::shared_ptr<Stream>> streams;
  for (const auto& [number, stream] : client->streams_) {
    if (id == 0 || number == id) streams.push_back(stream);
  }
  for (const auto& core : cores_) core->cancel(client.get(), id);
  for (const auto& stream : streams) cancel_stream(client, stream);
}

void LaunchQueue::cancel_stream(const std::shared_ptr<Client>& client, const std::shared_ptr<Stream>& stream) {
  const auto waiting = std::exchange(stream->pending, {});
  if (std::exchange(stream->ready, false)) std::erase(client->ready_, stream);
  leave_line(*client);
  for (const auto& [launch, answer] : waiting) {
    const Error error{ErrorKind::kTimeout,
                      fmt::format("kernel \"{}\" was not launched, because its program was interrupted.", launch.name)};
    note_fault(error.text);
    --client->queued_;
    --queued_;
    ++stream->finished;
    ++client->finished_;
    if (answer) {
      answer(error);
    } else if (!stream->failure) {
      stream->failure = error;
      stream->failure_order = ++failure_order_;
      stream->failed_behind = stream->sent > 0;
    }
  }
  answer_waiters(*client, *stream);
  if (stream->closed && stream->finished == stream->submitted) {
    forget_active(*client, *stream);
    client->streams_.erase(stream->id);
  }
  if (client->callback_ && client->queued_ <= client->call_at_) std::exchange(client->callback_, nullptr)();
}

void LaunchQueue::drop(const std::shared_ptr<Client>& client, std::function<void()> on_quiet) {
  client->gone_ = true;
  for (const auto& [id, stream] : client->streams_) {
    log_unreported(*stream);
    stream->failure.reset();
  }
  for (const auto& stream : client->active_) {
    client->queued_ -= stream->pending.size();
    queued_ -= stream->pending.size();
    stream->submitted -= stream->pending.size();
    stream->pending.clear();
    stream->waiters.clear();
    stream->ready = false;
  }
  client->ready_.clear();
  leave_line(*client);
  client->in_turn_ = false;
  std::erase(turns_, client);
  if (client->sent_ == 0) return on_quiet();
  client->on_quiet_ = std::move(on_quiet);
}

}  // namespace softtpu
