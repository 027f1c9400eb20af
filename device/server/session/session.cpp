#include "device/server/session/session.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <utility>

#include "device/chip/names.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "runtime/module/kernel_registry.hpp"
#include "runtime/transport/event_loop.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

// Beyond so many launches that wait and requests without an answer, the client's messages stay in the socket until some
// are done.
constexpr std::size_t kMaxQueued = 8192;
constexpr std::size_t kResumeQueued = kMaxQueued / 2;
// A handle has one; nothing but the end of its handle or client takes a stream away.
constexpr std::size_t kMaxStreams = 65536;
// Beyond so many bytes of answers that the client has not taken, nothing more is worked off ...
constexpr std::size_t kMostUnsentBytes = 512U << 10;
// ... and what its launches have to say may add that much.
constexpr std::size_t kMaxUnsentBytes = 256U << 20;
constexpr std::uint64_t kIncomingPiece = 16 << 10;
// One after the other on the same cores.
constexpr std::uint32_t kMostGroups = 65536;
// How long launches of a client that is gone may go on.
constexpr std::chrono::milliseconds kAfterlife{500};

std::atomic<std::uint64_t> last_client{0};  // a program may have several servers

}  // namespace

Session::Session(Host& host, UniqueFd socket, pid_t pid)
    : host_(host),
      socket_(std::move(socket)),
      pid_(pid),
      client_number_(++last_client),
      report_(std::make_shared<ClientReport>(host.most_findings)),
      name_(fmt::format("process {}", pid)) {}
Session::~Session() = default;

Result<void> Session::start(bool gateway) {
  share_ = host_.shares.of(gateway ? "" : fmt::format("process {}", pid_));
  if (!gateway) {
    auto connection = share_->hold_connection();
    if (!connection) return connection.error();
    connection_ = *std::move(connection);
  }
  behind_gateway_ = gateway;
  host_.loop.watch(socket_.get());
  wait_for(Waiting::kBytes);
  return {};
}

void Session::when_readable() {
  if (closed_) return;
  try {
    auto received = receive(socket_.get(), in_, false);
    if (!received) return close(received.error().text);
    if (*received == Received::kEnd) return close("");
  } catch (const std::bad_alloc&) {
    return close("there is no memory for its messages");
  }
  share_->is_busy() ? wait_for(Waiting::kTurn) : work_off();
}

// Works off what is here, for as long as it is this client's turn.
void Session::work_off() {
  if (closed_) return;
  Waiting what = Waiting::kNothing;
  try {
    what = work_for_a_turn();
  } catch (const std::bad_alloc&) {
    // A large message, or one too many: this client ends, the others go on.
    close("there is no memory for its messages");
  }
  if (closed_) return;
  if (device_ != nullptr) device_->flush();
  // All that it has asked for is answered: it goes on.
  if (what == Waiting::kBytes && !out_.empty()) host_.loop.has_woken();
  flush();
  wait_for(what);
}

Session::Waiting Session::work_for_a_turn() {
  const auto end = std::chrono::steady_clock::now() + ClientShare::kTurn;
  while (!closed_) {
    if (out_.bytes() > kMostUnsentBytes) return Waiting::kReader;
    if (work_) {
      if (work_()) end_work();
    } else if (incoming_) {
      if (!take_incoming()) return Waiting::kBytes;
    } else if (client_ && client_->queued() + unanswered_ >= kMaxQueued) {
      return Waiting::kAnswers;
    } else if (!take_frame()) {
      return Waiting::kBytes;
    }
    if (std::chrono::steady_clock::now() >= end) return Waiting::kTurn;
  }
  return Waiting::kNothing;
}

void Session::work_in_pieces(Piecewise work, std::function<void()> then) {
  work_ = std::move(work);
  after_work_ = std::move(then);
}

void Session::end_work() {
  work_ = nullptr;
  std::exchange(after_work_, nullptr)();
}

// The next message. False: it is not here yet.
bool Session::take_frame() {
  const auto header = in_.header();
  if (header && header->payload_bytes > kLongMessageBytes && header->payload_bytes <= kMaxPayloadBytes)
    return begin_incoming(*header);
  if (!in_.has_frame()) return false;
  auto frame = in_.next();
  if (!frame) {
    close(frame.error().text);
  } else if (*frame && !on_frame(**frame)) {
    close(fmt::format("message {} is damaged or out of order", static_cast<int>((*frame)->type)));
  }
  return true;
}

