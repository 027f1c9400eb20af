// The functions that the compiler's debugger and runtimes look up in a libcmodel-shaped library (cmodel-abi facts), for
// BM1684X: memories that the caller reads and writes directly, and instructions executed one by one. One core, one
// thread at a time, as with the library that it stands for.
#include <fmt/format.h>

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "device/command/instruction_scope.hpp"
#include "device/core/core.hpp"
#include "device/instruction/translate.hpp"
#include "runtime/base/text.hpp"

namespace softtpu::cmodel {
namespace {

// What get_local_mem() describes.
struct LocalMemory {
  char* raw_ptr;
  std::uint32_t** mem_arr;
  int count;
  int size_per_mem;
  int align_num;
  int need_free;
};

constexpr std::uint32_t kFreshLocalWord = 0xDEADBEEF;
constexpr std::size_t kMessageWords = 1 << 16;
constexpr std::size_t kRegisters = 256;
constexpr unsigned kTiuEngine = 0, kDmaEngine = 1;
constexpr int kInt8 = 1;  // DT_INT8, which callers ask for

int fail(const std::string& text) {
  std::fprintf(stderr, "[cmodel][error] %s\n", escape_controls(text).c_str());
  return -1;
}

// The geometry is known before anything is created.
const Chip& chip() {
  static const Chip loaded = *load_chip("bm1684x");
  return loaded;
}

class Node {
 public:
  Node(std::unique_ptr<Memories> memories, std::uint64_t global_bytes)
      : memories_(std::move(memories)), core_(*memories_, 0), global_bytes_(global_bytes) {
    for (int npu = 0; npu < chip().npu_num; ++npu)
      lanes_.push_back(reinterpret_cast<std::uint32_t*>(memories_->local(npu)));
    local_ = {reinterpret_cast<char*>(memories_->local(0)),
              lanes_.data(),
              chip().npu_num,
              static_cast<int>(chip().local_bytes),
              chip().eu_bytes / static_cast<int>(sizeof(std::uint32_t)),
              0};
    fill_local(kFreshLocalWord);
    make_static_memory_writable();
  }

  Memories& memories() { return *memories_; }
  LocalMemory* local() { return &local_; }
  std::uint64_t global_bytes() const { return global_bytes_; }
  std::uint32_t* messages() { return messages_.data(); }
  std::atomic<std::uint32_t>& reg(std::uint32_t index) { return registers_[index % kRegisters]; }

  void fill_local(std::uint32_t word) {
    const std::size_t words = std::size_t{chip().local_bytes} / sizeof(word);
    for (std::uint32_t* lane : lanes_) std::fill_n(lane, words, word);
  }

  int execute(const stream::Instruction& instruction) {
    if (instruction.is_end() || instruction.format->function_name(instruction.function()) == "nop") return 0;
    const auto issued = stream::translate(chip(), instruction);
    if (!issued) return fail("execute_command: " + issued.error().text);
    issued_ = &*issued;
    Node* self = this;
    const auto outcome =
        core_.run([](const void* of) { (*static_cast<Node* const*>(of))->submit(); }, "execute_command", &self);
    return outcome.ok ? 0 : fail("execute_command: " + outcome.text);
  }

 private:
  // Debuggers write the tables there themselves; commands read what stands there.
  void make_static_memory_writable() {
    std::uint8_t* const at = memories_->static_mem();
    const std::size_t bytes = chip().static_mem.bytes;
    const std::vector<std::uint8_t> tables(at, at + bytes);
    void* const own = ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (own == at) std::memcpy(at, tables.data(), bytes);
  }

  void submit() {
    const InstructionScope instructions;
    std::visit([&](const auto& command) { core_.submit(issued_->op, command); }, issued_->command);
  }

  std::unique_ptr<Memories> memories_;
  Core core_;
  std::uint64_t global_bytes_;
  std::vector<std::uint32_t*> lanes_;
  LocalMemory local_{};
  const stream::Issued* issued_ = nullptr;
  std::vector<std::uint32_t> messages_ = std::vector<std::uint32_t>(kMessageWords);
  std::array<std::atomic<std::uint32_t>, kRegisters> registers_{};
};

std::unique_ptr<Node>& the_node() {
  static auto& node = *new std::unique_ptr<Node>;
  return node;
}

// The core, or nullptr after a message in the name of `function`.
Node* find(const char* function, int node) {
  if (node != 0) {
    fail(fmt::format("{}: core {} does not exist: BM1684X has one", function, node));
    return nullptr;
  }
  if (the_node() == nullptr) fail(fmt::format("{}: cmodel_init has not been called", function));
  return the_node().get();
}

// Bytes of global memory from this address on, or nullptr after a message.
std::uint8_t* find_global(const char* function, int node, std::uint64_t address, std::uint64_t bytes) {
  Node* const of = find(function, node);
  if (of == nullptr) return nullptr;
  std::uint8_t* const data = of->memories().find_system(address, bytes).data;
  if (data == nullptr) fail(fmt::format("{}: {} bytes at {:#x} lie in no memory", function, bytes, address));
  return data;
}

int element_bytes(int data_type) {
  // As data_type_t: the sign is the lowest bit, types of 8, 16 and 32 bits follow each other.
  return data_type <= 1 ? 1 : 0;
}

}  // namespace
}  // namespace softtpu::cmodel

