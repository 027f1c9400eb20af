#include "device/server/core_process/core_runner.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "device/core/call_kind.hpp"
#include "device/core/call_site.hpp"
#include "device/core/core.hpp"
#include "device/core/processor_state.hpp"
#include "device/core/schedule.hpp"
#include "device/network/kernel.hpp"
#include "device/record/launch_recorder.hpp"
#include "device/server/core_process/leftovers.hpp"
#include "device/server/core_process/process_state.hpp"
#include "device/server/core_process/sandbox.hpp"
#include "device/server/core_process/spin_migration.hpp"
#include "device/server/crash/crash_info.hpp"
#include "device/server/crash/debugger_call.hpp"
#include "device/server/crash/sanitizer_output.hpp"
#include "device/server/queue/core_rings.hpp"
#include "device/server/queue/schedule_runs.hpp"
#include "runtime/base/log.hpp"
#include "runtime/module/emulator.hpp"
#include "runtime/module/loaded_module.hpp"
#include "runtime/module/module_arguments.hpp"
#include "runtime/protocol/core_messages.hpp"
#include "runtime/transport/adaptive_spin.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr std::size_t kArgsBytes = kMaxLaunchArgs;

// Sends a launch's findings to the server while it runs, so that a kernel that crashes takes none along.
template <class Send>
class ServerSink final : public FindingSink {
 public:
  explicit ServerSink(Send send) : send_(std::move(send)) {}
  void add(const ReportedFinding& found, std::uint64_t id) override { send_(msg::FindingNote{id, false, found}); }
  void add_count(std::uint64_t id, std::uint64_t count, const ReportedFinding* now) override {
    send_(msg::FindingCount{id, count, now != nullptr ? std::optional(*now) : std::nullopt});
  }
  void add(const AllowedRecord& allowed) override {
    send_(msg::AllowedNote{allowed.rule, allowed.kernel, allowed.count});
  }
  void add_left_out(const ReportedFinding& found) override { send_(msg::FindingNote{0, true, found}); }

 private:
  Send send_;
};

// Whether a module could not be loaded for what it is; else a kernel before it may have used up what a load needs.
bool lies_in_module(const std::string& text) {
  constexpr std::string_view kCauses[] = {"undefined symbol",   "No such file",   "invalid ELF", "ELF file",
                                          "wrong ELF class",    "file too short", "ELF load",    "not found",
                                          "cannot dynamically", "object file has"};
  return std::any_of(std::begin(kCauses), std::end(kCauses),
                     [&](std::string_view cause) { return text.find(cause) != std::string::npos; });
}

class CoreRunner {
 public:
  CoreRunner(const CoreSetup& setup, UniqueFd socket)
      : core_(setup.memories, setup.index),
        observers_(setup.observers),
        status_(setup.status),
        spare_(setup.spare),
        own_process_(!setup.in_program),
        keeps_state_(!setup.in_program && !setup.explains),
        wants_sandbox_(setup.sandbox),
        socket_(std::move(socket)),
        sanitizer_output_(setup.report_file),
        takes_reports_(setup.report_file >= 0),
        debugger_(setup.observers.gdb_socket),
        pages_(setup.launches),
        next_(status_.progress.completed + 1) {
    if (setup.rings != nullptr) rings_.emplace(setup.rings->box(setup.index), setup.rings->bell(), setup.index);
    core_.set_ring(status_.commands);
    core_.exit_on_assertion(setup.in_program);
    for (const auto& observer : observers_.list) core_.add_observer(observer);
  }

  // True: another core shall take this one's place.
  bool run() {
    while (!replace_ && step()) {
    }
    return replace_;
  }

 private:
  struct Function {
    KernelFunction entry = nullptr;
    std::string name;
    std::uint32_t module = 0;
    bool may_change_process = false;
  };

  // One item, or a wait for the next one. False: the connection is over.
  bool step() {
    if (rings_) {
      if (auto frame = rings_->find(next_)) return work_on_ring(*frame);
    }
    if (!buffer_.has_frame()) {
      const auto received = receive_next();
      return received && *received != Received::kEnd;
    }
    auto frame = buffer_.next();
    if (!frame || !*frame) return false;
    if ((*frame)->type == MessageType::kCoreWakeup) return true;
    ++from_socket_;
    return work(**frame);
  }

