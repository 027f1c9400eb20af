// What a program pays around its kernels: launches, single commands, copies from and to the host, the start of a
// device. Through libbmlib and a device process of its own, as any program. Vendor's emulator: 200 ms for an empty
// launch (11 ms on BM1684), 310 ns for the smallest command, 12.8 and 6.9 GB/s for copies to and from the device, 8 to
// 30 ms to start.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "bmlib_runtime.h"
#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"
#include "tpu_kernel.h"
#include "tpuv7/tpuv7_rt.h"

namespace softtpu::bench {
namespace {

constexpr std::int64_t kMega = 1 << 20;

void need(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "benchmark: %s\n", what);
  std::exit(1);
}

// A device process of its own.
bm_handle_t open_device(const char* chip) {
  setenv("SOFTTPU_DEVICE", "embedded", 1);
  setenv("SOFTTPU_CHIP", chip, 1);
  bm_handle_t handle = nullptr;
  need(bm_dev_request(&handle, 0) == BM_SUCCESS, "no device");
  return handle;
}

tpu_kernel_module_t load(bm_handle_t handle, const char* kernels) {
  const tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, kernels);
  need(module != nullptr, "the kernel module does not load");
  return module;
}

// A device process with the empty kernel, as a program has it.
struct Program {
  Program() {
    const tpu_kernel_module_t module = load(handle, SOFTTPU_BENCH_KERNELS);
    nothing = tpu_kernel_get_function(handle, module, "bench_nothing");
    need(bm_malloc_device_byte(handle, &memory, 64 * kMega) == BM_SUCCESS, "no memory");
  }
  static Program& get() {
    static Program program;
    return program;
  }
  void launch() { need(tpu_kernel_launch(handle, nothing, nullptr, 0) == BM_SUCCESS, "a launch failed"); }
  void queue() { need(tpu_kernel_launch_async(handle, nothing, nullptr, 0) == BM_SUCCESS, "a launch was not queued"); }
  void sync() { need(tpu_kernel_sync(handle) == BM_SUCCESS, "a launch failed"); }

  bm_handle_t handle = open_device("bm1684x");
  tpu_kernel_function_t nothing = 0;
  bm_device_mem_t memory{};
};

// 64 bytes to another process and back, over a socket pair.
class PingPong {
 public:
  PingPong() {
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()) == 0, "no socket pair");
    if (fork() != 0) return;
    close(ends_[0]);
    std::array<char, 64> bytes{};
    while (read(ends_[1], bytes.data(), bytes.size()) > 0 && write(ends_[1], bytes.data(), bytes.size()) > 0) {
    }
    _exit(0);
  }
  void once() {
    std::array<char, 64> bytes{};
    need(write(ends_[0], bytes.data(), bytes.size()) == 64 && read(ends_[0], bytes.data(), bytes.size()) == 64,
         "the other end is gone");
  }

 private:
  std::array<int, 2> ends_{};
};

// Microseconds of one call, the median of `count`: other programs on the processor change few of them.
// Linux needs some milliseconds to spread processes that have begun to work together over the processors: five times as
// many calls come before.
double microseconds(int count, const std::function<void()>& call) {
  std::vector<double> each;
  for (int i = 0; i < 5 * count; ++i) call();
  for (int i = 0; i < count; ++i) each.push_back(seconds_of(call));
  std::nth_element(each.begin(), each.begin() + count / 2, each.end());
  return each[static_cast<std::size_t>(count / 2)] * 1e6;
}

// The same for BM1684, whose programs launch kernels by name.
void launch_okkernel() {
  static const bm_handle_t handle = [] {
    const bm_handle_t opened = open_device("bm1684");
    load(opened, SOFTTPU_BENCH_OKKERNELS);
    return opened;
  }();
  need(okkernel_launch_sync(handle, "bench_okk_nothing", nullptr, 0) == BM_SUCCESS, "a launch failed");
}

Work launch_and_wait(const char* group, double vendor, void (*launch)()) {
  static const auto other = std::make_shared<PingPong>();
  Work work;
  work.group = group;
  work.name = "empty kernel, launch and wait";
  work.unit = "us";
  work.figure = [launch] { return microseconds(200, launch); };
  work.limit_name = "64 bytes to a process and back";
  work.limit_figure = [] { return microseconds(200, [] { other->once(); }); };
  work.at_most_limits = 3;
  work.vendor = vendor;
  return work;
}

