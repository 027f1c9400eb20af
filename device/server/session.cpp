#include "device/server/session.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <atomic>
#include <new>
#include <utility>

#include "device/server/module_hash.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/memory_ops.hpp"
#include "runtime/base/text.hpp"
#include "runtime/module/kernel_registry.hpp"
#include "runtime/module/module_image.hpp"
#include "runtime/module/module_symbols.hpp"
#include "runtime/transport/event_loop.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr std::uint64_t kMaxReadBytes = 16ULL << 20;
// Beyond so many launches that wait and requests without an answer, the client's messages stay in the socket until some
// are done.
constexpr std::size_t kMaxQueued = 8192;
constexpr std::size_t kResumeQueued = kMaxQueued / 2;
// A handle has one; nothing but the end of its handle or client takes a stream away.
constexpr std::size_t kMaxStreams = 65536;
// A client that sends and never receives.
constexpr std::size_t kMaxUnsentBytes = 256U << 20;
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

void Session::start() {
  host_.loop.watch(socket_.get());
  resume();
}

void Session::resume() {
  host_.loop.when_readable(socket_.get(), [self = shared_from_this()] { self->when_readable(); });
}

void Session::when_readable() {
  if (closed_) return;
  try {
    receive_and_work();
  } catch (const std::bad_alloc&) {
    // A large message, or one too many: this client ends, the others go on.
    close("there is no memory for its messages");
  }
}

void Session::receive_and_work() {
  auto received = receive(socket_.get(), in_, false);
  if (!received) return close(received.error().text);
  if (*received == Received::kEnd) return close("");
  if (work_off() && !closed_ && !paused_) resume();
}

// Works off the messages that are here. False: the connection is closed.
bool Session::work_off() {
  while (!closed_ && in_.has_frame()) {
    if (client_ && client_->queued() + unanswered_ >= kMaxQueued) {
      pause();
      break;
    }
    auto frame = in_.next();
    if (!frame) {
      close(frame.error().text);
    } else if (*frame && !on_frame(**frame)) {
      close(fmt::format("message {} is damaged or out of order", static_cast<int>((*frame)->type)));
    }
  }
  if (closed_) return false;
  if (device_ != nullptr) device_->flush();
  flush();
  return !closed_;
}

// Leaves the client's messages where they are until enough of its launches and requests are done.
void Session::pause() {
  paused_ = true;
  client_->call_at(kResumeQueued, [self = shared_from_this()] { self->go_on(); });
  watch_for_end();
}

// Nothing is read meanwhile, and what runs may never end: the client's end has to be looked for.
void Session::watch_for_end() {
  if (watching_for_end_) return;
  watching_for_end_ = true;
  host_.loop.after(kAfterlife, [self = shared_from_this()] {
    self->watching_for_end_ = false;
    if (self->closed_ || !self->paused_) return;
    pollfd end{self->socket_.get(), POLLRDHUP, 0};
    ::poll(&end, 1, 0) > 0 ? self->close("") : self->watch_for_end();
  });
}

void Session::go_on() {
  if (!paused_ || going_on_ || client_->queued() + unanswered_ > kResumeQueued) return;
  going_on_ = true;
  // Not from here: this is called in the middle of a core's answers.
  host_.loop.soon([self = shared_from_this()] {
    self->going_on_ = self->paused_ = false;
    if (self->work_off() && !self->paused_) self->resume();
  });
}

void Session::flush() {
  if (closed_ || sending_) return;
  const auto sent = out_.flush(socket_.get());
  if (!sent) return close(sent.error().text);
  if (*sent) return;
  if (out_.bytes() > kMaxUnsentBytes) return close("it does not take its answers");
  sending_ = true;
  host_.loop.when_writable(socket_.get(), [self = shared_from_this()] {
    self->sending_ = false;
    self->flush();
  });
}

void Session::close(const std::string& reason) {
  if (closed_) return;
  closed_ = true;
  if (!reason.empty()) log_warning(fmt::format("the connection of {} is closed: {}", name_, reason));
  host_.loop.unwatch(socket_.get());
  socket_.reset();
  const auto self = shared_from_this();
  if (client_) {
    device_->queue().drop(client_, [self] { self->give_back(); });
    if (client_->queued() > 0) {
      host_.loop.after(kAfterlife, [self] {
        for (std::size_t i = 0; i < self->device_->core_count(); ++i)
          self->device_->core(i).abandon(self->client_.get());
      });
    }
  }
  host_.loop.soon([self] { self->host_.on_closed(*self); });
}

