// What launches take while other processes want the processors: prints one row for each number of processes that do
// nothing but compute. Each row has a device of its own, with the settings of the environment.
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bmlib_runtime.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kUsage =
    "usage: softtpu_bench_busy [--seconds S] [PROCESSES...]\n"
    "Prints how long launches take beside so many busy processes (default: 0 2 10 20), measured for S seconds (default "
    "2) each:\n"
    "an empty kernel, launched and waited for; a bare relay, the least that this can take: a message through two "
    "sockets\n"
    "to a third process and back, with nothing else done; empty kernels in queues of 1000; a kernel of 20 commands on\n"
    "half a million elements with all threads, and with one.\n";
constexpr int kQueue = 1000;
constexpr int kMostBusy = 1000;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "softtpu_bench_busy: %s\n", what);
  std::exit(1);
}

void need(bool condition, const char* what) {
  if (!condition) give_up(what);
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Processes that compute until this object goes, or this program ends.
class Busy {
 public:
  explicit Busy(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t process = fork();
      need(process >= 0, "a busy process does not start");
      if (process == 0) compute();
      processes_.push_back(process);
    }
  }
  ~Busy() {
    for (const pid_t process : processes_) kill(process, SIGKILL);
    for (const pid_t process : processes_) waitpid(process, nullptr, 0);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  [[noreturn]] static void compute() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned long steps = 0;;) steps = steps + 1;
  }
  std::vector<pid_t> processes_;
};

// A device process with the kernels.
class Program {
 public:
  Program() {
    need(bm_dev_request(&handle_, 0) == BM_SUCCESS, "no device");
    const tpu_kernel_module_t module = tpu_kernel_load_module_file(handle_, SOFTTPU_BENCH_KERNELS);
    need(module != nullptr, "the kernel module does not load");
    nothing_ = tpu_kernel_get_function(handle_, module, "bench_nothing");
    large_ = tpu_kernel_get_function(handle_, module, "bench_large");
    for (int i = 0; i < 100; ++i) launch(nothing_);
  }
  ~Program() { bm_dev_free(handle_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void launch_nothing() { launch(nothing_); }
  void launch_large() { launch(large_); }
  void queue() {
    for (int i = 0; i < kQueue; ++i)
      need(tpu_kernel_launch_async(handle_, nothing_, nullptr, 0) == BM_SUCCESS, "a launch was not queued");
    need(tpu_kernel_sync(handle_) == BM_SUCCESS, "a launch failed");
  }

 private:
  void launch(tpu_kernel_function_t kernel) {
    need(tpu_kernel_launch(handle_, kernel, nullptr, 0) == BM_SUCCESS, "a launch failed");
  }
  bm_handle_t handle_ = nullptr;
  tpu_kernel_function_t nothing_ = 0, large_ = 0;
};

// What a launch is to the system: this process, a second and a third one, and back, by way of sockets.
class Relay {
 public:
  Relay() {
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, near_) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, far_) == 0,
         "no sockets");
    start([this] { serve(far_[1], [] {}); });
    start([this] { serve(near_[1], [this] { pass(far_[0]); }); });
    for (const int end : {near_[1], far_[0], far_[1]}) close(end);
  }
  ~Relay() {
    for (const pid_t process : processes_) kill(process, SIGKILL);
    for (const pid_t process : processes_) waitpid(process, nullptr, 0);
    close(near_[0]);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  void run() { need(pass(near_[0]), "a relay has ended"); }

 private:
  static constexpr std::size_t kRequestBytes = 48, kAnswerBytes = 16;

  // As long as those of a launch.
  static bool pass(int socket) {
    char message[kRequestBytes]{};
    return send(socket, message, kRequestBytes, MSG_NOSIGNAL) == kRequestBytes &&
           recv(socket, message, kAnswerBytes, MSG_WAITALL) == kAnswerBytes;
  }

  template <class Work>
  static void serve(int socket, Work work) {
    char message[kRequestBytes]{};
    while (recv(socket, message, kRequestBytes, MSG_WAITALL) == kRequestBytes) {
      work();
      if (send(socket, message, kAnswerBytes, MSG_NOSIGNAL) != kAnswerBytes) return;
    }
  }

  template <class Body>
  void start(Body body) {
    const pid_t process = fork();
    need(process >= 0, "no process");
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      body();
      _exit(0);
    }
    processes_.push_back(process);
  }

  int near_[2], far_[2];
  std::vector<pid_t> processes_;
};

