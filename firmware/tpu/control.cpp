// Start, end and sections of a kernel; waiting for engines; messages between them. Every command is complete when its
// call returns, so waiting only orders what observers see.
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

void control(Op op, ControlAction action) { Call(op).issue(ControlCmd{action}); }

// Where the chip has no such engine, there is nothing to wait for.
void poll_part(Op op, std::string_view part) {
  if (const Call call(op); call.chip().has_part(part)) control(op, ControlAction::kSync);
}

// Launches on several cores have a fixed set of message ids; a single core may use any id.
bool check_message(const Call& call, int id) {
  const bool shared = call.core().launch().page != nullptr;
  return call.not_negative("msg_id", id) && (!shared || call.is_in_range("msg_id", id, 0, kMostMessages - 1));
}

void message(Op op, ControlAction action, int message_id, int count) {
  const Call call(op);
  if (!check_message(call, message_id)) return;
  constexpr const char* kCount = "the number of calls on the other side";
  if (!call.not_negative(kCount, count)) return;
  if (call.core().launch().page != nullptr && !call.is_in_range(kCount, count, 1, kMostCount)) return;
  call.issue(ControlCmd{action, message_id, count});
}

void barrier(Op op, int barrier, int count = kAllCores) {
  Call(op).issue(ControlCmd{ControlAction::kSync, barrier, count});
}

