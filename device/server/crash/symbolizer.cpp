#include "device/server/crash/symbolizer.hpp"

#include <chrono>

#include "device/server/crash/crash_info.hpp"
#include "runtime/transport/event_loop.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

// A report without source lines is better than a late one.
constexpr std::chrono::milliseconds kMostTime{800};

}  // namespace

Symbolizer::Symbolizer(EventLoop& loop, Answer answer) : loop_(loop), answer_(std::move(answer)) {}

Symbolizer::~Symbolizer() {
  *alive_ = false;
  stop();
}

Result<std::unique_ptr<Symbolizer>> Symbolizer::start(EventLoop& loop, Memories& memories,
                                                      const DeviceObservers& observers, Remains remains,
                                                      Answer answer) {
  std::unique_ptr<Symbolizer> made(new Symbolizer(loop, std::move(answer)));
  forget_fault(*remains.pages.status, *remains.pages.spare);
  auto pair = make_socket_pair();
  if (!pair) return pair.error();
  CoreSetup setup{memories, 0, *remains.pages.status, *remains.pages.spare, observers};
  setup.explains = true;
  setup.own_namespace = remains.own_namespace;
  auto process = CoreProcess::start(setup, std::move(pair->second));
  if (!process) return process.error();
  made->process_ = *std::move(process);
  made->socket_ = std::move(pair->first);
  for (Module& module : remains.modules) {
    made->out_.push_with_fd(++made->question_, msg::CoreLoad{module.id, module.name}, std::move(module.image));
  }
  made->out_.push(++made->question_, remains.question);
  made->wait();
  return made;  // the pages stay mapped in the process only
}

void Symbolizer::wait() {
  loop_.watch(socket_.get());
  loop_.when_readable(socket_.get(), [this] { when_readable(); });
  loop_.after(kMostTime, [this, alive = alive_] {
    if (*alive) finish(std::nullopt);
  });
}

void Symbolizer::begin() {
  begun_ = true;
  flush();
}

void Symbolizer::flush() {
  const auto sent = out_.flush(socket_.get());
  // A failed send means a process that has ended; its end comes as the end of what can be read.
  if (!sent || *sent) return;
  loop_.when_writable(socket_.get(), [this] { flush(); });
}

void Symbolizer::when_readable() {
  const auto received = receive(socket_.get(), in_, false);
  if (!received || *received == Received::kEnd) return finish(std::nullopt);
  while (in_.has_frame()) {
    auto frame = in_.next();
    if (!frame || !*frame) return finish(std::nullopt);
    if ((*frame)->request != question_) continue;  // modules
    return finish((*frame)->type == MessageType::kCoreExplainReply
                      ? find_message<msg::CoreExplainReply>((*frame)->payload)
                      : std::nullopt);
  }
  loop_.when_readable(socket_.get(), [this] { when_readable(); });
}

void Symbolizer::stop() {
  if (socket_) loop_.unwatch(socket_.get());
  socket_.reset();
  process_.finish();  // with what modules have started
}

void Symbolizer::finish(const std::optional<msg::CoreExplainReply>& reply) {
  *alive_ = false;
  stop();
  const Answer answer = std::move(answer_);
  answer(reply);
}

}  // namespace softtpu
