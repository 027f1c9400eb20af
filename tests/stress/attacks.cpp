#include "tests/stress/attacks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include "runtime/transport/rpc_client.hpp"
#include "runtime/transport/socket.hpp"
#include "tests/e2e/processes.hpp"
#include "tests/stress/client.hpp"

namespace softtpu::stress {
namespace {

namespace fs = std::filesystem;

// The goal of one client's wait beside another that does its worst.
constexpr double kGoal99Ms = 5, kGoalMostMs = 50;
// A machine that is busy with other things keeps a launch waiting as well: so many times the waits without an attack
// are good too.
constexpr double kBusyFactor = 3;
// A kernel that crashes is judged by that factor and 99 % of the launches alone. A launch that needs the cores which
// have just crashed waits until new ones are there, on a busy machine some tenths of a second; what the client owes
// for that makes such launches rare. Below this, a ratio of waits says nothing.
constexpr double kLeast99Ms = 1;
constexpr std::uint64_t kMiB = 1 << 20;

UniqueFd open_file(const std::string& path) { return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

// ---- The client that attacks ----

// One connection that sends whatever it likes. Runs in a process of its own, which ends with the first failure.
class Attacker {
 public:
  explicit Attacker(const fs::path& socket) : rpc_(connect(socket)) {
    need(rpc_.call<msg::HelloReply>(msg::Hello{}));
    need(rpc_.call<msg::OpenReply>(msg::Open{0, false, {}}));
  }

  RpcClient& rpc() { return rpc_; }
  std::uint64_t allocate(std::uint64_t bytes) {
    return need(rpc_.call<msg::AllocateReply>(msg::Allocate{bytes})).address;
  }
  std::uint32_t load(int file) {
    return need(rpc_.call<msg::LoadModuleReply>(msg::LoadModule{"attack", {}}, std::span(&file, 1))).module;
  }
  std::uint32_t load_kernels() { return load(open_file(e2e::kKernels).get()); }

  template <class Message>
  void add(const Message& message) {
    append_frame(burst_, ++request_, message);
  }
  // Sends what was added, all at once, and throws the answers away as they come. `answered`: waits for so many bytes.
  void send(std::size_t answered = 0) {
    std::size_t sent = 0, got = 0;
    std::vector<std::uint8_t> answers(kMiB);
    while (sent < burst_.size() || got < answered) {
      pollfd wait{rpc_.socket(), static_cast<short>(POLLIN | (sent < burst_.size() ? POLLOUT : 0)), 0};
      ::poll(&wait, 1, -1);
      if ((wait.revents & POLLIN) != 0) {
        const ssize_t now = ::recv(rpc_.socket(), answers.data(), answers.size(), MSG_DONTWAIT);
        if (now == 0) throw std::runtime_error("the server has closed the connection");
        got += now > 0 ? static_cast<std::size_t>(now) : 0;
      }
      if ((wait.revents & POLLOUT) == 0) continue;
      const auto taken = send_some(rpc_.socket(), std::span(burst_).subspan(sent));
      if (!taken) throw std::runtime_error(taken.error().text);
      sent += *taken;
    }
    burst_.clear();
  }
  // The same, without ever taking an answer. Ends when the socket takes no more for so long.
  void send_deaf(std::chrono::milliseconds patience) {
    std::size_t sent = 0;
    for (;;) {
      pollfd wait{rpc_.socket(), POLLOUT, 0};
      if (::poll(&wait, 1, static_cast<int>(patience.count())) <= 0) return burst_.clear();
      const auto taken = send_some(rpc_.socket(), std::span(burst_).subspan(sent));
      if (!taken) throw std::runtime_error(taken.error().text);
      sent = sent + *taken == burst_.size() ? 0 : sent + *taken;
    }
  }

 private:
  static UniqueFd connect(const fs::path& socket) { return need(connect_unix(socket)); }
  template <class T>
  static T need(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().text);
    return *std::move(result);
  }

  RpcClient rpc_;
  Bytes burst_;
  std::uint64_t request_ = 1 << 20;  // beyond those of rpc_
};

constexpr std::size_t kDoneBytes = kFrameHeaderBytes, kAddressBytes = kFrameHeaderBytes + 8;

// ---- The attacks: each goes on for ever ----

void copy_strided(const fs::path& socket) {
  constexpr std::uint64_t kCount = 1 << 28;
  Attacker attacker(socket);
  const std::uint64_t to = attacker.allocate(kCount), from = attacker.allocate(2 * kCount);
  for (;;) {
    for (int i = 0; i < 20; ++i) attacker.add(msg::Copy{to, from, kCount, 1, 1, 2});
    attacker.send(20 * kDoneBytes);
  }
}

void fill_and_copy(const fs::path& socket) {
  constexpr std::uint64_t kBytes = 256 * kMiB;
  Attacker attacker(socket);
  const std::uint64_t a = attacker.allocate(kBytes), b = attacker.allocate(kBytes);
  for (;;) {
    for (int i = 0; i < 20; ++i) {
      attacker.add(msg::Fill{a, kBytes, {1, 2, 3, 4}});
      attacker.add(msg::Copy{b, a, kBytes, 1, 1, 1});
    }
    attacker.send(40 * kDoneBytes);
  }
}

void read_deaf(const fs::path& socket) {
  for (;;) {
    Attacker attacker(socket);
    const std::uint64_t from = attacker.allocate(16 * kMiB);
    for (int i = 0; i < 1500; ++i) attacker.add(msg::Read{from, 16 * kMiB});
    attacker.send_deaf(std::chrono::milliseconds(500));
  }
}

void read_all(const fs::path& socket) {
  Attacker attacker(socket);
  const std::uint64_t from = attacker.allocate(16 * kMiB);
  for (;;) {
    for (int i = 0; i < 100; ++i) attacker.add(msg::Read{from, 16 * kMiB});
    attacker.send(100 * 16 * kMiB);
  }
}

void write_long(const fs::path& socket) {
  for (;;) {
    Attacker attacker(socket);
    const std::uint64_t to = attacker.allocate(60 * kMiB);
    for (int i = 0; i < 4; ++i) attacker.add(msg::Write{to, Bytes(60 * kMiB, 1)});
    attacker.send(4 * kDoneBytes);
  }
}

void allocate_many(const fs::path& socket) {
  for (;;) {
    Attacker attacker(socket);
    for (int i = 0; i < 54000; ++i) attacker.add(msg::Allocate{1});
    attacker.send(54000 * kAddressBytes);
  }
}

void release_much(const fs::path& socket) {
  constexpr std::uint64_t kBytes = 512 * kMiB;
  for (;;) {
    Attacker attacker(socket);
    const std::uint64_t at = attacker.allocate(kBytes);
    attacker.add(msg::Fill{at, kBytes, {7}});
    attacker.add(msg::Release{at});
    attacker.send(2 * kDoneBytes);
    attacker.add(msg::Fill{attacker.allocate(kBytes), kBytes, {7}});
    attacker.send(kDoneBytes);  // and leaves it to the server to give it back
  }
}

void load_long(const fs::path& socket) {
  // A module with much behind it.
  const UniqueFd kernels = open_file(e2e::kKernels), file(::memfd_create("attack", MFD_CLOEXEC));
  std::vector<char> bytes(kMiB);
  for (ssize_t got = 0; (got = ::read(kernels.get(), bytes.data(), bytes.size())) > 0;) {
    if (::write(file.get(), bytes.data(), static_cast<std::size_t>(got)) != got) return;
  }
  if (::ftruncate(file.get(), static_cast<off_t>(400 * kMiB)) != 0) return;
  for (;;) {
    Attacker attacker(socket);
    for (int i = 0; i < 3; ++i)
      static_cast<void>(attacker.rpc().call<msg::Done>(msg::UnloadModule{attacker.load(file.get())}));
  }
}

void load_many(const fs::path& socket) {
  const UniqueFd file = open_file(e2e::kKernels);
  Bytes image(4 * kMiB);
  const ssize_t got = ::pread(file.get(), image.data(), image.size(), 0);
  image.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  for (;;) {
    Attacker attacker(socket);
    for (int i = 0; i < 100; ++i) attacker.add(msg::LoadModule{"attack", image});
    attacker.send(100 * (kFrameHeaderBytes + 4));
  }
}

void look_up(const fs::path& socket) {
  Attacker attacker(socket);
  const std::uint32_t module = attacker.load_kernels();
  for (;;) {
    for (int i = 0; i < 8000; ++i) attacker.add(msg::FindFunction{module, fmt::format("none{}", i)});
    attacker.send(8000 * kDoneBytes);
  }
}

void sync_streams(const fs::path& socket) {
  for (;;) {
    Attacker attacker(socket);
    attacker.load_kernels();
    for (std::uint32_t stream = 1; stream <= 65536; ++stream) attacker.add(msg::SetTimeout{stream, 1000});
    attacker.send(65536 * kDoneBytes);
    for (int round = 0; round < 20; ++round) {
      for (std::uint32_t stream = 1; stream <= 1000; ++stream)
        attacker.add(msg::make_launch(stream * 60, 0, "e2e_nothing", Bytes(64), false));
      for (int i = 0; i < 1000; ++i) attacker.add(msg::Sync{0});
      attacker.send(1000 * kDoneBytes);
    }
  }
}

void launch_many(const fs::path& socket) {
  Attacker attacker(socket);
  attacker.load_kernels();
  for (;;) {
    for (std::uint32_t i = 0; i < 8000; ++i)
      attacker.add(msg::make_launch(1 + i % 100, 0, i % 2 == 0 ? "e2e_nothing" : "no such kernel", Bytes(64), false));
    attacker.add(msg::Sync{0});
    attacker.send(kDoneBytes);
  }
}

void ask(const fs::path& socket) {
  Attacker attacker(socket);
  for (int i = 0; i < 5000; ++i) attacker.add(msg::Allocate{1});
  attacker.send(5000 * kAddressBytes);
  for (;;) {
    for (int i = 0; i < 4000; ++i) attacker.add(msg::Stat{});
    attacker.send(4000 * 100);
  }
}

void connect_often(const fs::path& socket) {
  for (;;) {
    std::vector<UniqueFd> sockets;
    for (int i = 0; i < 200; ++i) {
      if (auto connected = connect_unix(socket)) sockets.push_back(std::move(*connected));
    }
  }
}

void copy_from_everywhere(const fs::path& socket) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 60; ++i) {
    threads.emplace_back([&socket] {
      Attacker attacker(socket);
      const std::uint64_t at = attacker.allocate(16 * kMiB);
      for (;;) {
        for (int n = 0; n < 100; ++n) attacker.add(msg::Copy{at, at + 1, 8 * kMiB, 1, 1, 1});
        attacker.send(100 * kDoneBytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A kernel that crashes on each of its cores, for as long as it is allowed.
void crash(const fs::path& socket, std::uint32_t cores) {
  Attacker attacker(socket);
  attacker.load(open_file(e2e::kFaultKernels).get());
  for (;;) {
    msg::Launch launch = msg::make_launch(1, 0, "fault_segv", Bytes(64));
    launch.cores = cores;
    if (attacker.rpc().call<msg::Done>(launch)) throw std::runtime_error("a kernel that crashes has not failed");
    if (attacker.rpc().is_broken()) throw std::runtime_error("the server has closed the connection");
  }
}
void crash_on_one(const fs::path& socket) { crash(socket, 1); }
void crash_on_eight(const fs::path& socket) { crash(socket, 8); }

struct Attack {
  const char* name;
  void (*run)(const fs::path& socket);
  const char* chip = "bm1684x";
  bool crashes = false;
};

constexpr Attack kAttacks[] = {
    {"20 strided copies of 2^28 elements in a burst", copy_strided},
    {"fills and copies of 256 MiB", fill_and_copy},
    {"1500 reads of 16 MiB, no answer taken", read_deaf},
    {"reads of 16 MiB, all answers taken", read_all},
    {"writes of 60 MiB", write_long},
    {"54,000 allocations of a byte", allocate_many},
    {"half a GiB filled and given back", release_much},
    {"modules of 400 MiB", load_long},
    {"100 loads in a burst", load_many},
    {"8000 functions looked up in a burst", look_up},
    {"65,536 streams, and syncs of all", sync_streams},
    {"launches without end, half of unknown kernels", launch_many},
    {"questions about the device", ask},
    {"200 connections, again and again", connect_often},
    {"60 connections that copy", copy_from_everywhere},
    {"a kernel that crashes, again and again", crash_on_one, "bm1684x", true},
    {"a kernel that crashes on eight cores, again and again", crash_on_eight, "bm1690", true},
};

// ---- The client that shall notice nothing ----

struct Waits {
  double median = 0, most99 = 0, most = 0;
  std::size_t launches = 0;
  std::string failure;
};

Waits waits_of(std::vector<double> all, std::string failure) {
  Waits waits;
  waits.failure = std::move(failure);
  waits.launches = all.size();
  if (all.empty()) return waits;
  std::sort(all.begin(), all.end());
  waits.median = all[all.size() / 2];
  waits.most99 = all[(all.size() - 1) * 99 / 100];
  waits.most = all.back();
  return waits;
}

// Launches a kernel that does nothing, again and again, as a program would that has other work in between.
class Witness {
 public:
  explicit Witness(const fs::path& socket) : attacker_(socket) { attacker_.load_kernels(); }

  Waits watch(double seconds) {
    std::vector<double> all;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (Clock::now() < end) {
      const auto start = Clock::now();
      auto done = attacker_.rpc().call<msg::Done>(msg::make_launch(1, 0, "e2e_nothing", Bytes(64)));
      if (!done) return waits_of(std::move(all), done.error().text);
      all.push_back(ms_since(start));
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    return waits_of(std::move(all), "");
  }

 private:
  Attacker attacker_;
};

// ---- Both beside each other ----

class Attacks {
 public:
  explicit Attacks(const AttackOptions& options) : options_(options) {
    std::string pattern = (fs::temp_directory_path() / "softtpu-attacks-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Attacks() { fs::remove_all(folder_); }

  bool run() {
    fmt::print(
        "An empty launch beside one client that does its worst, {} s each. Goal: 99% within {} ms, all within {} "
        "ms; beside crashes 99% within {} times those without; waits in ms.\n\n| attack | launches | median | 99% | "
        "longest | without it: median | 99% | longest | "
        "server's memory |\n|---|---|---|---|---|---|---|---|---|\n",
        options_.seconds, kGoal99Ms, kGoalMostMs, kBusyFactor);
    bool good = true;
    for (const Attack& attack : kAttacks) {
      if (std::string(attack.name).find(options_.only) != std::string::npos) good = run_one(attack) && good;
    }
    return good;
  }

 private:
  // A server for each attack, so that none has to bear what another one has left.
  bool run_one(const Attack& attack) {
    const fs::path socket = folder_ / "softtpu" / "device.sock";
    e2e::Program server({e2e::kSofttpu, "serve", "--chip", attack.chip},
                        e2e::Environment{{"XDG_RUNTIME_DIR", folder_}, {"SOFTTPU_LOG", "info"}});
    if (!server.wait_for_output("use with")) return fail("the server does not start: " + server.output());
    Witness witness(socket);
    const Waits alone = witness.watch(attack.crashes ? options_.seconds : std::min(options_.seconds, 1.0));
    const pid_t attacker = start(attack, socket);
    const Waits beside = witness.watch(options_.seconds);
    const std::uint64_t kib = most_private_kib(server.pid());
    const bool attacked = ::waitpid(attacker, nullptr, WNOHANG) == 0;
    ::kill(attacker, SIGKILL);
    ::waitpid(attacker, nullptr, 0);
    fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {} MiB |\n", attack.name,
               beside.launches, beside.median, beside.most99, beside.most, alone.median, alone.most99, alone.most,
               kib / 1024);
    server.kill(SIGTERM);
    const bool ended = server.wait(std::chrono::seconds(20)) == 0;
    if (!attacked) return fail("the attack did not last");
    if (!ended) return fail("the server does not end");
    if (!beside.failure.empty()) return fail("a launch failed: " + beside.failure);
    if (!options_.judge) return true;
    if (attack.crashes) return beside.most99 <= kBusyFactor * std::max(alone.most99, kLeast99Ms);
    return beside.most99 <= std::max(kGoal99Ms, kBusyFactor * alone.most99) &&
           beside.most <= std::max(kGoalMostMs, kBusyFactor * alone.most);
  }

  static pid_t start(const Attack& attack, const fs::path& socket) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    try {
      attack.run(socket);
    } catch (const std::exception& failure) {
      fmt::print(stderr, "{}: {}\n", attack.name, failure.what());
    }
    ::_exit(1);
  }

  // RssAnon at its highest is not kept by the system; what is there while the attack runs comes near.
  static std::uint64_t most_private_kib(pid_t process) {
    const std::string status = e2e::read_text(fs::path("/proc") / std::to_string(process) / "status");
    const std::size_t at = status.find("RssAnon:");
    return at == std::string::npos ? 0 : std::stoull(status.substr(at + 8));
  }

  static bool fail(const std::string& what) {
    fmt::print("does not hold: {}\n", what);
    return false;
  }

  const AttackOptions options_;
  fs::path folder_;
};

}  // namespace

bool run_attacks(const AttackOptions& options) { return Attacks(options).run(); }

}  // namespace softtpu::stress