  bool work_on_ring(Frame& frame) {
    const bool goes_on = work(frame);
    rings_->take(frame);
    status_.ring_taken = rings_->taken();
    return goes_on;
  }

  // Nothing more to do at once.
  Result<Received> receive_next() {
    // After a launch on several cores it does not watch the ring: the server, which sends the next launch, and the
    // other cores need the processor.
    const bool looks = core_.launch().page == nullptr;
    // A server that waits for an item has its report (work). Of other items it gets one before this core sleeps.
    const bool found = rings_ && looks && look_into_ring();
    if (!found && !report_to_sleep()) return Received::kEnd;
    if (rings_) return wait_for_doorbell(looks);
    if (!looks) return receive(socket_.get(), buffer_, true);
    return receive_soon(socket_.get(), buffer_, wait_);
  }

  bool look_into_ring() {
    if (!wait_.is_worth_it() || !wait_.look([this] { return has_news(); })) return false;
    if (wait_.is_undisturbed()) migration_.avoid(rings_->server_processor());
    return true;
  }

  bool has_news() const { return rings_->has_news(next_, from_socket_); }

  // Unless the server looks for itself.
  bool report_to_sleep() {
    const std::uint64_t known = std::max({reported_, status_.watched_through.load(), collected_through_});
    return done_ <= known || report_done();
  }

  Result<Received> wait_for_doorbell(bool looks) {
    if (!has_news() && looks) {
      // On a busy machine an item through the socket is quicker: Linux gives the process that is woken through it the
      // processor of its waker.
      status_.listens = true;
      auto received = has_news() ? Received::kNothing : receive(socket_.get(), buffer_, true);
      status_.listens = false;
      return received;
    }
    for (std::uint32_t rung = rings_->rung(); !has_news(); rung = rings_->rung()) rings_->sleep(rung);
    return rings_->has_more_in_socket(from_socket_) ? receive(socket_.get(), buffer_, true) : Received::kNothing;
  }

  bool work(Frame& frame) {
    const std::uint64_t item = frame.request;
    next_ = item + 1;
    if (in_sandbox_ && frame.type == MessageType::kCoreLoad) {
      // The loader needs files. A new core loads the modules of this one and the new one, and starts outside.
      replace_ = true;
      return done_ == reported_ || report_done();
    }
    status_.launch_commands = status_.commands.given();
    set_running(item);
    switch (frame.type) {
      case MessageType::kCoreLaunch: on_launch(item, frame); break;
      case MessageType::kCoreDefine: on_define(item, frame); break;
      case MessageType::kCoreLoad: on_load(item, frame); break;
      case MessageType::kCoreUnload: on_unload(frame); break;
      case MessageType::kCoreExplain: on_explain(item, frame); break;
      default: return false;  // the server sends nothing else
    }
    if (begin_again_) {
      set_running(0);
      return done_ == reported_ || report_done();
    }
    done_ = item;
    // A failure goes out before the item counts as completed: the server takes a completed item without one for a
    // success.
    if (!out_.empty() && !send_out()) return false;
    set_running(0);
    status_.progress.completed = spare_.completed = item;
    // Checked after the store above: either the server sees the item completed, or this sees that the server waits for
    // it.
    const bool awaited = flush_ || status_.flush_through >= item || status_.awaited[item % kEstimates].load() == item;
    flush_ = false;
    return !awaited || done_ == reported_ || report_done();
  }

  void set_running(std::uint64_t item) { status_.progress.running = spare_.running = item; }