void Session::give_back() {
  for (const auto& [address, bytes] : allocations_) {
    if (watch() != nullptr) watch()->freed(address, bytes, {});
    device_->release(address);
  }
  allocations_.clear();
  if (watch() != nullptr) watch()->forget(client_number_);
  for (const auto& [id, module] : modules_) device_->unload(id);
  modules_.clear();
  // Nobody tells any more that their launches are through: with the client gone, they are.
  for (const std::uint32_t id : leaving_) device_->unload(id);
  leaving_.clear();
  device_->flush();
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
    case MessageType::kOpen: return on<Open>(frame, &Session::on_open);
    case MessageType::kAllocate: return on<Allocate>(frame, &Session::on_allocate);
    case MessageType::kRelease: return on<Release>(frame, &Session::on_release);
    case MessageType::kWrite: return on<Write>(frame, &Session::on_write);
    case MessageType::kRead: return on<Read>(frame, &Session::on_read);
    case MessageType::kFill: return on<Fill>(frame, &Session::on_fill);
    case MessageType::kCopy: return on<Copy>(frame, &Session::on_copy);
    case MessageType::kHostNote: return on<HostNote>(frame, &Session::on_note);
    case MessageType::kLoadModule: return on<LoadModule>(frame, &Session::on_load);
    case MessageType::kUnloadModule: return on<UnloadModule>(frame, &Session::on_unload);
    case MessageType::kFindFunction: return on<FindFunction>(frame, &Session::on_find);
    case MessageType::kLaunch: return on<Launch>(frame, &Session::on_launch);
    case MessageType::kSync: return on<Sync>(frame, &Session::on_sync);
    case MessageType::kSetTimeout: return on<SetTimeout>(frame, &Session::on_timeout);
    case MessageType::kCloseStream: return on<CloseStream>(frame, &Session::on_close_stream);
    case MessageType::kStat: return on<Stat>(frame, &Session::on_stat);
    case MessageType::kStreamTime: return on<StreamTime>(frame, &Session::on_stream_time);
    default: return false;  // answers, core messages and unknown numbers: nothing that a client sends
  }
}

// A gateway says it once, before it passes on what its client sends.
bool Session::on_remote(const Frame& frame) {
  auto remote = find_message<Remote>(frame.payload);
  if (!remote || remote_) return false;
  remote_ = true;
  name_ = to_printable(remote->address, 64);
  return true;
}

bool Session::on_hello(const Frame& frame) {
  if (frame.type == MessageType::kRemote) return on_remote(frame);
  const auto hello = frame.type == MessageType::kHello ? find_message<Hello>(frame.payload) : std::nullopt;
  if (!hello || hello->magic != kHelloMagic) return false;
  greeted_ = hello->version == kProtocolVersion;
  // Another version gets the answer as well: it says which one this is.
  reply(frame.request, HelloReply{kProtocolVersion, static_cast<std::uint32_t>(host_.devices.size())});
  return true;
}

template <class Message>
void Session::reply(std::uint64_t request, const Message& message) {
  if (closed_) return;
  report_->flush(out_);
  out_.push(request, message);
}

void Session::fail(std::uint64_t request, const Error& error) { reply(request, Failure{error.kind, error.text}); }

template <class Value>
std::function<void(Result<Value>)> Session::counted(std::function<void(Result<Value>)> answer) {
  ++unanswered_;
  return [self = shared_from_this(), answer = std::move(answer)](Result<Value> result) {
    --self->unanswered_;
    answer(std::move(result));
    self->go_on();
  };
}

std::function<void(Result<void>)> Session::answer_later(std::uint64_t request) {
  return [self = shared_from_this(), request](const Result<void>& outcome) {
    outcome ? self->reply(request, Done{}) : self->fail(request, outcome.error());
    self->flush();
  };
}

