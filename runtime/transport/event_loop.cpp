#include "runtime/transport/event_loop.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <unordered_map>
#include <utility>

#include "runtime/transport/adaptive_spin.hpp"

namespace softtpu {

namespace asio = boost::asio;

struct EventLoop::Impl {
  using Descriptor = asio::posix::stream_descriptor;

  void wait(int fd, Descriptor::wait_type what, Callback callback) {
    const auto found = watches.find(fd);
    if (found == watches.end()) return;
    found->second->async_wait(what,
                              [watch = found->second, callback = std::move(callback)](boost::system::error_code error) {
                                // A watch that unwatch() has released takes no more callbacks, also not one that was
                                // ready already.
                                if (!error && watch->is_open()) callback();
                              });
  }

  asio::io_context context{1};
  asio::signal_set signals{context};
  std::unordered_map<int, std::shared_ptr<Descriptor>> watches;
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}

EventLoop::~EventLoop() {
  for (auto& [fd, watch] : impl_->watches) watch->release();
}

void EventLoop::run() {
  // The request after an answer comes at once, or not for long.
  AdaptiveSpin wait;
  const auto has_work = [this] { return impl_->context.poll() > 0; };
  while (!impl_->context.stopped()) {
    if (!wait.is_worth_it() || !wait.look(has_work)) impl_->context.run_one();
  }
}
void EventLoop::stop() { impl_->context.stop(); }

void EventLoop::watch(int fd) { impl_->watches.emplace(fd, std::make_shared<Impl::Descriptor>(impl_->context, fd)); }

void EventLoop::unwatch(int fd) {
  const auto found = impl_->watches.find(fd);
  if (found == impl_->watches.end()) return;
  found->second->release();
  impl_->watches.erase(found);
}

void EventLoop::when_readable(int fd, Callback callback) {
  impl_->wait(fd, Impl::Descriptor::wait_read, std::move(callback));
}

void EventLoop::when_writable(int fd, Callback callback) {
  impl_->wait(fd, Impl::Descriptor::wait_write, std::move(callback));
}

void EventLoop::after(std::chrono::milliseconds delay, Callback callback) {
  auto timer = std::make_shared<asio::steady_timer>(impl_->context, delay);
  timer->async_wait([timer, callback = std::move(callback)](boost::system::error_code error) {
    if (!error) callback();
  });
}

void EventLoop::soon(Callback callback) { asio::post(impl_->context, std::move(callback)); }

void EventLoop::let_woken_run() {
  if (std::exchange(has_woken_, false)) std::this_thread::yield();
}

void EventLoop::on_signal(std::initializer_list<int> signals, std::function<void(int)> callback) {
  for (const int signal : signals) impl_->signals.add(signal);
  impl_->signals.async_wait([callback = std::move(callback)](boost::system::error_code error, int signal) {
    if (!error) callback(signal);
  });
}

}  // namespace softtpu
