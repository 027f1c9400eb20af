// Every function that kernels call, with arbitrary arguments: the call is carried out or is a fault with a text. It
// never crashes (guard areas lie round every memory), and a refused command leaves all memories as they were.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "device/core/core.hpp"
#include "tests/fuzz/kernel_calls.hpp"

namespace softtpu::fuzz {
namespace {

// Chips with the units of the real ones and little memory, so that it can be compared after each call.
constexpr const char* kTpu =
    R"({"name": "fuzz_tpu", "api": "tpukernel", "chip_id": "0x1686", "npu_num": 8, "eu_bytes": 64,
  "local_mem": {"start": "0x8000000", "bytes_per_npu": 16384, "banks": 16}, "static_mem": {"start": "0x9000000", "bytes": 65536},
  "l2_sram": {"start": "0x10000000", "bytes": 65536},
  "global_mem": {"start": "0x100000000", "bytes": 2097152, "reserved_bytes": 1048576}, "cores": 1, "mode": "pcie"})";
constexpr const char* kOkk =
    R"({"name": "fuzz_okk", "api": "okkernel", "chip_id": "0x1684", "npu_num": 8, "eu_bytes": 128,
  "local_mem": {"start": "0x8000000", "bytes_per_npu": 16384, "banks": 8}, "static_mem": {"start": "0x323C00", "bytes": 902144},
  "dtcm": {"start": "0x2020000", "bytes": 65536}, "l2_sram": {"start": "0x100A2000", "bytes": 262144},
  "global_mem": {"start": "0x100000000", "bytes": 2097152, "reserved_bytes": 1048576}, "cores": 1, "mode": "pcie"})";

// Printed at the end: whether the inputs reach more than the refusals.
struct Figures {
  std::vector<bool> called = std::vector<bool>(kernel_calls().size());
  std::vector<bool> carried_out = std::vector<bool>(kernel_calls().size());
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
  std::printf("%llu calls, %llu refused; of %zu functions %td called, %td carried out at least once\n",
              static_cast<unsigned long long>(all.calls), static_cast<unsigned long long>(all.refused),
              all.called.size(), count(all.called), count(all.carried_out));
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
    const MemoryRange dtcm = chip->dtcm.value_or(MemoryRange{});
    regions_ = {{memories_->local(0), chip->local_mem.bytes},
                {memories_->global(), chip->global_mem.bytes},
                {memories_->l2(), chip->l2_sram.bytes},
                {memories_->static_mem(), chip->static_mem.bytes}};
    if (dtcm.bytes > 0) regions_.push_back({memories_->dtcm(), dtcm.bytes});
    // Not all zeros: a stray copy of zeros would change nothing.
    for (std::size_t i = 0; i < regions_[0].size(); ++i) regions_[0][i] = static_cast<std::uint8_t>(i * 31 + 7);
    remember();
  }

  void run(const KernelCall& row, Input& input) {
    Arguments arguments(input);
    struct Launch {
      const KernelCall* row;
      Arguments* arguments;
    } launch{&row, &arguments};
    const LaunchOutcome outcome = core_->run(
        [](const void* args) {
          const auto* what = static_cast<const Launch*>(args);
          what->row->call(*what->arguments);
        },
        "fuzz", &launch);
    count(row, outcome.ok);
    if (outcome.ok) return remember();
    require(outcome.text.find(row.name) != std::string::npos, "a fault names the function");
    if (info(row.op).support == Support::kComposite) return remember();  // its first commands may have been good
    require(is_unchanged(), "a refused call changes no memory");
  }

 private:
  static void count(const KernelCall& row, bool carried_out) {
    const auto index = static_cast<std::size_t>(&row - kernel_calls().data());
    ++figures().calls;
    figures().called[index] = true;
    if (carried_out) figures().carried_out[index] = true;
    if (!carried_out) ++figures().refused;
  }
  void remember() {
    before_.clear();
    for (const auto& region : regions_) before_.insert(before_.end(), region.begin(), region.end());
  }
  bool is_unchanged() const {
    const std::uint8_t* before = before_.data();
    for (const auto& region : regions_) {
      if (std::memcmp(before, region.data(), region.size()) != 0) return false;
      before += region.size();
    }
    return true;
  }

  std::unique_ptr<Memories> memories_;
  std::unique_ptr<Core> core_;
  std::vector<std::span<std::uint8_t>> regions_;
  std::vector<std::uint8_t> before_;
};

}  // namespace
}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu::fuzz;
  static Device tpu(kTpu), okk(kOkk);
  [[maybe_unused]] static const int at_end = std::atexit(print_figures);
  Input input(data, bytes);
  const auto calls = kernel_calls();
  for (int i = 0; i < 4 && !input.empty(); ++i) {
    const KernelCall& row = calls[input.choice(calls.size())];
    // Now and then a function of the other family, which must be refused.
    const bool other = input.byte() % 16 == 0;
    (row.name.starts_with("okk_") != other ? okk : tpu).run(row, input);
  }
  return 0;
}