bool Session::begin_incoming(const FrameHeader& header) {
  const bool known = device_ != nullptr && header.fd_count == 0;
  const auto payload = in_.bytes().subspan(kFrameHeaderBytes);
  Result<std::optional<std::size_t>> begun = Error{
      ErrorKind::kConnection,
      fmt::format("message {} has {} bytes or is out of order", static_cast<int>(header.type), header.payload_bytes)};
  if (known && header.type == MessageType::kWrite) begun = begin_write(header, payload);
  if (known && header.type == MessageType::kLoadModule) begun = begin_module(header, payload);
  if (!begun) {
    close(begun.error().text);
  } else if (*begun) {
    in_.take(kFrameHeaderBytes + **begun);
  }
  return closed_ || *begun;
}

// False: the next piece is not here yet.
bool Session::take_incoming() {
  const auto here = in_.bytes();
  if (incoming_->left > 0 && here.empty()) return false;
  const std::size_t bytes = std::min<std::uint64_t>({here.size(), incoming_->left, kIncomingPiece});
  incoming_->take(here.first(bytes));
  in_.take(bytes);
  incoming_->left -= bytes;
  if (incoming_->left > 0) return true;
  const auto end = std::move(incoming_->end);
  incoming_.reset();
  end();
  return true;
}

void Session::wait_for(Waiting what) {
  waiting_ = what;
  const auto self = shared_from_this();
  switch (what) {
    case Waiting::kNothing: return;
    case Waiting::kBytes: return host_.loop.when_readable(socket_.get(), [self] { self->when_readable(); });
    case Waiting::kTurn: return share_->wait_for_turn(host_.loop, [self] { self->take_turn(); });
    case Waiting::kAnswers: client_->call_at(kResumeQueued, [self] { self->go_on(); }); break;
    case Waiting::kReader: break;
  }
  // What was sent stays in the socket until enough is done, or taken; it may be by now.
  watch_for_end();
  go_on();
}

void Session::take_turn() {
  if (!closed_ && is_gone()) return close("");
  work_off();
}

// A client that has shut down its sending side may still read replies.

bool Session::is_gone() const {
  pollfd end{socket_.get(), 0, 0};
  return ::poll(&end, 1, 0) > 0;
}

// Nothing is read meanwhile, and what runs may never end: the client's end has to be looked for.
void Session::watch_for_end() {
  if (std::exchange(watching_for_end_, true)) return;
  host_.loop.after(kAfterlife, [self = shared_from_this()] {
    self->watching_for_end_ = false;
    if (self->closed_ || (self->waiting_ != Waiting::kAnswers && self->waiting_ != Waiting::kReader)) return;
    pollfd end{self->socket_.get(), POLLRDHUP, 0};
    ::poll(&end, 1, 0) > 0 ? self->close("") : self->watch_for_end();
  });
}

void Session::go_on() {
  const bool answered = waiting_ == Waiting::kAnswers && client_->queued() + unanswered_ <= kResumeQueued;
  const bool taken = waiting_ == Waiting::kReader && out_.bytes() <= kMostUnsentBytes / 2;
  // Not from here: this is called in the middle of a core's answers.
  if (answered || taken) wait_for(Waiting::kTurn);
}

void Session::flush() {
  if (closed_ || sending_) return;
  const auto sent = out_.flush(socket_.get());
  if (!sent) return close(sent.error().text);
  if (waiting_ == Waiting::kReader) go_on();
  if (*sent) return;
  if (out_.bytes() > kMaxUnsentBytes) return close("it does not read its answers");
  sending_ = true;
  host_.loop.when_writable(socket_.get(), [self = shared_from_this()] {
    self->sending_ = false;
    self->flush();
  });
}

void Session::close(const std::string& reason) {
  if (closed_) return;
  closed_ = true;
  wait_for(Waiting::kNothing);
  work_ = nullptr;
  after_work_ = nullptr;
  incoming_.reset();
  connection_.reset();
  if (!reason.empty()) log_warning(fmt::format("the connection of {} is closed: {}", name_, reason));
  host_.loop.unwatch(socket_.get());
  socket_.reset();
  const auto self = shared_from_this();
  if (client_) {
    device_->queue().drop(client_, [self] { self->give_back(); });
    watch_afterlife();
  }
  host_.loop.soon([self] {
    // What it has left in a core may keep the rest for a while.
    self->in_ = FrameBuffer();
    self->out_.clear();
    self->host_.on_closed(*self);
  });
}

