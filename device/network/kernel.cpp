#include "device/network/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <memory>

#include "device/chip/layout.hpp"
#include "device/command/instruction_scope.hpp"
#include "device/core/call_site.hpp"
#include "device/core/core.hpp"
#include "device/core/own_messages.hpp"
#include "device/isa/op_names.hpp"
#include "device/network/program.hpp"
#include "runtime/bmodel/tensor_map.hpp"
#include "runtime/protocol/launch.hpp"

namespace softtpu::network {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Programs that this core has made, the last used one first. Streams lie in memory that any client may write to, so a
// program counts only while its streams are as they were.
class Programs {
 public:
  Result<std::shared_ptr<const Program>> find(const Chip& chip, const Streams& streams, const std::vector<Area>& areas,
                                              const std::vector<bmodel::LayerRange>& layers) {
    for (auto entry = kept_.begin(); entry != kept_.end(); ++entry) {
      if (!entry->is_for(streams, areas) || entry->layers != layers) continue;
      kept_.splice(kept_.begin(), kept_, entry);
      return kept_.front().program;
    }
    auto made = make_program(chip, streams, areas, layers);
    if (!made) return made.error();
    kept_.push_front({{streams.tiu.begin(), streams.tiu.end()},
                      {streams.dma.begin(), streams.dma.end()},
                      {streams.sdma.begin(), streams.sdma.end()},
                      areas,
                      layers,
                      std::make_shared<const Program>(*std::move(made))});
    forget();
    return kept_.front().program;
  }

 private:
  struct Entry {
    std::vector<std::uint8_t> tiu, dma, sdma;
    std::vector<Area> areas;
    std::vector<bmodel::LayerRange> layers;
    std::shared_ptr<const Program> program;

    bool is_for(const Streams& streams, const std::vector<Area>& other_areas) const {
      return same(tiu, streams.tiu) && same(dma, streams.dma) && same(sdma, streams.sdma) && areas == other_areas;
    }
    static bool same(const std::vector<std::uint8_t>& a, Bytes b) {
      return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
    }
  };
  static constexpr std::size_t kMostPrograms = 64;
  static constexpr std::size_t kMostSteps = 1 << 18;  // of all programs but the last used one

  void forget() {
    std::size_t steps = 0;
    std::size_t programs = 0;
    for (auto entry = std::next(kept_.begin()); entry != kept_.end(); ++entry) {
      steps += entry->program->steps.size();
      if (++programs < kMostPrograms && steps <= kMostSteps) continue;
      kept_.erase(entry, kept_.end());
      return;
    }
  }

  std::list<Entry> kept_;
};

// One call of a network.
class Run {
 public:
  Run(Core& core, Programs& programs) : core_(core), programs_(programs) {}

  void all(const std::vector<msg::NetworkStep>& steps) {
    core_.submit(Op::tpu_initialize, ControlCmd{ControlAction::kInitialize, 0, 0});
    LaunchPage* const page = core_.launch().page;
    if (page != nullptr && reduces(steps)) page->ask_for_turns();
    for (std::size_t i = 0; i < steps.size() && !core_.faulted(); ++i)
      std::visit([this](const auto& step) { take(step); }, steps[i]);
    core_.submit(Op::tpu_poll, ControlCmd{ControlAction::kPoll, 0, 0});
  }

 private:
  // Whether the core combines what it has with what lies in memory that others combine with as well: the order of the
  // cores decides the bits of the sums.
  bool reduces(const std::vector<msg::NetworkStep>& steps) {
    bool found = false;
    for (const msg::NetworkStep& step : steps) {
      if (const auto* area = std::get_if<msg::NetworkArea>(&step)) take(*area);
      const auto* group = std::get_if<msg::NetworkGroup>(&step);
      if (group == nullptr || core_.faulted()) continue;
      bmodel::Stores stores;
      const auto program = find(*group, stores);
      found = found || (program != nullptr && std::ranges::any_of(program->steps, [](const ProgramStep& one) {
                          const auto* reduce = std::get_if<DmaReduceCmd>(&one.command);
                          return reduce != nullptr && reduce->combine && reduce->mode != ReduceMode::kCopy;
                        }));
    }
    areas_.clear();
    return found;
  }

