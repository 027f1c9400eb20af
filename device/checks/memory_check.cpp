#include "device/checks/memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/checks/describe.hpp"
#include "device/footprint/operand_use.hpp"

namespace softtpu {
namespace {

// An address so far behind an allocation still counts as a run past its end.
constexpr std::uint64_t kNearBytes = 1U << 20;

struct Bytes {
  std::uint64_t begin = 0, end = 0;
};

// From the first to the last byte of a tensor in system memory, whose strides are not negative.
Bytes hull(const Tensor& tensor) {
  const auto& [shape, stride] = std::tie(tensor.shape, tensor.stride);
  const std::int64_t last =
      (shape.n - 1) * stride.n + (shape.c - 1) * stride.c + (shape.h - 1) * stride.h + (shape.w - 1) * stride.w + 1;
  return {tensor.addr, tensor.addr + static_cast<std::uint64_t>(last * size_of(tensor.dtype))};
}

class MemoryCheck final : public Observer {
 public:
  MemoryCheck(std::shared_ptr<Findings> findings, std::shared_ptr<AllocationTable> allocations)
      : findings_(std::move(findings)), table_(std::move(allocations)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    chip_ = &memories.chip();
    findings_->begin(kernel, core);
    table_->update(known_);
  }

  void before(Op op, const Command& command) override {
    for_each_use(command, [&](const OperandUse& use) {
      if (use.tensor.space == Space::kSystem && chip_->global_mem.contains(use.tensor.addr)) judge(op, use);
    });
  }

  void asked(Op op, const Tensor& tensor, bool reads) override {
    if (!chip_->global_mem.contains(tensor.addr)) return;
    OperandUse use;
    use.name = "addr";
    use.tensor = tensor;
    use.reads = reads;
    use.writes = !reads;
    judge(op, use);
  }

  void launch_ends(const std::string&) override { findings_->report(); }

 private:
  void judge(Op op, const OperandUse& use) {
    Bytes bytes = hull(use.tensor);
    // How much a destination gets depends on data: its first element is certain.
    if (!use.role.all && use.writes) bytes.end = bytes.begin + static_cast<std::uint64_t>(size_of(use.tensor.dtype));
    if (is_inside(bytes)) return;
    table_->update(known_);
    if (!is_inside(bytes) && known_.complete()) report(op, use, bytes);
  }

  bool is_inside(const Bytes& bytes) const {
    const AllocationRecord* owner = known_.find(bytes.begin);
    return owner != nullptr && bytes.end - owner->address <= owner->bytes;
  }

  void report(Op op, const OperandUse& use, const Bytes& bytes) {
    const AllocationRecord* owner = known_.find(bytes.begin);
    const AllocationRecord* before = known_.before(bytes.begin);
    const AllocationRecord* freed = known_.find_freed(bytes.begin);
    const AllocationRecord* next = known_.from(bytes.begin);
    if (owner != nullptr) return overrun(op, use, bytes, *owner, owner->address + owner->bytes);
    if (freed != nullptr) return used_after_free(op, use, bytes, *freed);
    if (next != nullptr && next->address < bytes.end) return underrun(op, use, bytes, *next);
    if (before != nullptr && bytes.begin - (before->address + before->bytes) < kNearBytes) {
      return overrun(op, use, bytes, *before, bytes.begin);
    }
    add("memory/not-allocated", op, use, bytes,
        fmt::format("no allocation of the host program holds 0x{:x}", bytes.begin), {});
  }

  void overrun(Op op, const OperandUse& use, const Bytes& bytes, const AllocationRecord& owner, std::uint64_t first) {
    const std::uint64_t end = owner.address + owner.bytes;
    const AllocationRecord* victim = known_.find(bytes.end - 1);
    std::string text = fmt::format("{} bytes past the end of an allocation of {} bytes", bytes.end - end, owner.bytes);
    if (victim != nullptr && victim != &owner) text += fmt::format(", into that at 0x{:x}", victim->address);
    add("memory/overrun", op, use, {first, bytes.end}, text, {made(owner)});
  }

  void underrun(Op op, const OperandUse& use, const Bytes& bytes, const AllocationRecord& owner) {
    add("memory/underrun", op, use, {bytes.begin, owner.address},
        fmt::format("{} bytes before the start of an allocation of {} bytes", owner.address - bytes.begin, owner.bytes),
        {made(owner)});
  }

  void used_after_free(Op op, const OperandUse& use, const Bytes& bytes, const AllocationRecord& record) {
    add("memory/use-after-free", op, use, bytes,
        fmt::format("the allocation of {} bytes at 0x{:x} was freed before the launch", record.bytes, record.address),
        {made(record), {"bm_free_device", "freed by the host program", {}, record.freed_at()}});
  }

  static Party made(const AllocationRecord& record) {
    return {"bm_malloc_device",
            fmt::format("allocation of {} bytes at 0x{:x}", record.bytes, record.address),
            {},
            record.allocated_at()};
  }

  void add(const char* rule, Op op, const OperandUse& use, const Bytes& bytes, const std::string& what,
           std::vector<Party> parties) {
    Finding finding;
    finding.rule = rule;
    finding.place = ReportedRange{"global", bytes.begin, bytes.end};
    finding.what =
        fmt::format("{} {} {}: {}", call_name(op), use.writes ? "writes" : "reads", finding.place->text(), what);
    finding.calls = std::move(parties);
    finding.calls.push_back(party_of(*chip_, {op, use.name, use.writes, &use.tensor}, SpanSpace::kSystem, bytes.begin,
                                     capture_call_stack()));
    findings_->add(finding);
  }

  std::shared_ptr<Findings> findings_;
  std::shared_ptr<AllocationTable> table_;
  KnownAllocations known_;
  const Chip* chip_ = nullptr;
};

}  // namespace

std::shared_ptr<Observer> make_memory_check(std::shared_ptr<Findings> findings,
                                            std::shared_ptr<AllocationTable> allocations) {
  return std::make_shared<MemoryCheck>(std::move(findings), std::move(allocations));
}

}  // namespace softtpu