std::vector<Work> launches() {
  const Work sync = launch_and_wait("launch", 200e3, [] { Program::get().launch(); });
  const Work okkernel = launch_and_wait("BM1684", 11e3, launch_okkernel);

  Work queued;
  queued.group = "launch";
  queued.name = "empty kernel, 1000 queued, then wait";
  queued.amount = 1000;
  queued.unit = "launches";
  queued.run = [] {
    for (int i = 0; i < 1000; ++i) Program::get().queue();
    Program::get().sync();
  };
  queued.at_least = 200e3;
  queued.vendor = 5;
  return {sync, okkernel, queued};
}

// The same through libtpuv7_rt, on a stream.
struct RtProgram {
  RtProgram() {
    setenv("SOFTTPU_DEVICE", "embedded", 1);
    setenv("SOFTTPU_CHIP", "bm1684x", 1);
    need(tpuRtSetDevice(0) == tpuRtSuccess && tpuRtStreamCreate(&stream) == tpuRtSuccess, "no device");
    module = tpuRtKernelLoadModuleFile(SOFTTPU_BENCH_KERNELS, stream);
    need(module != nullptr, "the kernel module does not load");
    need(tpuRtMalloc(&memory, 64 * kMega, 0) == tpuRtSuccess && tpuRtMalloc(&other, 64 * kMega, 0) == tpuRtSuccess,
         "no memory");
  }
  static RtProgram& get() {
    static RtProgram program;
    return program;
  }
  void launch() {
    need(tpuRtKernelLaunch(module, "bench_nothing", nullptr, 0, 1, 1, stream) == tpuRtSuccess, "a launch failed");
  }
  void queue() {
    need(tpuRtKernelLaunchAsync(module, "bench_nothing", nullptr, 0, 1, 1, stream) == tpuRtSuccess,
         "a launch was not queued");
  }
  void sync() { need(tpuRtStreamSynchronize(stream) == tpuRtSuccess, "a launch failed"); }

  tpuRtStream_t stream = nullptr;
  tpuRtKernelModule_t module = nullptr;
  void* memory = nullptr;
  void* other = nullptr;
};

// Beside its own limits the vendor's runtime on BM1690: 14 ms for an empty launch, 5 ms for a queued one.
std::vector<Work> rt_launches() {
  Work sync = launch_and_wait("tpuv7_rt", 14e3, [] { RtProgram::get().launch(); });
  Work queued;
  queued.group = "tpuv7_rt";
  queued.name = "empty kernel, 1000 queued, then wait";
  queued.amount = 1000;
  queued.unit = "launches";
  queued.run = [] {
    for (int i = 0; i < 1000; ++i) RtProgram::get().queue();
    RtProgram::get().sync();
  };
  queued.at_least = 200e3;
  queued.vendor = 200;
  return {sync, queued};
}

// Nanoseconds of one command on one element, in a kernel with many of them.
Work smallest(const char* name, void (*command)()) {
  BenchDevice& device = BenchDevice::bm1684x();
  Work work;
  work.group = "command";
  work.name = name;
  work.unit = "ns";
  work.figure = [&device, command] {
    constexpr int kCount = 10000;
    return 1e9 / kCount * seconds_of([&] {
             device.run([&] {
               for (int i = 0; i < kCount; ++i) command();
             });
           });
  };
  work.at_most = 100;
  work.vendor = 310;
  return work;
}

constexpr dim4 kOne = {1, 1, 1, 1};

std::vector<Work> commands() {
  return {
      smallest("fp_add f32, 1 element", [] { tpu_bdc_fp_add(0, 64, 128, &kOne, nullptr, nullptr, nullptr, DT_FP32); }),
      smallest("cpy f32, 1 element", [] { tpu_bdc_cpy(0, 64, &kOne, nullptr, nullptr, DT_FP32); }),
      smallest("gdma L2L f32, 1 element", [] { tpu_gdma_cpy_L2L(0, 64, &kOne, nullptr, nullptr, DT_FP32); }),
  };
}