  void on_launch(std::uint64_t item, const Frame& frame) {
    const auto launch = find_message<msg::CoreLaunch>(frame.payload);
    if (!launch) return fail(item, ErrorKind::kInternal, "a launch message is damaged.");
    flush_ = launch->flush;
    const auto found = find_function(launch->call);
    if (!found) {
      return fail(item, ErrorKind::kUsage,
                  "the kernel's module is not loaded: it could not be loaded again after the core ended.");
    }
    const Function& function = *found;
    const auto* const kernel = std::get_if<msg::KernelCall>(&launch->call);
    const std::span<const std::uint8_t> args =
        kernel != nullptr ? std::span(kernel->args) : std::span<const std::uint8_t>();
    if (args.size() > args_.size()) return fail(item, ErrorKind::kInternal, "a launch message is damaged.");
    if (debugger_.is_due()) call_debugger(function);
    if (wants_sandbox_ && !in_sandbox_) {
      if (auto entered = enter_sandbox(); !entered) return fail(item, entered.error().kind, entered.error().text);
      in_sandbox_ = true;
      if (state_) state_->note();
    }
    launched_ = true;
    const bool watched = own_process_ && function.may_change_process;
    if (watched) {
      modules_.rest();  // what is looked for afterwards is what this kernel has left
      leftovers_.before_launch();
    }
    if (!take_position(launch->position)) return fail(item, ErrorKind::kInternal, "a launch message is damaged.");
    const auto run = [&] { return run_repeatedly(*launch, function); };
    const auto send = [this, item](const auto& finding) {
      append_frame(out_, item, finding);
      found_ = item;
      static_cast<void>(send_out());  // a closed connection is noticed at the end of the launch
    };
    ServerSink sink(send);
    if (observers_.clients != nullptr) observers_.clients->turn_to(launch->client, sink);
    // Both put memory back as it was, which others of the launch are at work on.
    const bool alone = core_.launch().page == nullptr;
    if (!alone && observers_.recorder != nullptr && core_.launch().workitem == 0)
      log_warning(fmt::format("kernel \"{}\" runs on several cores: its launch is not kept", function.name));
    LaunchRecorder* const recorder = alone ? observers_.recorder.get() : nullptr;
    if (recorder != nullptr) {
      const auto file = modules_.find_file(function.module);
      recorder->begins(core_, {function.name, file.name, file.image, args});
    }
    // Made for each launch, so that the same seed gives the same order.
    const std::string order = order_of(*launch);
    if (!order.empty()) core_.set_schedule(*Schedule::parse(order));
    if (launch->compared) core_.observe(false);
    LaunchOutcome outcome = alone && observers_.schedules > 1 ? run_schedules(core_, observers_, run) : run();
    if (launch->compared) {
      core_.observe(true);
      if (observers_.schedule.empty()) core_.set_schedule(nullptr);
    }
    if (recorder != nullptr) recorder->ends(outcome);
    status_.estimated_ns[item % kEstimates] = static_cast<std::uint64_t>(outcome.estimated_us.value_or(0) * 1000);
    std::fflush(stdout);  // what the kernel printed stands before what the program prints after the launch
    pass_on_reports("kernel \"" + function.name + "\"", watched);
    if (own_process_) check_heap_after_kernel();
    if (!outcome.ok && outcome.kind == ErrorKind::kUsage && kernel != nullptr)
      outcome.text += arguments_hint(function, args.size());
    const std::string broken = what_is_broken(item, watched);
    if (!broken.empty()) {
      replace_ = own_process_;
      outcome.kind = ErrorKind::kUsage;
      outcome.text = fmt::format("kernel \"{}\" on core {} {}.{}", function.name, core_.index(), broken,
                                 outcome.ok ? "" : "\n - Before that: " + outcome.text);
    } else if (watched) {
      set_back("kernel \"" + function.name + "\"");
    }
    LaunchPage* const page = core_.launch().page;
    if (page != nullptr && !broken.empty()) page->fail(core_.launch().workitem);
    if (!outcome.ok || !broken.empty()) fail(item, outcome.kind, std::move(outcome.text));
    if (page != nullptr) {
      flush_ = page->end(core_.launch().workitem) || flush_;
      if (launch->awaited) collected_through_ = item;
    }
  }