// What the client has left in a core is ended: launches, and what its modules do when they are loaded and unloaded.
void Session::watch_afterlife() {
  if (client_->queued() == 0 && in_core_ == 0) return;
  // What is under way in a core keeps the session; the timer alone would keep many that are through.
  host_.loop.after(kAfterlife, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    for (std::size_t i = 0; i < self->device_->core_count(); ++i) self->device_->core(i).abandon(self->client_.get());
    self->watch_afterlife();
  });
}

void Session::give_back() {
  for (auto& [id, module] : modules_) unload_in_turn(id, std::move(module.hold));
  modules_.clear();
  // No completion is reported for them any more: with the client disconnected, they count as complete.
  for (auto& [id, hold] : leaving_) unload_in_turn(id, std::move(hold));
  leaving_.clear();
  give_back_some();
}

// Memory and streams, for as long as it is this client's turn.
void Session::give_back_some() {
  const auto end = std::chrono::steady_clock::now() + ClientShare::kTurn;
  do {
    if (allocations_.empty()) {
      if (!client_->forget_streams()) continue;
      if (watch() != nullptr) watch()->forget(client_number_);
      return;
    }
    const auto [address, bytes] = *allocations_.begin();
    if (!work_) {
      if (watch() != nullptr) watch()->freed(address, bytes, {});
      work_ = device_->clear(address, bytes);
    }
    if (!work_()) continue;
    work_ = nullptr;
    forget_allocation(address);
  } while (std::chrono::steady_clock::now() < end);
  share_->wait_for_turn(host_.loop, [self = shared_from_this()] { self->give_back_some(); });
}

template <class Message>
bool Session::on(Frame& frame, void (Session::*handler)(std::uint64_t, Message&, Frame&)) {
  if (device_ == nullptr && Message::kType != MessageType::kOpen) return false;
  auto message = find_message<Message>(frame.payload);
  if (!message) return false;
  if (is_logged(LogLevel::kTrace)) log(LogLevel::kTrace, fmt::format("{}: {}", name_, to_text(*message)));
  (this->*handler)(frame.request, *message, frame);
  return true;
}

bool Session::on_frame(Frame& frame) {
  if (!greeted_) return on_hello(frame);
  switch (frame.type) {
    case MessageType::kOpen: return on<msg::Open>(frame, &Session::on_open);
    case MessageType::kAllocate: return on<msg::Allocate>(frame, &Session::on_allocate);
    case MessageType::kRelease: return on<msg::Release>(frame, &Session::on_release);
    case MessageType::kWrite: return on<msg::Write>(frame, &Session::on_write);
    case MessageType::kRead: return on<msg::Read>(frame, &Session::on_read);
    case MessageType::kFill: return on<msg::Fill>(frame, &Session::on_fill);
    case MessageType::kCopy: return on<msg::Copy>(frame, &Session::on_copy);
    case MessageType::kHostNote: return on<msg::HostNote>(frame, &Session::on_note);
    case MessageType::kLoadModule: return on<msg::LoadModule>(frame, &Session::on_load);
    case MessageType::kUnloadModule: return on<msg::UnloadModule>(frame, &Session::on_unload);
    case MessageType::kFindFunction: return on<msg::FindFunction>(frame, &Session::on_find);
    case MessageType::kLaunch: return on<msg::Launch>(frame, &Session::on_launch);
    case MessageType::kSync: return on<msg::Sync>(frame, &Session::on_sync);
    case MessageType::kSetTimeout: return on<msg::SetTimeout>(frame, &Session::on_timeout);
    case MessageType::kCloseStream: return on<msg::CloseStream>(frame, &Session::on_close_stream);
    case MessageType::kCancel: return on<msg::Cancel>(frame, &Session::on_cancel);
    case MessageType::kStat: return on<msg::Stat>(frame, &Session::on_stat);
    case MessageType::kStreamTime: return on<msg::StreamTime>(frame, &Session::on_stream_time);
    default: return false;  // answers, core messages and unknown numbers: nothing that a client sends
  }
}