std::vector<Work> host_copies() {
  auto bytes = std::make_shared<std::vector<char>>(64 * kMega, 1);
  const auto copy = [](const char* name, double vendor, std::function<void()> run, const char* group = "host") {
    Work work;
    work.group = group;
    work.name = name;
    work.amount = work.limit_amount = static_cast<double>(64 * kMega) / 1e9;
    work.unit = "GB";
    work.run = std::move(run);
    work.limit_name = "memcpy";
    work.required = 0.95;
    work.vendor = vendor;
    auto other = std::make_shared<std::vector<char>>(64 * kMega, 2);
    auto from = std::make_shared<std::vector<char>>(64 * kMega, 3);
    work.limit = [other, from] {
      std::memcpy(other->data(), from->data(), from->size());
      keep(other->data());
    };
    return work;
  };
  return {
      copy("s2d 64 MB", 12.8,
           [bytes] {
             Program& program = Program::get();
             need(bm_memcpy_s2d(program.handle, program.memory, bytes->data()) == BM_SUCCESS, "a copy failed");
           }),
      copy("d2s 64 MB", 6.9,
           [bytes] {
             Program& program = Program::get();
             need(bm_memcpy_d2s(program.handle, bytes->data(), program.memory) == BM_SUCCESS, "a copy failed");
           }),
      copy(
          "S2D 64 MB", 0.2,
          [bytes] {
            need(tpuRtMemcpyS2D(RtProgram::get().memory, bytes->data(), bytes->size()) == tpuRtSuccess,
                 "a copy failed");
          },
          "tpuv7_rt"),
      copy(
          "D2S 64 MB", 0.17,
          [bytes] {
            need(tpuRtMemcpyD2S(bytes->data(), RtProgram::get().memory, bytes->size()) == tpuRtSuccess,
                 "a copy failed");
          },
          "tpuv7_rt"),
      copy(
          "D2D 64 MB", 2.7,
          [] {
            const RtProgram& program = RtProgram::get();
            need(tpuRtMemcpyD2D(program.other, program.memory, 64 * kMega) == tpuRtSuccess, "a copy failed");
          },
          "tpuv7_rt"),
  };
}

// Resident memory of all device processes that have `mark` in their environment, in MB; pages that they share count
// twice.
double resident_of(const std::string& mark) {
  double kilobytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream environment(entry.path() / "environ");
    std::stringstream variables;
    variables << environment.rdbuf();
    if (variables.str().find(mark) == std::string::npos) continue;
    std::ifstream command(entry.path() / "comm");
    std::string name;
    std::getline(command, name);
    if (name.rfind("softtpu-device", 0) != 0) continue;
    std::ifstream rollup(entry.path() / "smaps_rollup");
    for (std::string line; std::getline(rollup, line);)
      if (line.rfind("Rss:", 0) == 0) kilobytes += std::strtod(line.c_str() + 4, nullptr);
  }
  return kilobytes / 1024;
}

double start_time() {
  FILE* program = popen(SOFTTPU_BENCH_START " < /dev/null", "r");
  need(program != nullptr, "a program does not start");
  double milliseconds = 0;
  need(std::fscanf(program, "%lf", &milliseconds) == 1, "no device");
  need(pclose(program) == 0, "a program failed");
  return milliseconds;
}

double idle_memory() {
  const std::string mark = "SOFTTPU_BENCH_MARK=" + std::to_string(getpid());
  FILE* program = popen((mark + " " SOFTTPU_BENCH_START " > /dev/null").c_str(), "w");
  need(program != nullptr, "a program does not start");
  usleep(200000);
  const double megabytes = resident_of(mark);
  pclose(program);
  return megabytes;
}

std::vector<Work> starts() {
  Work start;
  start.group = "device";
  start.name = "start of an embedded device";
  start.unit = "ms";
  start.figure = start_time;
  start.at_most = 30;
  start.vendor = 19;
  Work memory;
  memory.group = "device";
  memory.name = "resident memory of an idle one (server and core)";
  memory.unit = "MB";
  memory.figure = idle_memory;
  memory.at_most = 40;
  return {start, memory};
}

const bool added = add_work([] {
  std::vector<Work> list = launches();
  for (const auto& more : {rt_launches(), commands(), host_copies(), starts()})
    for (const Work& work : more) list.push_back(work);
  return list;
});

}  // namespace
}  // namespace softtpu::bench
