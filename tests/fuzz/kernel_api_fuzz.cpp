// Every function that kernels call, with arbitrary arguments: the call is carried out or is a fault with a text. It
// never crashes (guard areas lie round every memory), and a refused command leaves all memories as they were.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "device/core/core.hpp"
#include "tests/fuzz/kernel_calls.hpp"
#include "tests/fuzz/watched_memory.hpp"

namespace softtpu::fuzz {
namespace {

// Chips with the units of the real ones and little memory, so that it can be compared after each call.
constexpr const char* kTpu =
    R"({"name": "fuzz_tpu", "api": "tpukernel", "chip_id": "0x1686", "npu_num": 64, "eu_bytes": 64,
  "local_mem": {"start": "0x8000000", "bytes_per_npu": 32768, "banks": 16}, "static_mem": {"start": "0x9000000", "bytes": 65536},
  "l2_sram": {"start": "0x10000000", "bytes": 65536},
  "global_mem": {"start": "0x100000000", "bytes": 1179648, "reserved_bytes": 131072}, "cores": 1, "mode": "pcie"})";
constexpr const char* kOkk =
    R"({"name": "fuzz_okk", "api": "okkernel", "chip_id": "0x1684", "npu_num": 64, "eu_bytes": 128,
  "local_mem": {"start": "0x8000000", "bytes_per_npu": 32768, "banks": 8}, "static_mem": {"start": "0x323C00", "bytes": 902144},
  "dtcm": {"start": "0x2020000", "bytes": 65536}, "l2_sram": {"start": "0x100A2000", "bytes": 262144},
  "global_mem": {"start": "0x100000000", "bytes": 1179648, "reserved_bytes": 131072}, "cores": 1, "mode": "pcie"})";

// Printed at the end: whether the inputs reach more than the refusals.
struct Figures {
  std::vector<bool> called = std::vector<bool>(kernel_calls().size());
  std::vector<bool> carried_out = std::vector<bool>(kernel_calls().size());
  std::vector<bool> commanded = std::vector<bool>(kernel_calls().size());  // carried out, and issued a command
  std::uint64_t calls = 0, refused = 0;
};
Figures& figures() {
  static Figures* const all = new Figures;
  return *all;
}
void print_figures() {
  const Figures& all = figures();
  const auto count = [](const std::vector<bool>& functions) {
    return std::count(functions.begin(), functions.end(), true);
  };
  std::printf("%llu calls, %llu refused; of %zu functions %td called, %td carried out, %td with commands\n",
              static_cast<unsigned long long>(all.calls), static_cast<unsigned long long>(all.refused),
              all.called.size(), count(all.called), count(all.carried_out), count(all.commanded));
  for (const KernelCall& row : kernel_calls()) {
    const auto index = static_cast<std::size_t>(&row - kernel_calls().data());
    if (!all.carried_out[index] && info(row.op).note.empty())
      std::printf("never carried out: %s\n", std::string(row.name).c_str());
  }
}

class Device {
 public:
  explicit Device(const char* description) {
    auto chip = parse_chip(description, "fuzz chip");
    require(static_cast<bool>(chip), chip ? "" : chip.error().text.c_str());
    auto memories = Memories::create(*chip);
    require(static_cast<bool>(memories), "memories can be made");
    memories_ = std::move(*memories);
    core_ = std::make_unique<Core>(*memories_, 0);
    const std::vector<int> files = memories_->fds();
    const auto watch = [&](int file, std::uint8_t* data, std::uint64_t bytes) {
      watched_.emplace_back(file, std::span(data, bytes));
    };
    watch(files[3], memories_->local(0), chip->local_mem.bytes);
    watch(files[0], memories_->global(), chip->global_mem.bytes);
    watch(files[1], memories_->l2(), chip->l2_sram.bytes);
    if (chip->dtcm) watch(files[4], memories_->dtcm(), chip->dtcm->bytes);
    static_mem_ = {memories_->static_mem(), chip->static_mem.bytes};
    static_kept_.assign(static_mem_.begin(), static_mem_.end());
  }