// A gateway says it once, before it passes on what its client sends.
bool Session::on_remote(const Frame& frame) {
  auto remote = find_message<msg::Remote>(frame.payload);
  if (!remote || remote_) return false;
  remote_ = true;
  name_ = to_printable(remote->address, 64);
  if (!std::exchange(behind_gateway_, false)) return true;
  // From here on it counts for itself, with all that come from its address.
  share_ = host_.shares.of("address " + name_.substr(0, name_.rfind(':')));
  auto connection = share_->hold_connection();
  if (!connection) {
    close(connection.error().text);
  } else {
    connection_ = *std::move(connection);
  }
  return true;
}

bool Session::on_hello(const Frame& frame) {
  if (frame.type == MessageType::kRemote) return on_remote(frame);
  const auto hello = frame.type == MessageType::kHello ? find_message<msg::Hello>(frame.payload) : std::nullopt;
  if (!hello || hello->magic != kHelloMagic) return false;
  greeted_ = hello->version == kProtocolVersion;
  if (!greeted_) {
    log_warning(fmt::format(
        "{} speaks version {} of the protocol, this device version {}: it needs the libraries of this softtpu.", name_,
        hello->version, kProtocolVersion));
  }
  // Another version gets the answer as well: it says which one this is.
  reply(frame.request, msg::HelloReply{kProtocolVersion, static_cast<std::uint32_t>(host_.devices.size())});
  return true;
}

void Session::fail(std::uint64_t request, const Error& error) { reply(request, msg::Failure{error.kind, error.text}); }

std::function<void(Result<void>)> Session::answer_later(std::uint64_t request) {
  return [self = shared_from_this(), request](const Result<void>& outcome) {
    outcome ? self->reply(request, msg::Done{}) : self->fail(request, outcome.error());
    self->host_.loop.has_woken();
    self->flush();
  };
}

void Session::on_open(std::uint64_t request, msg::Open& open, Frame&) {
  if (device_ != nullptr) return fail(request, {ErrorKind::kUsage, "this connection has a device already."});
  if (open.device >= host_.devices.size()) {
    return fail(request, {ErrorKind::kUsage,
                          fmt::format("device {} is out of range: there are {}.", open.device, host_.devices.size())});
  }
  if (remote_ && open.share_memory)
    return fail(request, {ErrorKind::kUsage, "a remote client cannot share the device's memory."});
  const Chip& found = host_.devices[open.device]->chip();
  if (!open.chip.empty() && !is_name_of(found, open.chip)) {
    return fail(request, {ErrorKind::kUsage,
                          fmt::format("the device that was started is a {}, not a {}.", found.full_name(), open.chip)});
  }
  device_ = host_.devices[open.device].get();
  client_ = device_->queue().make_client(share_->crash_debt());
  report_->set_client(name_);
  if (device_->observers().clients != nullptr) client_->report_to({client_number_, report_});
  const Chip& chip = device_->chip();
  msg::OpenReply info;
  info.chip_name = chip.name;
  info.chip_id = chip.chip_id;
  info.soc_mode = chip.mode == ChipMode::kSoc;
  info.in_process = device_->in_process();
  info.core_count = static_cast<std::uint32_t>(device_->core_count());
  info.global_start = chip.global_mem.start;
  info.global_bytes = chip.global_mem.bytes;
  info.heap_start = chip.global_mem.start + chip.global_reserved;
  info.watched = watch() != nullptr;
  if (!open.share_memory) return reply(request, info);
  UniqueFd memory = UniqueFd::duplicate(device_->global_fd());
  if (!memory) return fail(request, system_error(ErrorKind::kResource, "sharing the device's memory"));
  out_.push_with_fd(request, info, std::move(memory));
}

HostWatch* Session::watch() const {
  HostWatch* watch = device_->observers().watch.get();
  if (watch != nullptr) watch->turn_to(client_number_, *report_);
  return watch;
}

// ---- Launches ----

