// Start, end and sections of a kernel; waiting for engines; messages between them. Every command is complete when its
// call returns, so waiting only orders what observers see.
#include <fmt/format.h>

#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

void control(Op op, ControlAction action) { Call(op).issue(ControlCmd{action}); }

void message(Op op, ControlAction action, int message_id, int count) {
  const Call call(op);
  if (message_id < 0) return call.fault(fmt::format("msg_id ({}) is negative", message_id));
  if (count < 0) return call.fault(fmt::format("the number of calls on the other side ({}) is negative", count));
  call.issue(ControlCmd{action, message_id, count});
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

void tpu_sync_all(void) { control(Op::tpu_sync_all, ControlAction::kSync); }
void tpu_sync_all_bdc(void) { control(Op::tpu_sync_all_bdc, ControlAction::kSync); }
void tpu_sync_all_gdma(void) { control(Op::tpu_sync_all_gdma, ControlAction::kSync); }
void tpu_sync_all_hau(void) { control(Op::tpu_sync_all_hau, ControlAction::kSync); }
void tpu_sync_core(void) { control(Op::tpu_sync_core, ControlAction::kSync); }
void tpu_sync_core_innner(void) { control(Op::tpu_sync_core_innner, ControlAction::kSync); }
void tpu_sync_finish(void) { control(Op::tpu_sync_finish, ControlAction::kSync); }

void tpu_cdma_initialize(void) { static_cast<void>(Call(Op::tpu_cdma_initialize)); }
void tpu_cdma_poll(void) { static_cast<void>(Call(Op::tpu_cdma_poll)); }
void tpu_vsdma_poll(void) { static_cast<void>(Call(Op::tpu_vsdma_poll)); }

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
void tpu_hau_send_msg(int msg_id, int wait_cnt) {
  message(Op::tpu_hau_send_msg, ControlAction::kSendMessage, msg_id, wait_cnt);
}
void tpu_hau_wait_msg(int msg_id, int send_cnt) {
  message(Op::tpu_hau_wait_msg, ControlAction::kWaitMessage, msg_id, send_cnt);
}
}