  // What an input does depends on nothing before it.
  void begin_input() { used_ = false; }
  // Before each call. `clear`: local and global memory.
  void prepare(bool clear) {
    if (!used_) {
      for (WatchedMemory& memory : watched_) memory.clear();
      if (!clear) fill_local();
    } else if (clear) {
      for (WatchedMemory& memory : std::span(watched_).first(2)) memory.clear();
    }
    stale_ = stale_ || clear || !used_;
    used_ = true;
  }
  // Any arguments.
  void run_any(const KernelCall& row, Input& input) {
    Arguments arguments(input);
    const auto kernel = [&] { row.call(arguments); };
    judge(row, kernel);
  }
  // The recipe's arguments, some of them changed.
  void run_near(const KernelCall& row, Input& input) {
    std::vector<grid::Value> values = valid_arguments(row, memories_->chip());
    // A chip of the other family has nothing that could be prepared.
    const auto* preparation = runs(row) ? find_preparation(row) : nullptr;
    const std::vector<grid::Value> valid = values;
    const auto prepare = [&] { preparation->kernel(valid); };
    const bool together = preparation != nullptr && preparation->same_launch;
    if (preparation != nullptr && !together) {
      launch(prepare);
      stale_ = true;
    }
    change_arguments(values, input);
    const auto kernel = [&] {
      if (together) prepare();
      row.function->call(values);
    };
    judge(row, kernel);
  }

 private:
  // Not all zeros where the recipes put operands: a stray copy of zeros would change nothing.
  void fill_local() {
    static const std::vector<std::uint8_t> pattern = [] {
      std::vector<std::uint8_t> bytes(8192);
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 31 + 7);
      return bytes;
    }();
    for (int npu = 0; npu < memories_->chip().npu_num; ++npu)
      std::memcpy(memories_->local(npu), pattern.data(), pattern.size());
  }
  // A fault may leave the kernel by a jump: what it uses belongs to the caller.
  template <class Kernel>
  LaunchOutcome launch(const Kernel& kernel) {
    return core_->run([](const void* args) { (*static_cast<const Kernel*>(args))(); }, "fuzz", &kernel);
  }
  template <class Kernel>
  void judge(const KernelCall& row, const Kernel& kernel) {
    if (stale_) {
      for (WatchedMemory& memory : watched_) memory.keep();
    }
    const LaunchOutcome outcome = launch(kernel);
    count(row, outcome);
    require(std::equal(static_mem_.begin(), static_mem_.end(), static_kept_.begin()), "no call changes static memory");
    // The first commands of a composite function may have been good.
    stale_ = outcome.ok || info(row.op).support == Support::kComposite;
    if (outcome.ok) return;
    const std::string call = std::string(row.name) + ": " + outcome.text;
    require(outcome.text.find(row.name) != std::string::npos, ("a fault names the function: " + call).c_str());
    if (stale_) return;
    for (const WatchedMemory& memory : watched_)
      require(memory.is_as_kept(), ("a refused call changes no memory: " + call).c_str());
  }
  bool runs(const KernelCall& row) const { return info(row.op).api == memories_->chip().api; }
  static void count(const KernelCall& row, const LaunchOutcome& outcome) {
    const auto index = static_cast<std::size_t>(&row - kernel_calls().data());
    ++figures().calls;
    figures().called[index] = true;
    if (outcome.ok) figures().carried_out[index] = true;
    if (outcome.ok && outcome.commands > 0) figures().commanded[index] = true;
    if (!outcome.ok) ++figures().refused;
  }

  std::unique_ptr<Memories> memories_;
  std::unique_ptr<Core> core_;
  std::vector<WatchedMemory> watched_;  // local, global, L2, DTCM
  std::span<std::uint8_t> static_mem_;
  std::vector<std::uint8_t> static_kept_;
  bool used_ = false;   // by this input
  bool stale_ = false;  // what is kept is not what the memories should hold
};

}  // namespace
}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu::fuzz;
  static Device tpu(kTpu), okk(kOkk);
  [[maybe_unused]] static const int at_end = std::atexit(print_figures);
  Input input(data, bytes);
  tpu.begin_input();
  okk.begin_input();
  for (int i = 0; i < 8 && !input.empty(); ++i) {
    const KernelCall& row = find_call(input.take<std::uint16_t>());
    const std::uint8_t kind = input.byte();
    // Now and then a function of the other family, which must be refused.
    const bool other = kind / 8 % 16 == 15;
    Device& device = (softtpu::info(row.op).api == softtpu::Api::kOkKernel) != other ? okk : tpu;
    // What lies in memory may be indices; zeros are good ones.
    device.prepare(kind / 4 % 2 == 0);
    if (kind % 4 == 3 || row.function == nullptr) {
      device.run_any(row, input);
    } else {
      device.run_near(row, input);
    }
  }
  return 0;
}