  void take(const msg::NetworkCopy& step) { copy(step); }
  void take(const msg::NetworkArea& step) { areas_.push_back({step.begin, step.end, step.at}); }
  void take(const msg::NetworkBarrier&) {
    core_.submit(Op::tpu_sync_all, ControlCmd{ControlAction::kSync, LaunchPage::kAllEngines, kAllCores});
    LaunchPage* const page = core_.launch().page;
    if (page == nullptr || core_.faulted() || !page->asks_for_turns() || page->is_interleaved()) return;
    // How it ends is said at the next command.
    static_cast<void>(page->interleave(core_.launch().workitem, kTurns));
  }
  void take(const msg::NetworkGroup& step) {
    bmodel::Stores stores;
    const auto program = find(step, stores);
    if (program != nullptr && !step.is_check) carry_out(*program, step.keeps, stores);
  }

  void refuse(const std::string& why) { core_.fault(ErrorKind::kUsage, "the network cannot run: " + why); }

  // The network's own copies go through GDMA, as those of the chip's firmware do.
  void copy(const msg::NetworkCopy& what) {
    constexpr std::uint64_t kMostBytes = 1 << 30;  // of one command
    static constexpr std::string_view kName = "copy of an input or output";
    CallStack stack;
    stack.step = kName;
    const CallStackScope site(stack);
    const InstructionScope instructions;
    for (std::uint64_t done = 0; done < what.bytes && !core_.faulted();) {
      const std::uint64_t size = std::min(what.bytes - done, kMostBytes);
      const Dim4 shape{1, 1, 1, static_cast<int>(size)};
      const auto block = [&](std::uint64_t address) {
        return Tensor{Space::kSystem, address + done, shape, continuous_stride(shape), Dtype::kInt8, true};
      };
      core_.submit(Op::tpu_gdma_system_cpy, DmaCopyCmd{CopyOrder::kBlock, block(what.to), block(what.from)});
      done += size;
    }
  }

  // One unit goes on when the other one is here.
  void meet(Op send, Op wait) {
    constexpr int kFirst = kOwnMessages + (1 << 19);  // behind those of any program
    const int message = kFirst + meetings_++;
    core_.submit(send, ControlCmd{ControlAction::kSendMessage, message, 1});
    core_.submit(wait, ControlCmd{ControlAction::kWaitMessage, message, 1});
  }

  // What an instruction has written of a layer's result.
  void copy_part(const DmaCopyCmd& what) {
    CallStack stack;
    stack.step = kResultCopy;
    const CallStackScope site(stack);
    const InstructionScope instructions;
    core_.submit(Op::tpu_gdma_cpy_S2S, what);
  }

  // A part of a layer's result, from local memory.
  void store(const bmodel::LocalStore& what) {
    CallStack stack;
    stack.step = kResultCopy;
    const CallStackScope site(stack);
    const InstructionScope instructions;
    const Chip& chip = core_.chip();
    const Dtype type = what.element_bytes == 1   ? Dtype::kUint8
                       : what.element_bytes == 2 ? Dtype::kUint16
                                                 : Dtype::kUint32;
    const Dim4 shape{static_cast<int>(what.n), static_cast<int>(what.c), static_cast<int>(what.h),
                     static_cast<int>(what.w)};
    const int npu = chip.npu_of(what.address);
    const Stride4 stride =
        what.aligned != 0 ? aligned_stride(chip, npu, shape, type) : compact_stride(chip, npu, shape);
    core_.submit(
        Op::tpu_gdma_cpy_L2S,
        DmaCopyCmd{CopyOrder::kNchw, Tensor{Space::kSystem, what.to(), shape, continuous_stride(shape), type, true},
                   Tensor{Space::kLocal, what.address, shape, stride, type, what.aligned != 0}});
  }