using namespace softtpu;
using namespace softtpu::cmodel;

#define SOFTTPU_EXPORT __attribute__((visibility("default")))

extern "C" {

// ---- Life ----

SOFTTPU_EXPORT int cmodel_init(int node, unsigned long long global_bytes) {
  if (node != 0) return fail(fmt::format("cmodel_init: core {} does not exist: BM1684X has one", node));
  if (the_node() != nullptr) return fail("cmodel_init: the core is there already");
  Chip with_memory = chip();
  if (global_bytes <= with_memory.global_reserved)
    return fail(fmt::format("cmodel_init: {} bytes of global memory are too few", global_bytes));
  with_memory.global_mem.bytes = global_bytes;
  auto memories = Memories::create(with_memory);
  if (!memories) return fail("cmodel_init: " + memories.error().text);
  the_node() = std::make_unique<Node>(*std::move(memories), global_bytes);
  return 0;
}
SOFTTPU_EXPORT void cmodel_deinit(int node) {
  if (find(__func__, node) != nullptr) the_node().reset();
}
SOFTTPU_EXPORT void cmodel_multi_thread_cxt_deinit(int /*node*/) {}

// ---- Memories ----

SOFTTPU_EXPORT void* get_local_mem(int node) {
  Node* const of = find(__func__, node);
  return of == nullptr ? nullptr : of->local();
}
SOFTTPU_EXPORT void clear_local_mem(int node) {
  if (Node* const of = find(__func__, node)) of->fill_local(0);
}
SOFTTPU_EXPORT void fill_local_mem(int node) {
  if (Node* const of = find(__func__, node)) of->fill_local(kFreshLocalWord);
}
SOFTTPU_EXPORT char* get_static_memaddr_by_node(int node) {
  Node* const of = find(__func__, node);
  return of == nullptr ? nullptr : reinterpret_cast<char*>(of->memories().static_mem());
}
SOFTTPU_EXPORT void* get_l2_sram(int node) {
  Node* const of = find(__func__, node);
  return of == nullptr ? nullptr : of->memories().l2();
}
SOFTTPU_EXPORT void* get_global_memaddr(int node) {
  Node* const of = find(__func__, node);
  return of == nullptr ? nullptr : of->memories().global();
}
SOFTTPU_EXPORT unsigned long long cmodel_get_global_mem_size(int node) {
  Node* const of = find(__func__, node);
  return of == nullptr ? 0 : of->global_bytes();
}
SOFTTPU_EXPORT std::uint64_t cmodel_get_gmem_start_addr() { return chip().global_mem.start; }
SOFTTPU_EXPORT void host_dma_copy_s2d_cmodel(std::uint64_t device_address, void* host, std::uint64_t bytes,
                                             std::uint32_t node) {
  if (std::uint8_t* to = find_global(__func__, static_cast<int>(node), device_address, bytes))
    std::memmove(to, host, bytes);  // which may be a part of get_global_memaddr()
}
SOFTTPU_EXPORT void host_dma_copy_d2s_cmodel(void* host, std::uint64_t device_address, std::uint64_t bytes,
                                             std::uint32_t node) {
  if (const std::uint8_t* from = find_global(__func__, static_cast<int>(node), device_address, bytes))
    std::memmove(host, from, bytes);
}

// ---- Instructions ----

SOFTTPU_EXPORT int execute_command(int node, void* command, unsigned engine) {
  Node* const of = find(__func__, node);
  if (of == nullptr) return -1;
  if (command == nullptr) return fail("execute_command: the command is NULL");
  if (engine != kTiuEngine && engine != kDmaEngine)
    return fail(fmt::format("execute_command: engine {} is unknown (0: TIU, 1: GDMA)", engine));
  const auto unit = engine == kTiuEngine ? stream::Unit::kTiu : stream::Unit::kDma;
  const auto& set = stream::InstructionSet::bm1684x();
  const auto* bytes = static_cast<const std::uint8_t*>(command);
  // The head says how many bytes there are.
  const stream::Format* format = stream::find_format(set, unit, std::span<const std::uint8_t, 8>(bytes, 8));
  const auto instruction = stream::decode(set, unit, {bytes, format == nullptr ? std::size_t{8} : format->bytes});
  return instruction ? of->execute(*instruction) : fail("execute_command: " + instruction.error().text);
}
// Here a command is complete when it returns, so both forms are one.
SOFTTPU_EXPORT int cmodel_call_atomic(int node, void* command, unsigned engine) {
  return execute_command(node, command, engine);
}

// ---- Which core ----

SOFTTPU_EXPORT void set_cur_nodechip_idx(int node) {
  if (node != 0) fail(fmt::format("set_cur_nodechip_idx: core {} does not exist: BM1684X has one", node));
}
SOFTTPU_EXPORT int get_cur_nodechip_idx() { return 0; }
SOFTTPU_EXPORT int get_total_nodechip_num() { return 1; }
SOFTTPU_EXPORT std::uint32_t get_chip_id() { return chip().chip_id; }

// ---- Geometry ----

SOFTTPU_EXPORT int tpu_npu_num() { return chip().npu_num; }
SOFTTPU_EXPORT int tpu_bank_num() { return chip().banks; }
SOFTTPU_EXPORT int tpu_local_mem_size_per_npu() { return static_cast<int>(chip().local_bytes); }
SOFTTPU_EXPORT int tpu_l2_sram_size() { return static_cast<int>(chip().l2_sram.bytes); }
SOFTTPU_EXPORT int tpu_eu_num(int data_type) {
  if (element_bytes(data_type) != 0) return chip().eu_bytes;
  return fail(fmt::format("tpu_eu_num: data type {} is not supported; DT_INT8 is {}", data_type, kInt8));
}
SOFTTPU_EXPORT int tpu_get_ic_parallel(int data_type) {
  if (element_bytes(data_type) != 0) return chip().eu_bytes;  // input channels in a line of weights
  return fail(fmt::format("tpu_get_ic_parallel: data type {} is not supported; DT_INT8 is {}", data_type, kInt8));
}
SOFTTPU_EXPORT void tpu_poll() {}

// ---- Messages to a firmware: kept as they are written, and never answered ----

SOFTTPU_EXPORT void cmodel_nodechip_runtime_init(int node) { static_cast<void>(find(__func__, node)); }
SOFTTPU_EXPORT void cmodel_nodechip_runtime_exit(int /*node*/) {}
SOFTTPU_EXPORT void* get_share_memaddr(int node) {
  Node* const of = find(__func__, node);
  return of == nullptr ? nullptr : of->messages();
}
SOFTTPU_EXPORT std::uint32_t* cmodel_get_share_memory_addr(std::uint32_t offset, int node) {
  Node* const of = find(__func__, node);
  return of == nullptr || offset >= kMessageWords ? nullptr : of->messages() + offset;
}
SOFTTPU_EXPORT void cmodel_write_share_memory(std::uint32_t offset, std::uint32_t value, int node) {
  if (std::uint32_t* to = cmodel_get_share_memory_addr(offset, node)) *to = value;
}
SOFTTPU_EXPORT void cmodel_write_share_reg(std::uint32_t index, std::uint32_t value, int node) {
  if (Node* const of = find(__func__, node)) of->reg(index) = value;
}
SOFTTPU_EXPORT std::uint32_t cmodel_read_share_reg(std::uint32_t index, int node) {
  Node* const of = find(__func__, node);
  return of == nullptr ? 0 : of->reg(index).load();
}
SOFTTPU_EXPORT std::uint32_t cmodel_share_reg_message_wp() { return 0; }
SOFTTPU_EXPORT std::uint32_t cmodel_share_reg_message_rp() { return 1; }
SOFTTPU_EXPORT std::uint32_t cmodel_share_reg_fw_status() { return 2; }
SOFTTPU_EXPORT void cmodel_wait_share_reg_equal(std::uint32_t index, int value, int bits, int shift, int node) {
  const std::uint32_t mask = bits >= 32 || bits <= 0 ? ~0U : (1U << bits) - 1;
  while (Node* const of = find(__func__, node)) {
    if ((of->reg(index) >> (shift & 31) & mask) == static_cast<std::uint32_t>(value)) return;
    std::this_thread::yield();
  }
}
SOFTTPU_EXPORT int cmodel_get_last_func_id(int /*node*/) { return 0; }
SOFTTPU_EXPORT void api_poll(int /*node*/) {}
SOFTTPU_EXPORT std::uint32_t* get_arrange_reg(int node) {
  Node* const of = find(__func__, node);
  return of == nullptr ? nullptr : of->messages();
}

}  // extern "C"