  // What a call runs; nullopt: its module is not here.
  std::optional<Function> find_function(const msg::Call& call) const {
    if (const auto* network = std::get_if<msg::NetworkCall>(&call))
      return Function{network::kernel(), network->kernel_name(), KernelRegistry::kProgram, false};
    const auto known = functions_.find(std::get<msg::KernelCall>(call).function);
    return known == functions_.end() ? std::nullopt : std::optional(known->second);
  }

  // False: there is no such position.
  bool take_position(const LaunchPosition& position) {
    const auto& [page, workitem, workitems, groups, first_core] = position;
    const bool shared = page != 0;
    if (shared && (pages_ == nullptr || page < 0 || page > int{kLaunchPages} || workitems > kMostCores)) return false;
    if (workitem < 0 || workitem >= workitems || groups < 1 || first_core < 0) return false;
    core_.set_launch({position, 0, shared ? &pages_[page - 1] : nullptr});
    return true;
  }

  // Of the commands in parallel sections, and of the cores; empty: as they come.
  std::string order_of(const msg::CoreLaunch& launch) const {
    return launch.order != 0 ? fmt::format("random:{}", launch.order) : observers_.schedule;
  }

  // The call, as often as the launch says, one after the other. A kernel has a copy of its own of the arguments each
  // time.
  LaunchOutcome run_repeatedly(const msg::CoreLaunch& launch, const Function& function) {
    RunningLaunch now = core_.launch();
    if (now.page != nullptr && now.page->begin(now.workitem, launch.start_barrier) != WaitResult::kDone) {
      LaunchOutcome outcome;
      outcome.ok = false;
      outcome.text = fmt::format("core {} did not begin", now.workitem);
      return outcome;
    }
    // Another order of the commands is one of the cores, too.
    if (const std::string order = order_of(launch); now.page != nullptr && !order.empty())
      static_cast<void>(now.page->interleave(now.workitem, std::hash<std::string>()(order)));
    LaunchOutcome all;
    for (now.group = 0; now.group < now.groups && all.ok; ++now.group) {
      core_.set_launch(now);
      LaunchOutcome one = run_once(launch.call, function);
      one.commands += all.commands;
      if (all.estimated_us || one.estimated_us)
        one.estimated_us = all.estimated_us.value_or(0) + one.estimated_us.value_or(0);
      all = std::move(one);
    }
    return all;
  }

  LaunchOutcome run_once(const msg::Call& call, const Function& function) {
    const CallKindScope kind(std::holds_alternative<msg::NetworkCall>(call) ? CallKind::kNetwork : CallKind::kKernel);
    if (const auto* network = std::get_if<msg::NetworkCall>(&call))
      return core_.run(function.entry, function.name, network, sizeof(*network));
    const auto& args = std::get<msg::KernelCall>(call).args;
    std::ranges::copy(args, args_.begin());
    EmulatedModule* const emulated = modules_.find_emulated(function.module);
    if (emulated != nullptr) emulated->select(function.name);
    LaunchOutcome outcome = core_.run(function.entry, function.name, args_.data(), args.size());
    if (emulated != nullptr) emulated->deselect();
    return outcome;
  }

  // A kernel that reads more than the launch passed sees what happens to stand behind it, and a rule that this breaks
  // looks like the cause.
  std::string arguments_hint(const Function& function, std::size_t passed) const {
    const int image = modules_.find_file(function.module).image;
    Dl_info program{};
    UniqueFd file;
    if (image < 0 && ::dladdr(reinterpret_cast<const void*>(function.entry), &program) != 0) {
      file = UniqueFd(::open(program.dli_fname, O_RDONLY | O_CLOEXEC));
    }
    const auto arguments = find_arguments(image >= 0 ? image : file.get(), function.name);
    if (!arguments || arguments->bytes == passed) return {};
    return fmt::format("\n - The launch passed {} bytes of arguments; the kernel's {} has {}", passed, arguments->type,
                       arguments->bytes);
  }

  // The next launch begins with the state that a new core has; where that cannot be set back, in a new core. False: it
  // cannot.
  bool set_back(const std::string& who) {
    if (!state_) return true;
    const std::string changed = state_->difference();
    if (changed.empty()) return true;
    state_->restore();
    what_stays_ = state_->difference();
    if (what_stays_.empty()) return true;
    log_info(fmt::format("core {} is replaced: {} has changed {}", core_.index(), who, what_stays_));
    replace_ = true;
    return false;
  }

