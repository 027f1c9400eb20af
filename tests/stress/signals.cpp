#include "tests/stress/signals.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/transport/rpc_client.hpp"
#include "runtime/transport/socket.hpp"
#include "tests/e2e/kernels/e2e_param.h"
#include "tests/e2e/processes.hpp"

namespace softtpu::stress {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::size_t kClients = 4;
constexpr int kWords = 1024;
// After the last signal: a stopped core is ended after SOFTTPU_TIMEOUT, and its modules are loaded again.
constexpr std::chrono::seconds kRecovery{20};
constexpr int kSignals[] = {SIGKILL, SIGKILL, SIGTERM, SIGSTOP, SIGCONT, SIGSEGV, SIGABRT, SIGQUIT,
                            SIGINT,  SIGHUP,  SIGUSR1, SIGALRM, SIGPIPE, SIGBUS,  SIGFPE};

// What each client says of itself, in memory that all have.
struct Diary {
  enum Doing : int { kStarts, kLoads, kLaunches, kReads };
  std::atomic<int> doing{kStarts};
  std::atomic<std::uint64_t> right{0}, failed{0}, wrong{0};
};
constexpr const char* kDoing[] = {"starts", "loads a module", "launches", "reads"};

// A client that launches and compares until it is ended. What fails is begun anew.
[[noreturn]] void run_client(const fs::path& socket, Diary& diary, unsigned seed, std::uint32_t cores) {
  std::mt19937 random(seed);
  const UniqueFd module(::open(e2e::kFaultKernels.c_str(), O_RDONLY | O_CLOEXEC));
  for (;;) {
    diary.doing = Diary::kStarts;
    auto connected = connect_unix(socket);
    if (!connected) {
      std::this_thread::sleep_for(milliseconds(5));
      continue;
    }
    RpcClient rpc(*std::move(connected));
    const int fd = module.get();
    const auto opened = rpc.call<msg::HelloReply>(msg::Hello{}) ? rpc.call<msg::OpenReply>(msg::Open{0, false, {}})
                                                                : Result<msg::OpenReply>(Error{});
    const auto memory = opened ? rpc.call<msg::AllocateReply>(msg::Allocate{kWords * sizeof(int)})
                               : Result<msg::AllocateReply>(Error{});
    diary.doing = Diary::kLoads;
    if (!memory || !rpc.call<msg::LoadModuleReply>(msg::LoadModule{"signals", {}}, std::span(&fd, 1))) {
      ++diary.failed;
      continue;
    }
    for (int launches = 0; launches < 200; ++launches) {
      diary.doing = Diary::kLaunches;
      const e2e_param_t param = {memory->address, kWords, static_cast<int>(random() % 1000000)};
      Bytes args(sizeof param);
      std::memcpy(args.data(), &param, sizeof param);
      msg::Launch launch = msg::make_launch(1, 0, "fault_nothing", std::move(args));
      launch.cores = 1 + static_cast<std::uint32_t>(random() % cores);
      if (!rpc.call<msg::Done>(launch)) {
        ++diary.failed;
        if (rpc.is_broken()) break;
        continue;
      }
      diary.doing = Diary::kReads;
      const auto got = rpc.call<msg::ReadReply>(msg::Read{memory->address, kWords * sizeof(int)});
      if (!got || got->data.size() != kWords * sizeof(int)) {
        ++diary.failed;
        if (rpc.is_broken()) break;
        continue;
      }
      std::array<int, kWords> words;
      std::memcpy(words.data(), got->data.data(), got->data.size());
      bool right = true;
      for (int i = 0; i < kWords; ++i) right = right && words[static_cast<std::size_t>(i)] == param.value + i;
      ++(right ? diary.right : diary.wrong);
    }
  }
}

class SignalRun {
 public:
  SignalRun(unsigned seed, int signals) : seed_(seed), signals_(signals), random_(seed) {
    std::string pattern = (fs::temp_directory_path() / "softtpu-signals-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    void* const shared =
        ::mmap(nullptr, sizeof(Diary) * kClients, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error("no memory for the clients' diaries");
    diaries_ = static_cast<Diary*>(shared);
    for (std::size_t i = 0; i < kClients; ++i) new (diaries_ + i) Diary;
  }
  ~SignalRun() {
    for (const pid_t client : clients_) end(client);
    ::munmap(diaries_, sizeof(Diary) * kClients);
    fs::remove_all(folder_);
  }
  SignalRun(const SignalRun&) = delete;
  SignalRun& operator=(const SignalRun&) = delete;

  bool run() {
    const std::string chip = random_() % 2 == 0 ? "bm1684x" : "bm1690", space = random_() % 2 == 0 ? "on" : "off";
    cores_ = chip == "bm1690" ? 8 : 1;
    e2e::Program server({e2e::kSofttpu, "serve", "--chip", chip, "--namespace", space},
                        e2e::Environment{{"XDG_RUNTIME_DIR", folder_}, {"SOFTTPU_TIMEOUT", "1"}});
    if (!server.wait_for_output("use with")) return fail(server, "the server does not start: " + server.output());
    for (std::size_t i = 0; i < kClients; ++i) clients_.push_back(start_client(i));
    if (!all_go_on()) return fail(server, "a client does not begin");
    for (int i = 0; i < signals_; ++i) {
      send_one(server);
      std::this_thread::sleep_for(std::chrono::microseconds(random_() % 15000));
      revive();
    }
    for (const pid_t process : stopped_) ::kill(process, SIGCONT);
    for (const pid_t client : clients_) ::kill(client, SIGCONT);
    revive();
    if (!all_go_on()) return fail(server, "a client does not go on");
    std::uint64_t right = 0, failed = 0, wrong = 0;
    for (std::size_t i = 0; i < kClients; ++i) {
      right += diaries_[i].right;
      failed += diaries_[i].failed;
      wrong += diaries_[i].wrong;
    }
    if (wrong > 0) return fail(server, fmt::format("{} wrong results", wrong));
    for (pid_t& client : clients_) end(std::exchange(client, -1));
    server.kill(SIGTERM);
    if (server.wait(std::chrono::seconds(20)) != 0 || !server.leaves_nothing())
      return fail(server, "the server does not end, or leaves something");
    fmt::print("seed {}: {}, namespaces {}: {} signals, {} launches right, {} failed\n", seed_, chip, space, signals_,
               right, failed);
    return true;
  }

 private:
  static void end(pid_t client) {
    if (client <= 0) return;
    ::kill(client, SIGKILL);
    ::waitpid(client, nullptr, 0);
  }
  pid_t start_client(std::size_t number) {
    const unsigned seed = static_cast<unsigned>(random_());
    const pid_t child = ::fork();
    if (child == 0) run_client(folder_ / "softtpu" / "device.sock", diaries_[number], seed, cores_);
    return child;
  }
  // Clients that have ended are started again.
  void revive() {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (::waitpid(clients_[i], nullptr, WNOHANG) == clients_[i]) clients_[i] = start_client(i);
    }
  }
  void send_one(const e2e::Program& server) {
    std::vector<pid_t> targets = clients_;
    // A supervisor that is stopped sees nothing; what has stopped it has to let it go on.
    const auto supervisors = server.processes("tpu-supervisor");
    targets.insert(targets.end(), supervisors.begin(), supervisors.end());
    for (int core = 0; core < 8; ++core) {
      const auto cores = server.processes("softtpu-core" + std::to_string(core));
      targets.insert(targets.end(), cores.begin(), cores.end());
    }
    const pid_t target = targets[random_() % targets.size()];
    const int signal = kSignals[random_() % std::size(kSignals)];
    ::kill(target, signal);
    if (signal == SIGSTOP) stopped_.push_back(target);
    if (stopped_.size() > 3) {
      ::kill(stopped_.front(), SIGCONT);
      stopped_.erase(stopped_.begin());
    }
  }
  bool all_go_on() {
    std::array<std::uint64_t, kClients> before;
    for (std::size_t i = 0; i < kClients; ++i) before[i] = diaries_[i].right;
    return e2e::eventually(
        [&] {
          revive();
          bool all = true;
          for (std::size_t i = 0; i < kClients; ++i) all = all && diaries_[i].right > before[i];
          return all;
        },
        kRecovery);
  }
  // The watchdog: where all programs wait.
  bool fail(const e2e::Program& server, const std::string& what) const {
    fmt::print("seed {}: does not hold: {}\n", seed_, what);
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      fmt::print("client {}: {}; {} right, {} failed, {} wrong\n", i, kDoing[diaries_[i].doing],
                 diaries_[i].right.load(), diaries_[i].failed.load(), diaries_[i].wrong.load());
    }
    std::vector<pid_t> all = server.processes();
    all.push_back(server.pid());
    all.insert(all.end(), clients_.begin(), clients_.end());
    for (const pid_t process : all) {
      if (process <= 0) continue;
      const fs::path folder = fs::path("/proc") / std::to_string(process);
      std::string stat = e2e::read_text(folder / "stat");
      stat = stat.substr(0, stat.find(')') + 8);
      fmt::print("{} | waits in {} | call {}{}", stat, e2e::read_text(folder / "wchan"),
                 e2e::read_text(folder / "syscall"), e2e::read_text(folder / "stack"));
    }
    fmt::print("the server's output:\n{}\n", server.output());
    return false;
  }

  const unsigned seed_;
  const int signals_;
  std::uint32_t cores_ = 1;
  std::mt19937 random_;
  fs::path folder_;
  Diary* diaries_ = nullptr;
  std::vector<pid_t> clients_, stopped_;
};

}  // namespace

bool run_signals(const SignalOptions& options) {
  int bad = 0;
  for (int i = 0; i < options.runs; ++i) {
    if (!SignalRun(options.seed + static_cast<unsigned>(i), options.signals).run()) ++bad;
  }
  fmt::print("{} of {} runs clean\n", options.runs - bad, options.runs);
  return bad == 0;
}

}  // namespace softtpu::stress
