// Loads one shared device with many clients, then with many short lives, and prints figures. Ends with 1 when a result
// is wrong, a client waits much longer than the others, or memory or descriptors grow.
//
//   stress --clients 32 --threads 8 --seconds 180 --cycles 10000
#include <fcntl.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>

#include "runtime/transport/rpc_client.hpp"
#include "runtime/transport/socket.hpp"
#include "tests/e2e/processes.hpp"
#include "tests/stress/attacks.hpp"
#include "tests/stress/client.hpp"
#include "tests/stress/growth.hpp"
#include "tests/stress/process_figures.hpp"
#include "tests/stress/signals.hpp"

namespace softtpu::stress {
namespace {

namespace fs = std::filesystem;
using e2e::Program;
using std::chrono::seconds;

// A client may wait ten times as long as the median of all.
constexpr double kMostUnfair = 10;
// What may be taken once, late, by a library or an allocator; a leak of one small object in each of many launches is
// more.
constexpr std::uint64_t kMostGrowthKib = 2048;

struct Options {
  int clients = 32, threads = 8, cycles = 10000;
  double seconds = 180;
  int client = -1;
  bool attacks = false;
  AttackOptions attack;
  int signal_runs = 0;
  SignalOptions signals;
  GrowthOptions growth;
};

class Stress {
 public:
  explicit Stress(const Options& options) : options_(options) {
    std::string pattern = (fs::temp_directory_path() / "softtpu-stress-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    socket_ = folder_ / "softtpu" / "device.sock";
    server_ = std::make_unique<Program>(std::vector<std::string>{e2e::kSofttpu, "serve"},
                                        e2e::Environment{{"XDG_RUNTIME_DIR", folder_}, {"SOFTTPU_LOG", "warning"}});
    expect(server_->wait_for_output("use with"), "the server starts");
  }
  ~Stress() { fs::remove_all(folder_); }

  int run() {
    load();
    cycle();
    server_->kill(SIGTERM);
    expect(server_->wait(seconds(10)) == 0 && server_->leaves_nothing(), "the server ends and leaves nothing");
    fmt::print("{}\n", failures_ == 0 ? "good" : "FAILED");
    return failures_ == 0 ? 0 : 1;
  }

 private:
  void expect(bool holds, const std::string& what) {
    if (holds) return;
    fmt::print("does not hold: {}\n", what);
    ++failures_;
  }
  // Server and cores.
  ProcessFigures device_figures() const {
    auto processes = server_->processes();
    processes.push_back(server_->pid());
    return figures_of(processes);
  }
  void expect_flat(const ProcessFigures& before, const ProcessFigures& after) {
    fmt::print("  device before: {}\n  device after:  {}\n", to_text(before), to_text(after));
    // A sanitizer keeps books of its own about memory.
    if (!e2e::kSanitized) expect(after.private_kib <= before.private_kib + kMostGrowthKib, "memory is flat");
    expect(after.descriptors <= before.descriptors, "descriptors are flat");
  }

  void load() {
    fmt::print("{} clients x {} threads for {} s\n", options_.clients, options_.threads, options_.seconds);
    std::vector<std::unique_ptr<Program>> clients;
    for (int i = 0; i < options_.clients; ++i) {
      clients.push_back(std::make_unique<Program>(
          std::vector<std::string>{e2e::built("bin/stress"), "--client", std::to_string(i), "--threads",
                                   std::to_string(options_.threads), "--seconds", fmt::format("{}", options_.seconds)},
          e2e::Environment{{"SOFTTPU_DEVICE", "unix:" + socket_.string()}}));
    }
    // What is held once all are at work is the measure.
    std::this_thread::sleep_for(std::chrono::duration<double>(options_.seconds / 3));
    const ProcessFigures early = device_figures();
    std::this_thread::sleep_for(std::chrono::duration<double>(options_.seconds / 2));
    const ProcessFigures late = device_figures();
    std::vector<ClientFigures> all;
    for (auto& client : clients) {
      const bool ended = client->wait(seconds(120)) == 0;
      ClientFigures figures;
      if (ended && find_figures(client->output(), figures)) {
        all.push_back(figures);
      } else {
        expect(false, "a client's results: " + client->output());
      }
    }
    report(all);
    expect_flat(early, late);
  }

  void report(const std::vector<ClientFigures>& all) {
    if (all.empty()) return;
    std::uint64_t launches = 0;
    std::vector<double> means, medians, longest;
    for (const ClientFigures& figures : all) {
      launches += figures.launches;
      means.push_back(figures.mean_ms);
      medians.push_back(figures.median_ms);
      longest.push_back(figures.longest_ms);
    }
    const double typical = median(means), worst = *std::max_element(means.begin(), means.end());
    fmt::print("  {} launches ({:.0f}/s), every result compared\n", launches,
               static_cast<double>(launches) / options_.seconds);
    fmt::print(
        "  wait of a client (mean of its launches): median {:.2f} ms, best {:.2f}, worst {:.2f} = {:.2f} x the "
        "median\n",
        typical, *std::min_element(means.begin(), means.end()), worst, worst / typical);
    fmt::print("  single launches: median {:.2f} ms, longest {:.1f} ms\n", median(medians),
               *std::max_element(longest.begin(), longest.end()));
    expect(worst <= kMostUnfair * typical, "no client waits more than ten times the median");
  }

  // A client that connects, loads its kernels, runs one and goes.
  bool live_once(const UniqueFd& module) {
    auto socket = connect_unix(socket_);
    if (!socket) return false;
    RpcClient rpc(*std::move(socket));
    const int fds[] = {module.get()};
    return rpc.call<msg::HelloReply>(msg::Hello{}) && rpc.call<msg::OpenReply>(msg::Open{}) &&
           rpc.call<msg::AllocateReply>(msg::Allocate{1 << 20}) &&
           rpc.call<msg::LoadModuleReply>(msg::LoadModule{"kernels", {}}, fds) &&
           rpc.call<msg::Done>(msg::make_launch(1, 0, "e2e_nothing", Bytes(64)));
  }

  void cycle() {
    const UniqueFd module(::open(e2e::kKernels.c_str(), O_RDONLY | O_CLOEXEC));
    const int warm_up = std::max(options_.cycles / 10, 1);
    ProcessFigures early;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < options_.cycles; ++i) {
      if (i == warm_up) early = settled();
      if (live_once(module)) continue;
      expect(false, fmt::format("life {}", i));
      return;
    }
    const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("{} lives (connect, load, launch, disconnect): {:.2f} ms each\n", options_.cycles,
               taken * 1000 / options_.cycles);
    expect_flat(early, settled());
  }
  // After the server has noticed that the last client is gone.
  ProcessFigures settled() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return device_figures();
  }