void Session::on_open(std::uint64_t request, Open& open, Frame&) {
  if (device_ != nullptr) return fail(request, {ErrorKind::kUsage, "this connection has a device already."});
  if (open.device >= host_.devices.size()) {
    return fail(request, {ErrorKind::kUsage,
                          fmt::format("device {} is out of range: there are {}.", open.device, host_.devices.size())});
  }
  if (remote_ && open.share_memory)
    return fail(request, {ErrorKind::kUsage, "a remote client cannot share the device's memory."});
  device_ = host_.devices[open.device].get();
  client_ = device_->queue().make_client();
  report_->set_client(name_);
  if (device_->tools().clients != nullptr) client_->report_to({client_number_, report_});
  const Chip& chip = device_->chip();
  OpenReply info;
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
  HostWatch* watch = device_->tools().watch.get();
  if (watch != nullptr) watch->turn_to(client_number_, *report_);
  return watch;
}

// ---- Memory ----

Result<void> Session::check_range(const char* what, std::uint64_t address, std::uint64_t bytes) const {
  return check_allocated(allocations_, what, address, bytes);
}

void Session::on_allocate(std::uint64_t request, Allocate& allocate, Frame&) {
  auto address = device_->allocate(allocate.bytes);
  if (!address) return fail(request, address.error());
  allocations_.emplace(*address, allocate.bytes);
  if (watch() != nullptr) watch()->allocated(client_number_, *address, allocate.bytes);
  reply(request, AllocateReply{*address});
}

void Session::on_release(std::uint64_t request, Release& release, Frame&) {
  const auto found = allocations_.find(release.address);
  if (found == allocations_.end()) {
    return fail(request,
                {ErrorKind::kUsage, fmt::format("address 0x{:x} is not allocated by this program.", release.address)});
  }
  if (watch() != nullptr) watch()->freed(found->first, found->second, std::exchange(freed_at_, {}));
  allocations_.erase(found);
  device_->release(release.address);
  reply(request, Done{});
}

void Session::on_write(std::uint64_t request, Write& write, Frame&) {
  if (auto inside = check_range("the destination", write.address, write.data.size()); !inside)
    return fail(request, inside.error());
  std::copy(write.data.begin(), write.data.end(), device_->global(write.address));
  if (watch() != nullptr) watch()->wrote(write.address, write.data.size());
  reply(request, Done{});
}

void Session::on_read(std::uint64_t request, Read& read, Frame&) {
  if (auto inside = check_range("the source", read.address, read.bytes); !inside) return fail(request, inside.error());
  if (read.bytes > kMaxReadBytes) {
    return fail(request, {ErrorKind::kUsage,
                          fmt::format("a read of {} bytes is over the limit of {}.", read.bytes, kMaxReadBytes)});
  }
  const std::uint8_t* from = device_->global(read.address);
  reply(request, ReadReply{Bytes(from, from + read.bytes)});
}

void Session::on_fill(std::uint64_t request, Fill& fill, Frame&) {
  auto inside = check_range("the destination", fill.address, fill.bytes);
  if (inside) inside = check_fill(fill.bytes, fill.pattern.size());
  if (!inside) return fail(request, inside.error());
  fill_bytes(device_->global(fill.address), fill.bytes, fill.pattern);
  if (watch() != nullptr) watch()->wrote(fill.address, fill.bytes);
  reply(request, Done{});
}

void Session::on_copy(std::uint64_t request, Copy& copy, Frame&) {
  auto extent = copy_extent(copy.count, copy.element_bytes, copy.destination_stride, copy.source_stride);
  if (!extent) return fail(request, extent.error());
  auto inside = check_range("the source", copy.source, extent->source_bytes);
  if (inside) inside = check_range("the destination", copy.destination, extent->destination_bytes);
  if (!inside) return fail(request, inside.error());
  copy_elements(device_->global(copy.destination), device_->global(copy.source), copy.count, copy.element_bytes,
                copy.destination_stride, copy.source_stride);
  if (watch() != nullptr) watch()->wrote(copy.destination, extent->destination_bytes);
  reply(request, Done{});
}

// Ranges are checked: another program's bytes are none of this one's.
void Session::on_note(std::uint64_t request, HostNote& note, Frame&) {
  const bool own = note.bytes == 0 || check_range("the note", note.address, note.bytes);
  if (watch() != nullptr && own) {
    switch (note.event) {
      case HostEvent::kAllocated:
        if (allocations_.contains(note.address)) watch()->located(note.address, note.stack);
        break;
      case HostEvent::kFreeing: freed_at_ = std::move(note.stack); break;
      case HostEvent::kWrote: watch()->wrote(note.address, note.bytes); break;
      case HostEvent::kRead: watch()->read(note.address, note.bytes, note.stack); break;
      case HostEvent::kRefusedCopy: watch()->refused_copy(note.text, note.stack); break;
      case HostEvent::kClosed: watch()->closed(client_number_, note.stack); break;
    }
  }
  if (note.wait) reply(request, Done{});
}

