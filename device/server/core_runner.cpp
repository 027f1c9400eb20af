#include "device/server/core_runner.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <unordered_map>

#include "device/core/core.hpp"
#include "device/core/schedule.hpp"
#include "device/server/schedule_runs.hpp"
#include "runtime/base/log.hpp"
#include "runtime/module/loaded_module.hpp"
#include "runtime/protocol/core_messages.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr std::size_t kArgsBytes = 4096;

class CoreRunner {
 public:
  CoreRunner(const CoreSetup& setup, UniqueFd socket)
      : core_(setup.memories, setup.index), tools_(setup.tools), status_(setup.status), socket_(std::move(socket)) {
    core_.set_progress(status_.commands);
    core_.exit_on_assertion(setup.in_program);
    for (const auto& observer : tools_.observers) core_.add_observer(observer);
  }

  void run() {
    while (step()) {
    }
  }

 private:
  struct Function {
    KernelFunction entry = nullptr;
    std::string name;
    std::uint32_t module = 0;
  };

  // One item, or a wait for the next one. False: the connection is over.
  bool step() {
    if (!buffer_.has_frame()) {
      // Nothing more to do at once: the server learns how far the work is.
      if (done_ > reported_ && !report_done()) return false;
      auto received = receive(socket_.get(), buffer_, true);
      return received && *received != Received::kEnd;
    }
    auto frame = buffer_.next();
    if (!frame || !*frame) return false;
    return work(**frame);
  }

  bool work(Frame& frame) {
    const std::uint64_t item = frame.request;
    status_.launch_commands = status_.commands.load();
    status_.running = item;
    switch (frame.type) {
      case MessageType::kCoreLaunch: on_launch(item, frame); break;
      case MessageType::kCoreDefine: on_define(item, frame); break;
      case MessageType::kCoreLoad: on_load(item, frame); break;
      case MessageType::kCoreUnload: on_unload(frame); break;
      default: return false;  // the server sends nothing else
    }
    done_ = item;
    // A failure goes out before the item counts as completed: the server takes a completed item without one for a success.
    if (!out_.empty() && !send_out()) return false;
    status_.running = 0;
    status_.completed = item;
    // Checked after the store above: either the server sees the item completed, or this sees that the server waits for it.
    const bool awaited = flush_ || status_.flush_through >= item;
    flush_ = false;
    return !awaited || done_ == reported_ || report_done();
  }

  void on_launch(std::uint64_t item, const Frame& frame) {
    const auto launch = find_message<CoreLaunch>(frame.payload);
    if (!launch || launch->args.size() > args_.size()) return fail(item, ErrorKind::kInternal, "a launch message is damaged.");
    flush_ = launch->flush;
    const auto function = functions_.find(launch->function);
    if (function == functions_.end()) {
      return fail(item, ErrorKind::kUsage, "the kernel's module is not loaded: it could not be loaded again after the core ended.");
    }
    const auto run = [&] {
      std::memcpy(args_.data(), launch->args.data(), launch->args.size());
      return core_.run(function->second.entry, function->second.name, args_.data());
    };
    // Made for each launch, so that the same seed gives the same order.
    if (!tools_.schedule.empty()) core_.set_schedule(*Schedule::parse(tools_.schedule));
    LaunchOutcome outcome = tools_.schedules > 1 ? run_schedules(core_, tools_, run) : run();
    status_.estimated_ns[item % kEstimates] = static_cast<std::uint64_t>(outcome.estimated_us.value_or(0) * 1000);
    std::fflush(stdout);  // what the kernel printed stands before what the program prints after the launch
    if (!outcome.ok) fail(item, outcome.kind, std::move(outcome.text));
  }

  void on_define(std::uint64_t item, const Frame& frame) {
    const auto define = find_message<CoreDefine>(frame.payload);
    if (!define) return fail(item, ErrorKind::kInternal, "a definition message is damaged.");
    auto found = modules_.find(define->module, define->name);
    if (!found) return fail(item, found.error().kind, found.error().text);
    functions_[define->function] = {*found, define->name, define->module};
  }

  void on_load(std::uint64_t item, Frame& frame) {
    const auto load = find_message<CoreLoad>(frame.payload);
    if (!load || frame.fds.size() != 1) return fail(item, ErrorKind::kInternal, "a load message is damaged.");
    auto kernels = modules_.load(load->module, std::move(frame.fds[0]), load->name);
    std::fflush(stdout);
    if (!kernels) return fail(item, kernels.error().kind, kernels.error().text);
    append_frame(out_, item, CoreLoadReply{*std::move(kernels)});
    reported_ = item;
  }

  void on_unload(const Frame& frame) {
    const auto unload = find_message<CoreUnload>(frame.payload);
    if (!unload) return;
    std::erase_if(functions_, [&](const auto& row) { return row.second.module == unload->module; });
    modules_.unload(unload->module);
    std::fflush(stdout);
  }

  void fail(std::uint64_t item, ErrorKind kind, std::string text) {
    append_frame(out_, item, Failure{kind, std::move(text)});
    reported_ = item;
  }

  bool report_done() {
    append_frame(out_, done_, CoreDone{});
    reported_ = done_;
    return send_out();
  }

  bool send_out() {
    const auto sent = send_all(socket_.get(), out_);
    out_.clear();
    return bool(sent);
  }

  Core core_;
  const Tools& tools_;
  CoreStatus& status_;
  UniqueFd socket_;
  LoadedModules modules_;
  std::unordered_map<std::uint32_t, Function> functions_;
  FrameBuffer buffer_;
  Bytes out_;
  alignas(64) std::array<std::uint8_t, kArgsBytes> args_{};
  std::uint64_t done_ = 0, reported_ = 0;
  bool flush_ = false;
};

}  // namespace

void run_core(const CoreSetup& setup, UniqueFd socket) { CoreRunner(setup, std::move(socket)).run(); }

}  // namespace softtpu