void lock(Op op, ControlAction action, int lock_id) {
  const Call call(op);
  if (!call.is_in_range("lock_id", lock_id, 0, kMostLocks - 1)) return;
  call.issue(ControlCmd{action, lock_id});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_initialize(void) { control(Op::tpu_initialize, ControlAction::kInitialize); }
void tpu_initialize_parallel(void) { control(Op::tpu_initialize_parallel, ControlAction::kInitialize); }
void tpu_poll(void) { control(Op::tpu_poll, ControlAction::kPoll); }
void tpu_poll_empty(void) { control(Op::tpu_poll_empty, ControlAction::kSync); }
void tpu_poll_parallel(void) { control(Op::tpu_poll_parallel, ControlAction::kSync); }
void tpu_hau_poll(void) { control(Op::tpu_hau_poll, ControlAction::kHauPoll); }
void tpu_parallel_start(void) { control(Op::tpu_parallel_start, ControlAction::kParallelStart); }
void tpu_parallel_end(void) { control(Op::tpu_parallel_end, ControlAction::kParallelEnd); }
bool tpu_is_parallel_state(void) { return Call(Op::tpu_is_parallel_state).core().state().id.parallel; }

void tpu_sync_all(void) { barrier(Op::tpu_sync_all, LaunchPage::kAllEngines); }
void tpu_sync_all_bdc(void) { barrier(Op::tpu_sync_all_bdc, LaunchPage::kBdc); }
void tpu_sync_all_gdma(void) { barrier(Op::tpu_sync_all_gdma, LaunchPage::kGdma); }
void tpu_sync_all_sdma(void) { barrier(Op::tpu_sync_all_sdma, LaunchPage::kSdma); }
void tpu_sync_all_hau(void) { barrier(Op::tpu_sync_all_hau, LaunchPage::kHau); }
void tpu_sync_all_with_msg_id(int msg_id) {
  if (check_message(Call(Op::tpu_sync_all_with_msg_id), msg_id)) barrier(Op::tpu_sync_all_with_msg_id, msg_id);
}
int tpu_core_barrier(int msg_id, int core_num) {
  const Call call(Op::tpu_core_barrier);
  if (!check_message(call, msg_id)) return -1;
  const int cores = call.core().launch().workitems;
  if (!call.require(core_num >= 1 && core_num <= cores,
                    "{argument} ({value}) is outside 1..{limit}, the cores of this launch.", "core_num", core_num,
                    cores))
    return -1;
  barrier(Op::tpu_core_barrier, msg_id, core_num);
  return 0;
}
void tpu_acquire_lock(int lock_id) { lock(Op::tpu_acquire_lock, ControlAction::kAcquireLock, lock_id); }
void tpu_release_lock(int lock_id) { lock(Op::tpu_release_lock, ControlAction::kReleaseLock, lock_id); }
// Orders the engines of this core; it is no meeting with others.
void tpu_sync_core(void) { control(Op::tpu_sync_core, ControlAction::kSync); }
void tpu_sync_core_innner(void) { control(Op::tpu_sync_core_innner, ControlAction::kSync); }
void tpu_sync_finish(void) { control(Op::tpu_sync_finish, ControlAction::kSync); }

// Of the newest headers. Every command is complete when its call returns, so there is nothing more to wait for.
void tpu_nop(void) { control(Op::tpu_nop, ControlAction::kSync); }
void tpu_poll_descriptor(void) { control(Op::tpu_poll_descriptor, ControlAction::kSync); }
void tpu_bdc_poll(void) { control(Op::tpu_bdc_poll, ControlAction::kSync); }
void tpu_gdma_poll(void) { control(Op::tpu_gdma_poll, ControlAction::kSync); }
void tpu_sync_core_with_external_engine(void) { control(Op::tpu_sync_core_with_external_engine, ControlAction::kSync); }
void tpu_sdma_poll(void) { poll_part(Op::tpu_sdma_poll, "SDMA engine"); }
void tpu_vsdma_initialize(void) { static_cast<void>(Call(Op::tpu_vsdma_initialize)); }
void tpu_vsdma_port_initialize(int) { static_cast<void>(Call(Op::tpu_vsdma_port_initialize)); }
void tpu_vsdma_port_poll(int) { poll_part(Op::tpu_vsdma_port_poll, "VSDMA engine"); }
void tpu_cdma_nop(int) { static_cast<void>(Call(Op::tpu_cdma_nop)); }
void tpu_cdma_all_port_nop(void) { static_cast<void>(Call(Op::tpu_cdma_all_port_nop)); }
// This chip is linked to no other: the first of its group, and nothing leads anywhere.
int tpu_rank(void) { return static_cast<void>(Call(Op::tpu_rank)), 0; }
int tpu_cdma_get_port(int, int, int) { return static_cast<void>(Call(Op::tpu_cdma_get_port)), 0; }
bool tpu_is_cdma_busy(void) { return static_cast<void>(Call(Op::tpu_is_cdma_busy)), false; }
void tpu_bdc_end(void) { static_cast<void>(Call(Op::tpu_bdc_end)); }
// Counters of the chip, and a mode in which it would fetch its commands itself (golden bm1690/query: off).
void tpu_sr_setup(void) { static_cast<void>(Call(Op::tpu_sr_setup)); }
void tpu_enable_pmu(void) { static_cast<void>(Call(Op::tpu_enable_pmu)); }
void tpu_disable_pmu(void) { static_cast<void>(Call(Op::tpu_disable_pmu)); }
bool tpu_is_descriptor_mode(void) { return static_cast<void>(Call(Op::tpu_is_descriptor_mode)), false; }

void tpu_cdma_initialize(void) { static_cast<void>(Call(Op::tpu_cdma_initialize)); }
void tpu_cdma_poll(void) { static_cast<void>(Call(Op::tpu_cdma_poll)); }
void tpu_vsdma_poll(void) { poll_part(Op::tpu_vsdma_poll, "VSDMA engine"); }

void tpu_bdc_send_msg(int msg_id, int wait_cnt) {
  message(Op::tpu_bdc_send_msg, ControlAction::kSendMessage, msg_id, wait_cnt);
}
void tpu_bdc_wait_msg(int msg_id, int send_cnt) {
  message(Op::tpu_bdc_wait_msg, ControlAction::kWaitMessage, msg_id, send_cnt);
}
void tpu_gdma_send_msg(int msg_id, int wait_cnt) {
  message(Op::tpu_gdma_send_msg, ControlAction::kSendMessage, msg_id, wait_cnt);
}
void tpu_gdma_wait_msg(int msg_id, int send_cnt) {
  message(Op::tpu_gdma_wait_msg, ControlAction::kWaitMessage, msg_id, send_cnt);
}
void tpu_sdma_send_msg(int msg_id, int wait_cnt) {
  message(Op::tpu_sdma_send_msg, ControlAction::kSendMessage, msg_id, wait_cnt);
}
void tpu_sdma_wait_msg(int msg_id, int send_cnt) {
  message(Op::tpu_sdma_wait_msg, ControlAction::kWaitMessage, msg_id, send_cnt);
}
// All ports of VSDMA are one.
void tpu_vsdma_send_msg(int msg_id, int wait_cnt, int) {
  message(Op::tpu_vsdma_send_msg, ControlAction::kSendMessage, msg_id, wait_cnt);
}
void tpu_vsdma_wait_msg(int msg_id, int send_cnt, int) {
  message(Op::tpu_vsdma_wait_msg, ControlAction::kWaitMessage, msg_id, send_cnt);
}
void tpu_hau_send_msg(int msg_id, int wait_cnt) {
  message(Op::tpu_hau_send_msg, ControlAction::kSendMessage, msg_id, wait_cnt);
}
void tpu_hau_wait_msg(int msg_id, int send_cnt) {
  message(Op::tpu_hau_wait_msg, ControlAction::kWaitMessage, msg_id, send_cnt);
}
}