// ---- Modules ----

void Session::on_load(std::uint64_t request, LoadModule& load, Frame& frame) {
  load.name = to_printable(load.name);
  UniqueFd image;
  if (!frame.fds.empty()) {
    // A copy of our own: the sender could change or shorten its file while the loader reads it.
    auto copy = copy_module_file(fmt::format("/proc/self/fd/{}", frame.fds[0].get()), load.name);
    if (!copy) return fail(request, copy.error());
    image = std::move(*copy);
  } else {
    auto copy = copy_module_bytes(load.image);
    if (!copy) return fail(request, copy.error());
    image = std::move(*copy);
  }
  if (auto good = check_module(image.get(), load.name); !good) return fail(request, good.error());
  if (is_logged(LogLevel::kInfo)) {
    log_info(fmt::format("{} loads kernel module {}, sha256 {}", name_, load.name, module_hash(image.get())));
  }
  if (watch() != nullptr && watch()->wants_symbols()) {
    if (auto symbols = undefined_symbols(image.get(), load.name)) watch()->loaded(load.name, *symbols);
  }
  start_load(request, load.name, std::move(image));
}

void Session::start_load(std::uint64_t request, const std::string& name, UniqueFd image) {
  const std::uint32_t id = device_->next_module();
  CoreLink::Loaded loaded = [self = shared_from_this(), request, id, name](Result<std::vector<std::string>> kernels) {
    if (self->closed_) {
      if (kernels) self->device_->unload(id);
      return;
    }
    if (!kernels) {
      self->fail(request, kernels.error());
    } else {
      self->modules_[id] = {name, *std::move(kernels)};
      self->reply(request, LoadModuleReply{id});
    }
    self->flush();
  };
  device_->load(id, name, image, counted(std::move(loaded)));
}

void Session::on_unload(std::uint64_t request, UnloadModule& unload, Frame&) {
  if (modules_.erase(unload.module) == 0) {
    return fail(request, {ErrorKind::kUsage, fmt::format("module {} is not loaded by this program.", unload.module)});
  }
  std::erase_if(functions_, [&](const auto& row) { return row.second.module == unload.module; });
  std::erase_if(kernels_, [&](const auto& row) { return !functions_.contains(row.second); });
  // Launches that wait were accepted while the module was there and still run.
  leaving_.insert(unload.module);
  device_->queue().when_finished(client_, [self = shared_from_this(), module = unload.module] {
    if (self->leaving_.erase(module) == 0) return;
    self->device_->unload(module);
    self->device_->flush();
  });
  reply(request, Done{});
}

void Session::on_find(std::uint64_t request, FindFunction& find, Frame&) {
  const bool program = find.module == KernelRegistry::kProgram && device_->in_process();
  if (!program && !modules_.contains(find.module)) {
    return fail(request, {ErrorKind::kUsage, fmt::format("module {} is not loaded by this program.", find.module)});
  }
  if (find.name.empty() || find.name.size() > kMaxKernelName) {
    return fail(request, {ErrorKind::kUsage, fmt::format("a function's name has {} characters (1 to {}).",
                                                         find.name.size(), kMaxKernelName)});
  }
  for (const auto& [id, function] : functions_) {
    if (function.module == find.module && function.name == find.name) return reply(request, FindFunctionReply{id});
  }
  const std::uint32_t id = device_->next_function();
  CoreLink::Answered defined = [self = shared_from_this(), request, id, find](const Result<void>& outcome) {
    if (outcome) {
      self->functions_[id] = {find.module, find.name};
      self->reply(request, FindFunctionReply{id});
    } else {
      self->fail(request, outcome.error());
    }
    self->flush();
  };
  device_->define(id, find.module, find.name, counted(std::move(defined)));
}