  const Options options_;
  fs::path folder_, socket_;
  std::unique_ptr<Program> server_;
  int failures_ = 0;
};

}  // namespace
}  // namespace softtpu::stress

int main(int argc, char** argv) {
  using namespace softtpu::stress;
  Options options;
  CLI::App app("Many clients of one shared device: results, fairness, growth.");
  app.add_option("--clients", options.clients, "client processes at once")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "threads of each client")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "how long they work")
      ->check(CLI::Range(0.5, 86400.0))
      ->capture_default_str();
  app.add_option("--cycles", options.cycles, "connect, load, launch, disconnect: how often")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_flag("--attacks", options.attacks, "instead: what an empty launch waits beside each way to stall the server");
  app.add_option("--attack-seconds", options.attack.seconds, "beside each")
      ->check(CLI::Range(0.2, 3600.0))
      ->capture_default_str();
  app.add_flag("!--attack-figures", options.attack.judge,
               "only the figures: a busy machine keeps launches waiting too");
  app.add_option("--attack", options.attack.only, "only attacks whose names contain this");
  app.add_option("--signal-runs", options.signal_runs,
                 "instead: so many runs with random signals at cores, supervisors and clients")
      ->check(CLI::Range(1, 100000));
  app.add_option("--signals", options.signals.signals, "in each such run")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--seed", options.signals.seed, "of the first such run")->capture_default_str();
  app.add_option("--growth-launches", options.growth.launches,
                 "instead: so many launches on a device of its own, with memory and descriptors before and after")
      ->check(CLI::Range(1, 100000000));
  app.add_option("--growth-devices", options.growth.devices, "instead, or then: so many devices, one after the other")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--client", options.client, "")->group("");  // this process is client N
  CLI11_PARSE(app, argc, argv);
  if (options.client >= 0) return run_client(options.threads, options.seconds, static_cast<unsigned>(options.client));
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (options.attacks) return run_attacks(options.attack) ? 0 : 1;
  if (options.growth.launches + options.growth.devices > 0) return run_growth(options.growth) ? 0 : 1;
  options.signals.runs = options.signal_runs;
  if (options.signal_runs > 0) return run_signals(options.signals) ? 0 : 1;
  return Stress(options).run();
}
