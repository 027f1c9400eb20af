// The core's end of a module that qemu-user runs (runtime/module/emulator.hpp): starts the process, gives it a launch,
// and makes the calls that come from it.
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "device/core/call_site.hpp"
#include "device/core/core.hpp"
#include "firmware/emulated/marshal.hpp"
#include "runtime/base/text.hpp"
#include "runtime/module/emulator.hpp"
#include "runtime/module/own_interface.hpp"

extern char** environ;  // NOLINT

namespace softtpu::emulated {
namespace {

// ---- Calls ----

template <class R>
void add_result(Writer& to, R result) {
  if constexpr (std::is_pointer_v<R>) {
    const Memories& memories = Core::current()->memories();
    const std::array<const std::uint8_t*, kMemories> begins{memories.global(), memories.l2(), memories.local(0)};
    // The nearest memory in front of it: whether it lies inside, the process finds out when it uses the pointer.
    Place place;
    const auto* const at = static_cast<const std::uint8_t*>(result);
    for (unsigned i = 0; i < kMemories && at != nullptr; ++i) {
      if (begins[i] == nullptr || at < begins[i]) continue;
      if (place.memory == kMemories || at - begins[i] < place.offset) place = {i, at - begins[i]};
    }
    to.add(place);
  } else {
    to.add(result);
  }
}

// A function of the interface; Caller knows its type.
using AnyFunction = void (*)();

// A parameter of a call, by its number. With std::tuple the file takes three times as long to compile.
template <std::size_t kNumber, class P>
struct Slot {
  explicit Slot(Reader& from) : one(from) {}
  P one;
};

template <class Numbers, class R, class... A>
struct Caller;
template <std::size_t... kNumbers, class R, class... A>
struct Caller<std::index_sequence<kNumbers...>, R, A...> : Slot<kNumbers, Parameter<A>>... {
  explicit Caller([[maybe_unused]] Reader& from) : Slot<kNumbers, Parameter<A>>(from)... {}