// The function behind a kernel's name: of the program itself, else of the module that registered it first.
Result<std::uint32_t> Session::find_kernel(const std::string& name) {
  if (const auto known = kernels_.find(name); known != kernels_.end()) return known->second;
  std::optional<std::uint32_t> module;
  if (device_->in_process() && kernel_registry().find(KernelRegistry::kProgram, name) != nullptr)
    module = KernelRegistry::kProgram;
  for (auto it = modules_.begin(); !module && it != modules_.end(); ++it) {
    const auto& kernels = it->second.kernels;
    if (std::find(kernels.begin(), kernels.end(), name) != kernels.end()) module = it->first;
  }
  if (!module)
    return Error{ErrorKind::kUsage, fmt::format("kernel \"{}\" is not found: no module registers it.", name)};
  const std::uint32_t id = device_->next_function();
  functions_[id] = {*module, name};
  kernels_[name] = id;
  device_->define(id, *module, name, [](const Result<void>&) {});
  return id;
}

// ---- Launches ----

void Session::on_launch(std::uint64_t request, Launch& launch, Frame&) {
  LaunchQueue::Pending pending;
  if (auto good = check_stream(launch.stream); !good)
    return launch.wait ? fail(request, good.error()) : close(good.error().text);
  if (host_.is_ending) {
    const Error ending{ErrorKind::kConnection, "the device is about to end and takes no more launches."};
    return launch.wait ? fail(request, ending) : device_->queue().reject(client_, launch.stream, ending);
  }
  Result<std::uint32_t> function = launch.function;
  if (launch.function == 0) {
    function = launch.name.size() > kMaxKernelName
                   ? Error{ErrorKind::kUsage, fmt::format("a kernel's name has {} characters (limit {}).",
                                                          launch.name.size(), kMaxKernelName)}
                   : find_kernel(launch.name);
  } else if (!functions_.contains(launch.function)) {
    function = Error{ErrorKind::kUsage, fmt::format("function {} does not exist.", launch.function)};
  }
  if (function && launch.args.size() > kMaxLaunchArgs) {
    function = Error{ErrorKind::kUsage, fmt::format("the kernel's arguments have {} bytes (limit {}).",
                                                    launch.args.size(), kMaxLaunchArgs)};
  }
  if (function && launch.core >= device_->core_count()) {
    function = Error{ErrorKind::kUsage, fmt::format("core {} does not exist: chip {} has {}.", launch.core,
                                                    device_->chip().name, device_->core_count())};
  }
  if (function && launch.stream == 0) function = Error{ErrorKind::kUsage, "a launch needs a stream."};
  if (!function) {
    // Nobody reads an answer to an asynchronous launch: what is wrong is kept for the next sync.
    launch.wait ? fail(request, function.error()) : device_->queue().reject(client_, launch.stream, function.error());
    return;
  }
  pending.function = *function;
  pending.core = launch.core;
  pending.kernel = functions_[*function].name;
  pending.args = std::move(launch.args);
  if (launch.wait) pending.answer = answer_later(request);
  device_->queue().submit(client_, launch.stream, std::move(pending));
}

// A stream comes into being when it is named.
Result<void> Session::check_stream(std::uint32_t stream) const {
  if (stream == 0 || client_->has_room_for(stream, kMaxStreams)) return {};
  return Error{ErrorKind::kResource, fmt::format("this program has {} streams already (limit).", kMaxStreams)};
}

void Session::on_sync(std::uint64_t request, Sync& sync, Frame&) {
  if (auto good = check_stream(sync.stream); !good) return fail(request, good.error());
  device_->queue().sync(client_, sync.stream, counted(answer_later(request)));
}

void Session::on_timeout(std::uint64_t request, SetTimeout& timeout, Frame&) {
  if (auto good = check_stream(timeout.stream); !good) return fail(request, good.error());
  device_->queue().set_timeout(client_, timeout.stream, timeout.milliseconds);
  reply(request, Done{});
}

void Session::on_close_stream(std::uint64_t, CloseStream& close, Frame&) {
  device_->queue().close_stream(client_, close.stream);
}

// ---- What people ask ----

ClientStat Session::stat() const {
  ClientStat stat;
  stat.pid = static_cast<std::uint32_t>(pid_);
  for (const auto& [address, bytes] : allocations_) stat.bytes += bytes;
  stat.modules = static_cast<std::uint32_t>(modules_.size());
  if (client_) {
    stat.queued = static_cast<std::uint32_t>(client_->queued());
    stat.launches = client_->finished();
  }
  return stat;
}

void Session::on_stream_time(std::uint64_t request, StreamTime& time, Frame&) {
  if (auto good = check_stream(time.stream); !good) return fail(request, good.error());
  reply(request, device_->queue().time(client_, time.stream));
}

void Session::on_stat(std::uint64_t request, Stat&, Frame&) {
  StatReply stat;
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