  // Null: the network has been refused.
  std::shared_ptr<const Program> find(const msg::NetworkGroup& group, bmodel::Stores& stores) {
    const auto tiu = stream_at(group.tiu);
    const auto dma = stream_at(group.dma);
    const auto sdma = stream_at(group.sdma);
    const auto table = stream_at(group.layers);
    if (!tiu || !dma || !sdma || !table) return nullptr;
    const std::vector<bmodel::LayerRange> layers =
        table->empty() ? std::vector<bmodel::LayerRange>() : bmodel::unpack_layers(*table);
    stores = bmodel::unpack_stores(*table);
    auto program = programs_.find(core_.chip(), {*tiu, *dma, *sdma}, areas_, layers);
    if (program) return *std::move(program);
    refuse(program.error().text);
    return nullptr;
  }
  std::optional<Bytes> stream_at(const msg::MemoryRange& range) {
    if (range.bytes == 0) return Bytes();
    const std::uint8_t* data = core_.memories().find_system(range.address, range.bytes).data;
    if (data != nullptr) return Bytes(data, range.bytes);
    refuse(fmt::format("its instructions ({} bytes at {:#x}) lie outside the device's memory", range.bytes,
                       range.address));
    return std::nullopt;
  }

  void carry_out(const Program& program, const std::vector<msg::NetworkCopy>& keeps, const bmodel::Stores& stores) {
    auto last_writes = find_last_writes(program, keeps);
    const auto completions = find_completions(program, stores.local);
    std::multimap<std::size_t, DmaCopyCmd> written;
    for (const auto& [step, one] : find_completions(program, stores.global))
      one->written != 0 ? add_written(program, *one, last_writes, written)
                        : void(last_writes.emplace(step, msg::NetworkCopy{one->to, one->from, one->bytes}));
    CallStack stack;
    const CallStackScope site(stack);
    const InstructionScope instructions;
    const ChainScope chain(core_);
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const ProgramStep& step = program.steps[i];
      stack.step = step.instruction;
      const auto submit = [&]<class Cmd>(const Cmd& command) {
        // Small ones take less time than to keep them.
        constexpr std::int64_t kLeastElements = 4096;
        if constexpr (LaneChain::kTakes<Cmd>)
          command.dst.shape.elements() < kLeastElements ? core_.end_chain() : core_.begin_chain();
        core_.submit(step.op, command);
      };
      std::visit(submit, step.command);
      if (core_.faulted()) return;
      const auto [first, end] = last_writes.equal_range(i);
      for (auto keep = first; keep != end; ++keep) copy(keep->second);
      const auto [first_part, end_part] = written.equal_range(i);
      for (auto part = first_part; part != end_part && !core_.faulted(); ++part) copy_part(part->second);
      const auto [first_store, end_store] = completions.equal_range(i);
      if (first_store == end_store) continue;
      // The tensor unit makes what is copied, and goes on to write over it.
      meet(Op::tpu_bdc_send_msg, Op::tpu_gdma_wait_msg);
      for (auto one = first_store; one != end_store && !core_.faulted(); ++one) store(*one->second);
      meet(Op::tpu_gdma_send_msg, Op::tpu_bdc_wait_msg);
    }
  }