  // False: the bytes are not those of the function's arguments. One for all functions of a type.
  static bool make_call(AnyFunction any, Reader& from, Bytes& answer) {
    const auto function = reinterpret_cast<R (*)(A...)>(any);
    [[maybe_unused]] Caller held(from);
    if (!from.whole()) return false;
    Writer writer(answer);
    if constexpr (std::is_void_v<R>) {
      function(held.Slot<kNumbers, Parameter<A>>::one.get()...);
    } else {
      add_result(writer, function(held.Slot<kNumbers, Parameter<A>>::one.get()...));
    }
    (held.Slot<kNumbers, Parameter<A>>::one.write_back(writer), ...);
    return true;
  }
};

struct Row {
  std::string_view name;
  bool passes = false, is_answered = false;
  AnyFunction function = nullptr;
  bool (*make_call)(AnyFunction function, Reader& from, Bytes& answer) = nullptr;
};

template <class R, class... A>
Row make_row(std::string_view name, std::string_view family, R (*function)(A...)) {
  using F = R(A...);
  Row row{name, Signature<F>::kPasses && !stays_in_process(name), is_waited_for(family) || Signature<F>::kComesBack};
  if constexpr (Signature<F>::kPasses) {
    row.function = reinterpret_cast<AnyFunction>(function);
    row.make_call = &Caller<std::index_sequence_for<A...>, R, A...>::make_call;
  }
  return row;
}

#undef tpu_register_kernel_func
// In the order of the table, as the numbers of the calls are.
const Row kRows[] = {
#define OP(family, function, ...) make_row(#function, #family, &::function),
#define OKK(...)
#include "device/isa/ops.def"
#undef OP
#undef OKK
};

bool has_function(const char* name) {
  static const auto names = [] {
    std::set<std::string_view> all;
    for (const Row& row : kRows) {
      if (row.passes || stays_in_process(row.name)) all.insert(row.name);
    }
    return all;
  }();
  return names.contains(name);
}

// ---- The module ----

struct Symbol {
  std::uint64_t begin = 0, bytes = 0;
  std::string name;
};

// Functions that the module shows, by address. A file without a table of sections shows none.
std::vector<Symbol> read_symbols(int image) {
  std::vector<Symbol> symbols;
  struct stat status {};
  if (::fstat(image, &status) != 0) return symbols;
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  const auto read = [&](void* to, std::uint64_t bytes, std::uint64_t offset) {
    return offset <= file_bytes && bytes <= file_bytes - offset &&
           ::pread(image, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  };
  Elf64_Ehdr header{};
  if (!read(&header, sizeof header, 0) || header.e_shentsize != sizeof(Elf64_Shdr)) return symbols;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read(sections.data(), sections.size() * sizeof(Elf64_Shdr), header.e_shoff)) return symbols;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& texts = sections[section.sh_link];
    if (section.sh_size > file_bytes || texts.sh_size > file_bytes) continue;
    std::vector<Elf64_Sym> rows(section.sh_size / sizeof(Elf64_Sym));
    std::string names(texts.sh_size, '\0');
    if (!read(rows.data(), rows.size() * sizeof(Elf64_Sym), section.sh_offset) ||
        !read(names.data(), names.size(), texts.sh_offset))
      continue;
    for (const Elf64_Sym& row : rows) {
      if (row.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(row.st_info) != STT_FUNC || row.st_name >= names.size()) continue;
      symbols.push_back({row.st_value, row.st_size, to_printable(names.c_str() + row.st_name, 64)});
    }
  }
  std::ranges::sort(symbols, {}, &Symbol::begin);
  return symbols;
}

std::string end_text(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("ended its process with status {}", WEXITSTATUS(status));
}

class Module;
thread_local Module* selected = nullptr;

class Module final : public EmulatedModule {
 public:
  Module(Emulator emulator, UniqueFd image, std::string name, std::vector<UniqueFd> memories)
      : emulator_(std::move(emulator)),
        image_(std::move(image)),
        name_(std::move(name)),
        memories_(std::move(memories)),
        symbols_(read_symbols(image_.get())) {}
  ~Module() override { rest(); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  bool has(const std::string& kernel) const override {
    return symbols_.empty() ||
           std::any_of(symbols_.begin(), symbols_.end(), [&](const Symbol& one) { return one.name == kernel; });
  }
  void select(const std::string& kernel) override {
    kernel_ = kernel;
    selected = this;
  }
  // A launch that was cut off has left its scope behind.
  void deselect() override {
    selected = nullptr;
    place_.reset();
  }
  KernelFunction entry() const override { return reinterpret_cast<KernelFunction>(reinterpret_cast<void*>(&enter)); }

  void rest() override {
    connection_.reset();
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  static void enter(const void* arguments, unsigned bytes) {
    if (selected != nullptr) selected->run(arguments, bytes);
  }

  void run(const void* arguments, unsigned bytes) {
    // One that was cut off waits for an answer, or sends what is no longer wanted.
    if (is_busy_) rest();
    if (process_ <= 0) {
      if (auto started = start(); !started) return fail(started.error().text);
    }
    is_busy_ = true;
    Bytes request;
    Writer writer(request);
    writer.add(RunHead{static_cast<std::uint32_t>(kernel_.size()), bytes});
    writer.add(kernel_.data(), kernel_.size());
    writer.add(arguments, bytes);
    received_.clear();
    at_ = 0;
    if (!send_all(request)) return fail_of_end();
    if (take_calls()) is_busy_ = false;
  }

  // False: the launch has failed.
  bool take_calls() {
    CallHead head;
    Bytes payload;
    for (;;) {
      if (!receive(&head, sizeof head)) return fail_of_end(), false;
      if (head.bytes > kMostBytes) return fail_of_noise(), false;
      payload.resize(head.bytes);
      if (!receive(payload.data(), payload.size())) return fail_of_end(), false;
      if (head.function == kEnd) return true;
      if (head.function == kProblem) {
        fail(fmt::format("kernel module {}: {}", name_, to_printable(std::string(payload.begin(), payload.end()))));
        return false;
      }
      if (head.function >= std::size(kRows) || !kRows[head.function].passes) return fail_of_noise(), false;
      if (!take_call(kRows[head.function], head.caller, payload)) return false;
    }
  }

  bool take_call(const Row& row, std::uint64_t caller, const Bytes& payload) {
    stack_ = CallStack();
    stack_.step = place_of(caller);
    place_.emplace(stack_);
    Reader reader(payload.data(), payload.size());
    answer_.clear();
    const bool made =
        row.make_call(row.function, reader, answer_);  // may end the launch: nothing here needs to be undone
    place_.reset();
    if (!made) return fail_of_noise(), false;
    if (!row.is_answered) return true;
    Bytes& out = out_;
    out.clear();
    Writer writer(out);
    writer.add(AnswerHead{static_cast<std::uint32_t>(answer_.size()), Core::current()->faulted() ? 1U : 0U});
    writer.add(answer_.data(), answer_.size());
    return send_all(out) || (fail_of_end(), false);
  }

  // The function of the module that made the call; texts stay as long as the module.
  std::string_view place_of(std::uint64_t caller) {
    const auto behind = std::ranges::upper_bound(symbols_, caller - 1, {}, &Symbol::begin);
    if (behind != symbols_.begin()) {
      const Symbol& symbol = *std::prev(behind);
      if (caller - 1 < symbol.begin + symbol.bytes) return symbol.name;
    }
    return *texts_.insert(fmt::format("{}+{:#x}", name_, caller)).first;
  }

  Result<void> start() {
    if (memories_.size() != kMemories)
      return Error{ErrorKind::kResource, "there were no descriptors for the memories of its process"};
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return Error{ErrorKind::kResource, not_started(errno)};
    UniqueFd own(ends[0]);
    const UniqueFd other(ends[1]);
    // Copies with high numbers, so that none is written over before it is copied to where the process expects it.
    constexpr int kFirst = 3, kHigh = 200;
    std::vector<int> given{image_.get(), other.get()};
    for (const UniqueFd& memory : memories_) given.push_back(memory.get());
    std::vector<UniqueFd> copies;
    std::vector<std::string> words{emulator_.qemu, "-L", emulator_.system, emulator_.starter};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const int number = kFirst + static_cast<int>(i);
      UniqueFd copy(given[i] < 0 ? -1 : ::fcntl(given[i], F_DUPFD_CLOEXEC, kHigh));
      words.push_back(std::to_string(copy ? number : -1));
      if (copy) ::posix_spawn_file_actions_adddup2(&actions, copy.get(), number);
      copies.push_back(std::move(copy));
    }
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    sigset_t all;
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    // Settings of this machine's loader do not apply to the other processor's.
    std::vector<char*> environment;
    for (char** one = environ; *one != nullptr; ++one) {
      const std::string_view text(*one);
      if (!text.starts_with("LD_") && !text.starts_with("QEMU_")) environment.push_back(*one);
    }
    environment.push_back(nullptr);
    pid_t child = -1;
    const int failed =
        ::posix_spawn(&child, emulator_.qemu.c_str(), &actions, &attributes, arguments.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0) return Error{ErrorKind::kResource, not_started(failed)};
    process_ = child;
    connection_ = std::move(own);
    is_busy_ = false;
    return {};
  }

  std::string not_started(int error) const {
    return fmt::format("{} cannot be started: {}{}", emulator_.qemu, std::strerror(error),
                       error == EPERM ? " (a core in a sandbox starts no process: SOFTTPU_SANDBOX)" : "");
  }

  bool send_all(const Bytes& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t sent = ::send(connection_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      done += static_cast<std::size_t>(sent);
    }
    return true;
  }
  bool receive(void* to, std::size_t bytes) {
    auto* at = static_cast<std::uint8_t*>(to);
    while (bytes > 0) {
      if (at_ == received_.size()) {
        received_.resize(kMostBytes);
        const ssize_t got = ::recv(connection_.get(), received_.data(), received_.size(), 0);
        received_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        at_ = 0;
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
      }
      const std::size_t some = std::min(bytes, received_.size() - at_);
      std::memcpy(at, received_.data() + at_, some);
      at_ += some;
      at += some;
      bytes -= some;
    }
    return true;
  }

  static void fail(const std::string& text) { Core::current()->fault(ErrorKind::kUsage, text); }
  void fail_of_noise() {
    fail(fmt::format("kernel module {}: its process sent what is no call", name_));
    rest();
  }
  void fail_of_end() {
    int status = 0;
    bool known = false;
    // The connection ends a little before the process.
    constexpr int kTries = 1000;
    for (int i = 0; i < kTries && !known; ++i) {
      const pid_t ended = ::waitpid(process_, &status, WNOHANG);
      if (ended < 0) break;
      known = ended == process_;
      if (!known) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (known) process_ = -1;
    rest();
    fail(fmt::format("kernel module {} {}", name_, known ? end_text(status) : "has ended its process"));
  }

  Emulator emulator_;
  UniqueFd image_;
  std::string name_;
  std::vector<UniqueFd> memories_;
  std::vector<Symbol> symbols_;
  std::set<std::string, std::less<>> texts_;
  std::string kernel_;
  pid_t process_ = -1;
  UniqueFd connection_;
  bool is_busy_ = false;  // with a launch, or with one that was cut off
  Bytes received_, answer_, out_;
  std::size_t at_ = 0;
  CallStack stack_;
  std::optional<CallStackScope> place_;
};

Result<std::unique_ptr<EmulatedModule>> make(UniqueFd image, const std::string& name, std::vector<UniqueFd> memories) {
  // Now: in a sandbox no file can be looked for any more.
  auto emulator = find_emulator();
  if (!emulator) return emulator.error();
  auto imports = import_interface(std::move(image), has_function);
  if (!imports) return imports.error();
  return std::unique_ptr<EmulatedModule>(
      std::make_unique<Module>(*std::move(emulator), *std::move(imports), name, std::move(memories)));
}

[[maybe_unused]] const bool is_set = (emulated_module_maker() = make, true);

}  // namespace
}  // namespace softtpu::emulated