  // What a sanitizer reported without ending what ran. What may change the process may have written to its file as
  // well.
  void pass_on_reports(const std::string& who, bool may_change_process) {
    if (!takes_reports_) return;
    const std::string text = sanitizer_output_.take();
    if (!text.empty()) log_warning(fmt::format("{} on core {}: a sanitizer reports\n{}", who, core_.index(), text));
    if (may_change_process) sanitizer_output_.forget_others();
  }

  // With the kernels of all modules that are loaded, so that the debugger can stop in each.
  void call_debugger(const Function& launched) {
    std::vector<KernelFunction> kernels = {launched.entry};
    for (const KernelFunction kernel : kernel_registry().functions()) {
      if (kernel != launched.entry) kernels.push_back(kernel);
    }
    debugger_.make(kernels);
  }

  // A kernel that has written past a block of the C library's heap should fail itself, and not a later launch. The
  // library looks at its lists, and at what lies behind the last block, when it needs a block of another size; it
  // aborts when they are damaged.
  static void check_heap_after_kernel() {
    void* volatile block = std::malloc(8192);
    std::free(block);
  }

  // What a kernel that returned has done to its core, so that the next one cannot run in it. Empty: nothing that shows.
  std::string what_is_broken(std::uint64_t item, bool watched) {
    const auto is_damaged = [item](const CoreProgress& progress) {
      return !progress.is_whole() || progress.running != item;
    };
    if (is_damaged(status_.progress) || is_damaged(spare_)) {
      set_running(item);
      return "has written over the page in which its core reports to the device";
    }
    return watched ? leftovers_.after_launch() : std::string();
  }

  void on_define(std::uint64_t item, const Frame& frame) {
    flush_ = true;
    const auto define = find_message<msg::CoreDefine>(frame.payload);
    if (!define) return fail(item, ErrorKind::kInternal, "a definition message is damaged.");
    auto found = modules_.find(define->module, define->name);
    if (!found) return fail(item, found.error().kind, found.error().text);
    functions_[define->function] = {*found, define->name, define->module, modules_.may_change_process(define->module)};
  }

  void on_load(std::uint64_t item, Frame& frame) {
    const auto load = find_message<msg::CoreLoad>(frame.payload);
    const bool whole = load && !frame.fds.empty();
    if (!whole && !(load && may_begin_again())) return fail(item, ErrorKind::kInternal, "a load message is damaged.");
    if (!whole) return begin_again(load->name, "it was given no descriptor");
    modules_.rest();
    if (keeps_state_ && !state_) state_.emplace();
    UniqueFd image = std::move(frame.fds[0]);
    frame.fds.erase(frame.fds.begin());
    auto kernels = modules_.load(load->module, std::move(image), load->name, std::move(frame.fds));
    std::fflush(stdout);
    reset_processor_state();
    if (!kernels && may_begin_again() && !lies_in_module(kernels.error().text))
      return begin_again(load->name, kernels.error().text);
    if (!kernels) return fail(item, kernels.error().kind, kernels.error().text);
    if (modules_.may_change_process(load->module) && !set_back("module " + load->name)) {
      modules_.unload(load->module);
      return fail(item, ErrorKind::kUsage,
                  fmt::format("kernel module {}: while it was loaded it changed {} of its core, which others use too.",
                              load->name, what_stays_.substr(std::string_view("its ").size())));
    }
    note_code(load->module);
    pass_on_reports("module " + load->name, modules_.may_change_process(load->module));
    if (takes_reports_) sanitizer_output_.attach();
    append_frame(out_, item, msg::CoreLoadReply{*std::move(kernels)});
    reported_ = item;
  }

  bool may_begin_again() const { return keeps_state_ && launched_; }