struct Times {
  double median = 0, p99 = 0, longest = 0, mean = 0;  // seconds
};

template <class Call>
Times measure(double seconds, Call call) {
  std::vector<double> each;
  const auto start = Clock::now();
  while (each.empty() || seconds_since(start) < seconds) {
    const auto before = Clock::now();
    call();
    each.push_back(seconds_since(before));
  }
  std::sort(each.begin(), each.end());
  double sum = 0;
  for (const double time : each) sum += time;
  const auto part = [&](std::size_t hundredths) { return each[(each.size() - 1) * hundredths / 100]; };
  return {part(50), part(99), each.back(), sum / static_cast<double>(each.size())};
}

// Measured by a process of its own: settings are read when a process opens its first device.
template <class Measurement>
void in_own_process(double* results, std::size_t count, const Measurement& measurement) {
  int ends[2];
  need(pipe(ends) == 0, "no pipe");
  const pid_t process = fork();
  need(process >= 0, "no process");
  const auto bytes = static_cast<ssize_t>(count * sizeof(double));
  if (process == 0) {
    measurement(results);
    _exit(write(ends[1], results, static_cast<std::size_t>(bytes)) == bytes ? 0 : 1);
  }
  close(ends[1]);
  need(read(ends[0], results, static_cast<std::size_t>(bytes)) == bytes, "a measurement failed");
  close(ends[0]);
  waitpid(process, nullptr, 0);
}

void print_row(int processes, double seconds) {
  const Busy busy(processes);
  double all[7]{}, one[1]{}, relay[2]{};
  in_own_process(all, 7, [seconds](double* results) {
    Program program;
    const Times empty = measure(seconds, [&] { program.launch_nothing(); });
    const Times queued = measure(seconds, [&] { program.queue(); });
    const Times large = measure(seconds, [&] { program.launch_large(); });
    const double values[] = {empty.median,         empty.mean,   empty.p99, empty.longest,
                             kQueue / queued.mean, large.median, large.mean};
    std::memcpy(results, values, sizeof(values));
  });
  in_own_process(one, 1, [seconds](double* results) {
    setenv("SOFTTPU_THREADS", "1", 1);
    Program program;
    results[0] = measure(seconds, [&] { program.launch_large(); }).mean;
  });
  in_own_process(relay, 2, [seconds](double* results) {
    Relay bare;
    const Times times = measure(seconds, [&] { bare.run(); });
    results[0] = times.median;
    results[1] = times.mean;
  });
  std::printf(
      "| %d | %.0f us | %.0f us | %.0f us | %.1f ms | %.0f us | %.0f us | %.0f | %.2f ms | %.2f ms | %.2f ms |\n",
      processes, all[0] * 1e6, all[1] * 1e6, all[2] * 1e6, all[3] * 1e3, relay[0] * 1e6, relay[1] * 1e6, all[4],
      all[5] * 1e3, all[6] * 1e3, one[0] * 1e3);
  std::fflush(stdout);
}

int to_count(const char* text) {
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || count < 0 || count > kMostBusy) {
    std::fprintf(stderr, "softtpu_bench_busy: \"%s\" is no number of processes (0 to %d)\n%s", text, kMostBusy, kUsage);
    std::exit(2);
  }
  return static_cast<int>(count);
}

double to_seconds(const char* text) {
  char* end = nullptr;
  const double seconds = text != nullptr ? std::strtod(text, &end) : 0;
  if (text == nullptr || *end != '\0' || !(seconds > 0 && seconds <= 600)) {
    std::fprintf(stderr, "softtpu_bench_busy: --seconds takes a number above 0, at most 600\n%s", kUsage);
    std::exit(2);
  }
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 2;
  std::vector<int> processes;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") return std::fputs(kUsage, stdout) < 0 ? 1 : 0;
    if (word == "--seconds") {
      seconds = to_seconds(argv[++i]);
    } else {
      processes.push_back(to_count(argv[i]));
    }
  }
  if (processes.empty()) processes = {0, 2, 10, 20};
  setenv("SOFTTPU_DEVICE", "embedded", 0);
  std::printf("%ld processors\n\n", sysconf(_SC_NPROCESSORS_ONLN));
  std::printf(
      "| busy processes | empty launch, median | mean | p99 | longest | bare relay, median | mean | "
      "queued launches/s | large kernel, median | mean | mean with one thread |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n");
  std::fflush(stdout);
  for (const int count : processes) print_row(count, seconds);
  return 0;
}