  // What the steps of the store write of its result.
  static void add_written(const Program& program, const bmodel::GlobalStore& store,
                          std::multimap<std::size_t, msg::NetworkCopy>& wholes,
                          std::multimap<std::size_t, DmaCopyCmd>& parts) {
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const ProgramStep& step = program.steps[i];
      if (step.dma <= store.dma_before || step.dma > store.dma) continue;
      each_written(step.command, [&](const Tensor& tensor, std::uint64_t end) {
        const std::uint64_t first = std::max(tensor.addr, store.from), last = std::min(end, store.from + store.bytes);
        if (first >= last) return;
        if (first != tensor.addr || last != end) {
          wholes.emplace(i, msg::NetworkCopy{store.to + (first - store.from), first, last - first});
          return;
        }
        Tensor to = tensor;
        to.addr = store.to + (tensor.addr - store.from);
        parts.emplace(i, DmaCopyCmd{CopyOrder::kNchw, to, tensor});
      });
    }
  }

  // Behind which step each of them is complete.
  template <class Store>
  static std::multimap<std::size_t, const Store*> find_completions(const Program& program,
                                                                   const std::vector<Store>& stores) {
    std::multimap<std::size_t, const Store*> found;
    if (stores.empty()) return found;
    std::map<std::uint32_t, std::size_t> tiu;
    std::map<std::uint32_t, std::size_t> dma;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const ProgramStep& step = program.steps[i];
      if (step.tiu != 0) tiu[step.tiu] = i;
      if (step.dma != 0) dma[step.dma] = i;
    }
    // What issues no command, as a nop, is complete with what stands before it.
    const auto step_of = [](const std::map<std::uint32_t, std::size_t>& steps, std::uint32_t number) {
      const auto behind = steps.upper_bound(number);
      return number == 0 || behind == steps.begin() ? std::size_t{0} : std::prev(behind)->second;
    };
    for (const Store& one : stores) found.emplace(std::max(step_of(tiu, one.tiu), step_of(dma, one.dma)), &one);
    return found;
  }

  // Behind which step each tensor that is kept is complete. What nothing writes is complete before the first one.
  static std::multimap<std::size_t, msg::NetworkCopy> find_last_writes(const Program& program,
                                                                       const std::vector<msg::NetworkCopy>& keeps) {
    std::multimap<std::size_t, msg::NetworkCopy> found;
    for (const msg::NetworkCopy& keep : keeps) {
      std::size_t last = 0;
      for (std::size_t i = 0; i < program.steps.size(); ++i) {
        if (writes(program.steps[i].command, keep)) last = i;
      }
      found.emplace(last, keep);
    }
    return found;
  }
  static bool writes(const Command& command, const msg::NetworkCopy& keep) {
    bool found = false;
    each_written(command, [&](const Tensor& tensor, std::uint64_t end) {
      found = found || (tensor.addr < keep.from + keep.bytes && end > keep.from);
    });
    return found;
  }
  // visit(tensor, end) with each tensor in system memory that a command writes, and where its last element ends.
  template <class Visit>
  static void each_written(const Command& command, Visit visit) {
    const auto look = [&](Access access, const char*, const Operand& operand) {
      const auto* tensor = std::get_if<Tensor>(&operand);
      if (access == Access::kRead || tensor == nullptr || tensor->space != Space::kSystem) return;
      const Dim4& shape = tensor->shape;
      const Stride4& stride = tensor->stride;
      const auto last = [](int extent, auto step) { return std::int64_t{extent - 1} * step; };
      const std::int64_t elements =
          last(shape.n, stride.n) + last(shape.c, stride.c) + last(shape.h, stride.h) + last(shape.w, stride.w) + 1;
      visit(*tensor, tensor->addr + static_cast<std::uint64_t>(elements * size_of(tensor->dtype)));
    };
    for_each_operand(command, look);
  }

  static constexpr std::uint64_t kTurns = 1;  // the order that is fixed; --schedules shows others
  static constexpr std::string_view kResultCopy = "copy of a layer's result";

  int meetings_ = 0;
  Core& core_;
  Programs& programs_;
  std::vector<Area> areas_;
};

void run_network(const void* call) {
  // Of this thread's core.
  thread_local Programs programs;
  if (Core* core = Core::current(); core != nullptr)
    Run(*core, programs).all(static_cast<const msg::NetworkCall*>(call)->steps);
}

}  // namespace

KernelFunction kernel() { return &run_network; }

}  // namespace softtpu::network
