// Command counters, and questions about cores, work items, engines, messages and caches.
#include <fmt/format.h>

#include <cstring>

#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/id_node.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

void check_cached_range(const Call& call, system_addr_t address, unsigned long long size) {
  if (size != 0) call.in_one_memory(address, size);
}

constexpr int kCacheLineBytes = 64;

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_set_id_node(void* node) {
  const Call call(Op::tpu_set_id_node);
  load_node(call, node, call.core().state().id);
}
void tpu_get_id_node(void* node) {
  const Call call(Op::tpu_get_id_node);
  store_node(call, node, call.core().state().id);
}
void tpu_set_parallel_id_node(void* bd_node, void* gdma_node) {
  const Call call(Op::tpu_set_parallel_id_node);
  load_node(call, bd_node, call.core().state().parallel_bdc);
  load_node(call, gdma_node, call.core().state().parallel_gdma);
}
void tpu_get_parallel_id_node(void* bd_node, void* gdma_node) {
  const Call call(Op::tpu_get_parallel_id_node);
  store_node(call, bd_node, call.core().state().parallel_bdc);
  store_node(call, gdma_node, call.core().state().parallel_gdma);
}
void tpu_enable_check_id_node(void) { Call(Op::tpu_enable_check_id_node).core().state().check_id = true; }
void tpu_disable_check_id_node(void) { Call(Op::tpu_disable_check_id_node).core().state().check_id = false; }
void tpu_set_gdma_id(int gdma_id) {
  Call(Op::tpu_set_gdma_id).core().state().id.gdma = static_cast<std::uint32_t>(gdma_id);
}
void tpu_set_bdid(int bdc_id) { Call(Op::tpu_set_bdid).core().state().id.bdc = static_cast<std::uint32_t>(bdc_id); }

void tpu_set_bd_id(int bdc_id) { Call(Op::tpu_set_bd_id).core().state().id.bdc = static_cast<std::uint32_t>(bdc_id); }

// Cores, work items and groups: what the launch says, not what the chip has.
int tpu_core_num(void) { return Call(Op::tpu_core_num).core().launch().workitems; }
int tpu_core_index(void) { return Call(Op::tpu_core_index).core().launch().workitem; }
int tpu_workitem_num(void) { return Call(Op::tpu_workitem_num).core().launch().workitems; }
int tpu_workitem_index(void) { return Call(Op::tpu_workitem_index).core().launch().workitem; }
int tpu_is_last_workitem(void) {
  const RunningLaunch& launch = Call(Op::tpu_is_last_workitem).core().launch();
  return launch.workitem + 1 == launch.workitems && launch.group + 1 == launch.groups ? 1 : 0;
}
int tpu_group_num(void) { return Call(Op::tpu_group_num).core().launch().groups; }
int tpu_group_index(void) { return Call(Op::tpu_group_index).core().launch().group; }
int tpu_max_core_num(void) { return Call(Op::tpu_max_core_num).chip().cores; }
int tpu_physical_core_num(void) { return Call(Op::tpu_physical_core_num).chip().cores; }
int tpu_physical_core_id(void) { return Call(Op::tpu_physical_core_id).core().index(); }
int tpu_start_physical_core_id(void) { return Call(Op::tpu_start_physical_core_id).core().launch().first_core; }
int tpu_tpuv7_env(void) { return Call(Op::tpu_tpuv7_env).chip().has(Quirk::kTpuv7) ? 1 : 0; }
int tpu_chip_num(void) { return static_cast<void>(Call(Op::tpu_chip_num)), 1; }
int tpu_chip_id(void) { return static_cast<void>(Call(Op::tpu_chip_id)), 0; }
void tpu_core_context_setup(int core_idx, int core_num, int core_msg_id) {
  const Call call(Op::tpu_core_context_setup);
  const RunningLaunch& launch = call.core().launch();
  if (core_num != launch.workitems || core_idx != launch.workitem)
    return call.fault({"core {value} is not this core: {limit}.",
                       {},
                       fmt::format("{} of {}", core_idx, core_num),
                       fmt::format("{} of {}", launch.workitem, launch.workitems)});
  call.core().state().base_message = core_msg_id;
  call.core().state().messages_taken = 0;
}

// No engine is ever seen at work: a command is complete when its call returns.
int tpu_bdc_busy(void) { return static_cast<void>(Call(Op::tpu_bdc_busy)), 0; }
int tpu_gdma_busy(void) { return static_cast<void>(Call(Op::tpu_gdma_busy)), 0; }
int tpu_hau_sort_busy(void) { return static_cast<void>(Call(Op::tpu_hau_sort_busy)), 0; }
int tpu_gdma_cmd_overflow(void) { return static_cast<void>(Call(Op::tpu_gdma_cmd_overflow)), 0; }
int tpu_hau_sort_cmd_overflow(void) { return static_cast<void>(Call(Op::tpu_hau_sort_cmd_overflow)), 0; }

int tpu_next_msg_id(void) {
  const Call call(Op::tpu_next_msg_id);
  CoreState& state = call.core().state();
  // Where there are several cores the first ones are those of their meetings, whatever the base.
  constexpr int kMessagesOfCore = 48;
  const bool by_core = call.chip().has(Quirk::kMessagesByCore);
  const int first = by_core                 ? kMessagesOfCore * call.core().index()
                    : call.chip().cores > 1 ? kFirstMessage
                                            : state.base_message;
  return first + state.messages_taken++;
}
void tpu_set_base_msg_id(int base_msg_id) {
  const Call call(Op::tpu_set_base_msg_id);
  CoreState& state = call.core().state();
  state.base_message = base_msg_id;
  if (call.chip().cores == 1) state.messages_taken = 0;
}
int tpu_get_local_msg_id(void) { return Call(Op::tpu_get_local_msg_id).core().state().base_message; }
int tpu_get_global_msg_id(void) { return Call(Op::tpu_get_global_msg_id).core().state().base_message; }
int tpu_get_base_msg_id(void) { return Call(Op::tpu_get_base_msg_id).core().state().base_message; }
int tpu_get_core_sync_msg_id(void) { return Call(Op::tpu_get_core_sync_msg_id).core().state().base_message; }

// Kernel, engines and host see the same bytes: there is nothing to write back or to drop.
void tpu_invalidate_cache(system_addr_t address, unsigned long long size) {
  check_cached_range(Call(Op::tpu_invalidate_cache), address, size);
}
void tpu_flush_cache(system_addr_t address, unsigned long long size) {
  check_cached_range(Call(Op::tpu_flush_cache), address, size);
}
int tpu_cache_line_size(void) { return static_cast<void>(Call(Op::tpu_cache_line_size)), kCacheLineBytes; }

void* tpu_kernel_memcpy(void* dst, const void* src, size_t n) {
  const Call call(Op::tpu_kernel_memcpy);
  if (n == 0) return dst;
  const bool both = dst != nullptr && src != nullptr;
  return call.given("dst or src", both ? dst : nullptr) ? std::memmove(dst, src, n) : dst;
}
void* tpu_kernel_memset(void* dst, int c, size_t n) {
  const Call call(Op::tpu_kernel_memset);
  if (n == 0) return dst;
  return call.given("dst", dst) ? std::memset(dst, c, n) : dst;
}
}