  // What the kernels before have left of this core may be the reason: a new one tries this item.
  void begin_again(const std::string& module, const std::string& why) {
    log_info(fmt::format("core {} is replaced: it cannot load module {} ({})", core_.index(), module, why));
    begin_again_ = replace_ = true;
  }

  // Where the module lies, to explain a crash. Beyond the places there are, a module's calls stay numbers.
  void note_code(std::uint32_t module) {
    const auto code = modules_.find_code(module);
    const auto free =
        std::find_if(status_.code.begin(), status_.code.end(), [](const LoadedCode& c) { return c.module == 0; });
    if (code && free != status_.code.end()) *free = {module, code->base, code->begin, code->end};
  }

  // What the status page holds may be damaged, so this core may die of it; the next one is not asked again.
  void on_explain(std::uint64_t item, const Frame& frame) {
    const auto explain = find_message<msg::CoreExplain>(frame.payload);
    if (!explain) return fail(item, ErrorKind::kInternal, "a message about the last core is damaged.");
    msg::CoreExplainReply reply{status_.commands.last_lines(explain->commands), {}};
    for (const msg::CodeAddress& place : explain->calls) {
      const auto code = modules_.find_code(place.module);
      if (place.module != 0 && !code) continue;
      const auto* address = reinterpret_cast<const void*>((code ? code->base : 0) + place.offset);
      reply.calls.push_back(frame_text(code_text(address), place));
    }
    append_frame(out_, item, reply);
    reported_ = item;
  }

  void on_unload(const Frame& frame) {
    flush_ = true;
    const auto unload = find_message<msg::CoreUnload>(frame.payload);
    if (!unload) return;
    std::erase_if(functions_, [&](const auto& row) { return row.second.module == unload->module; });
    const bool watched = own_process_ && modules_.may_change_process(unload->module);
    if (watched) modules_.rest();
    modules_.unload(unload->module);
    reset_processor_state();
    if (watched) set_back("module");
    pass_on_reports("the end of a module", watched);
    for (LoadedCode& code : status_.code) {
      if (code.module == unload->module) code.module = 0;
    }
    std::fflush(stdout);
  }

  void fail(std::uint64_t item, ErrorKind kind, std::string text) {
    append_frame(out_, item, msg::Failure{kind, std::move(text)});
    reported_ = item;
  }

  bool report_done() {
    append_frame(out_, done_, msg::CoreDone{});
    reported_ = done_;
    return send_out();
  }

  bool send_out() {
    status_.progress.reported = spare_.reported = std::max(reported_, found_);
    const auto sent = send_all(socket_.get(), out_);
    out_.clear();
    return bool(sent);
  }

  Core core_;
  const DeviceObservers& observers_;
  CoreStatus& status_;
  CoreProgress& spare_;
  const bool own_process_, keeps_state_, wants_sandbox_;
  UniqueFd socket_;
  LoadedModules modules_;
  std::unordered_map<std::uint32_t, Function> functions_;
  FrameBuffer buffer_;
  AdaptiveSpin wait_;
  SpinMigration migration_;
  Bytes out_;
  alignas(64) std::array<std::uint8_t, kArgsBytes> args_{};
  std::uint64_t done_ = 0, reported_ = 0;
  std::uint64_t collected_through_ = 0;  // the server looks itself whether items up to this one are done
  std::uint64_t found_ = 0;              // the last item whose findings were sent
  bool flush_ = false;
  bool replace_ = false, in_sandbox_ = false;
  bool begin_again_ = false;  // with the item that is under way, in another core
  bool launched_ = false;
  std::optional<ProcessState> state_;  // of a core that has run no kernel yet
  std::string what_stays_;
  Leftovers leftovers_;
  SanitizerOutput sanitizer_output_;
  const bool takes_reports_;
  DebuggerCall debugger_;
  LaunchPage* const pages_;
  std::optional<RingReader> rings_;
  std::uint64_t next_;             // number of the item that is to come
  std::uint64_t from_socket_ = 0;  // items that came that way
};

}  // namespace

bool run_core(const CoreSetup& setup, UniqueFd socket) { return CoreRunner(setup, std::move(socket)).run(); }

}  // namespace softtpu