// Why there is no such function.
std::string Session::absence_text(std::uint32_t function) const {
  const auto gone = gone_functions_.find(function);
  if (gone != gone_functions_.end())
    return fmt::format(
        "function {} ({}) does not exist any more: its module has been unloaded. Unload a module after the last launch "
        "of its functions, or load it again and look the function up in what the load returns.",
        function, gone->second);
  return fmt::format(
      "function {} does not exist: this connection has not looked it up. Functions belong to the handle or device that "
      "their module was loaded with.",
      function);
}

void Session::on_launch(std::uint64_t request, msg::Launch& launch, Frame&) {
  if (auto good = check_stream(launch.stream); !good)
    return launch.wait ? fail(request, good.error()) : close(good.error().text);
  const auto refuse = [&](const Error& error) {
    // An asynchronous launch has no answer: what is wrong is kept for the next sync.
    launch.wait ? fail(request, error) : device_->queue().reject(client_, launch.stream, error);
  };
  if (host_.is_ending)
    return refuse({ErrorKind::kConnection, "the device is about to end and takes no more launches."});
  if (auto complete = complete_launch(launch); !complete) return refuse(complete.error());
  LaunchQueue::Answer answer;
  if (launch.wait) answer = answer_later(request);
  device_->queue().submit(client_, {std::move(launch), std::move(answer)});
}

// Makes the launch what the queue takes, or says what is wrong with it.
Result<void> Session::complete_launch(msg::Launch& launch) {
  const auto refuse = [](std::string text) { return Error{ErrorKind::kUsage, std::move(text)}; };
  const std::size_t has = device_->core_count();
  if (launch.parts.empty()) return refuse("a launch has one part at least.");
  std::optional<std::uint32_t> module;  // of the part before
  for (std::size_t i = 0; i < launch.parts.size(); ++i) {
    const bool is_first = i == 0;
    msg::LaunchPart& part = launch.parts[i];
    auto found = complete_call(launch, part.call);
    if (!found) return found.error();
    if (part.core >= has)
      return refuse(fmt::format("core {} does not exist: chip {} has {}.", part.core, device_->chip().name, has));
    if (is_first) {
      if (launch.stream == 0) return refuse("a launch needs a stream.");
      if (auto good = check_counts(launch); !good) return good;
      if (!found->name.empty()) launch.name = std::move(found->name);
    } else if (found->module != *module) {
      return refuse(fmt::format("the launch mixes programs: \"{}\" and \"{}\" are of different modules.", launch.name,
                                found->name.empty() ? launch.name : found->name));
    }
    module = found->module;
    const auto named = [&](const msg::LaunchPart& other) { return other.core == part.core; };
    if (std::any_of(launch.parts.begin(), launch.parts.begin() + static_cast<std::ptrdiff_t>(i), named))
      return refuse(fmt::format("the launch names core {} twice.", part.core));
  }
  const std::uint32_t cores = std::exchange(launch.cores, 1);
  for (std::uint32_t i = 1; i < cores; ++i) launch.parts.push_back({launch.parts[0].core + i, launch.parts[0].call});
  return {};
}

// On how many cores, and how many times.
Result<void> Session::check_counts(const msg::Launch& launch) const {
  const auto refuse = [](std::string text) { return Error{ErrorKind::kUsage, std::move(text)}; };
  const std::size_t has = device_->core_count(), parts = launch.parts.size();
  const std::uint32_t first = launch.parts[0].core;
  if (launch.cores == 0 || launch.repetitions == 0 || launch.repetitions > kMostGroups) {
    return refuse(fmt::format("a launch of {} groups of {} workitems: both are at least 1, groups at most {}.",
                              launch.repetitions, launch.cores, kMostGroups));
  }
  if (parts > 1 && launch.cores != 1)
    return refuse("a launch names either how many cores it takes or which, not both.");
  const std::uint64_t wanted = parts > 1 ? parts : launch.cores;
  if (wanted <= has && (parts > 1 || first + wanted <= has)) return {};
  return refuse(fmt::format("the launch asks for {} workitems from core {} on, and chip {} has {} core{}.", wanted,
                            first, device_->chip().name, has, has == 1 ? "" : "s"));
}

// The function that a call runs, with its number put into the call. Its name is empty where the launch has it.
Result<Session::Function> Session::complete_call(const msg::Launch& launch, msg::Call& call) {
  if (const auto* network = std::get_if<msg::NetworkCall>(&call)) {
    std::size_t steps = 0;
    for (const msg::NetworkStep& step : network->steps) steps += msg::steps_in(step);
    if (network->name.size() <= kMaxKernelName && steps <= kMaxNetworkSteps)
      return Function{KernelRegistry::kProgram, network->kernel_name()};
    return Error{ErrorKind::kUsage,
                 fmt::format("a launch of a network has a name of {} characters (limit {}) and {} steps (limit {}).",
                             network->name.size(), kMaxKernelName, steps, kMaxNetworkSteps)};
  }
  auto& kernel = std::get<msg::KernelCall>(call);
  const bool by_name = kernel.function == 0;
  if (by_name) {
    if (launch.name.size() > kMaxKernelName)
      return Error{ErrorKind::kUsage,
                   fmt::format("a kernel's name has {} characters (limit {}).", launch.name.size(), kMaxKernelName)};
    auto found = find_kernel(launch.name);
    if (!found) return found.error();
    kernel.function = *found;
  }
  const auto function = functions_.find(kernel.function);
  if (function == functions_.end()) return Error{ErrorKind::kUsage, absence_text(kernel.function)};
  if (kernel.args.size() <= kMaxLaunchArgs) return by_name ? Function{function->second.module, {}} : function->second;
  return Error{ErrorKind::kUsage,
               fmt::format("the kernel's arguments have {} bytes (limit {}).", kernel.args.size(), kMaxLaunchArgs)};
}

// A stream comes into being when it is named.
Result<void> Session::check_stream(std::uint32_t stream) const {
  if (stream == 0 || client_->has_room_for(stream, kMaxStreams)) return {};
  return Error{ErrorKind::kResource, fmt::format("this program has {} streams already (limit).", kMaxStreams)};
}

void Session::on_sync(std::uint64_t request, msg::Sync& sync, Frame&) {
  if (auto good = check_stream(sync.stream); !good) return fail(request, good.error());
  // One of all streams waits for each of them.
  const std::size_t weight = sync.stream == 0 ? 1 + client_->active() : 1;
  device_->queue().sync(client_, sync.stream, counted(answer_later(request), weight));
}

void Session::on_timeout(std::uint64_t request, msg::SetTimeout& timeout, Frame&) {
  if (auto good = check_stream(timeout.stream); !good) return fail(request, good.error());
  device_->queue().set_timeout(client_, timeout.stream, timeout.milliseconds);
  reply(request, msg::Done{});
}

void Session::on_close_stream(std::uint64_t, msg::CloseStream& close, Frame&) {
  device_->queue().close_stream(client_, close.stream);
}

void Session::on_cancel(std::uint64_t, msg::Cancel& cancel, Frame&) { device_->queue().cancel(client_, cancel.stream); }

// ---- Queries ----

msg::ClientStat Session::stat() const {
  msg::ClientStat stat;
  stat.pid = static_cast<std::uint32_t>(pid_);
  stat.bytes = allocated_;
  stat.modules = static_cast<std::uint32_t>(modules_.size());
  if (client_) {
    stat.queued = static_cast<std::uint32_t>(client_->queued());
    stat.launches = client_->finished();
  }
  return stat;
}

void Session::on_stream_time(std::uint64_t request, msg::StreamTime& time, Frame&) {
  if (auto good = check_stream(time.stream); !good) return fail(request, good.error());
  reply(request, device_->queue().time(client_, time.stream));
}

void Session::on_stat(std::uint64_t request, msg::Stat&, Frame&) {
  msg::StatReply stat;
  stat.server_pid = static_cast<std::uint32_t>(::getpid());
  stat.core_pid = device_->core(0).pid() > 0 ? static_cast<std::uint32_t>(device_->core(0).pid()) : 0;
  stat.bytes_total = device_->heap().bytes_total();
  stat.bytes_used = device_->heap().bytes_used();
  stat.launches = device_->queue().launches();
  stat.failures = device_->queue().failures();
  for (std::size_t i = 0; i < device_->core_count(); ++i) stat.core_restarts += device_->core(i).restarts();
  stat.queued = static_cast<std::uint32_t>(device_->queue().queued());
  for (const LaunchQueue::Fault& fault : device_->queue().last_faults())
    stat.faults.push_back({fault.time, fault.text});
  host_.add_clients(stat, *device_);
  reply(request, stat);
}

}  // namespace softtpu
