// Start, end, sections and counters of a BM1684 kernel.
#include "device/isa/op_names.hpp"
#include "firmware/id_node.hpp"
#include "firmware/okk/okk_call.hpp"

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void okk_initialize(void) { Call(Op::okk_initialize).issue(ControlCmd{ControlAction::kInitialize}); }
void okk_poll(void) { Call(Op::okk_poll).issue(ControlCmd{ControlAction::kPoll}); }
void okk_parallel_start(void) { Call(Op::okk_parallel_start).issue(ControlCmd{ControlAction::kParallelStart}); }
void okk_parallel_end(void) { Call(Op::okk_parallel_end).issue(ControlCmd{ControlAction::kParallelEnd}); }
bool okk_is_parallel_state(void) { return Call(Op::okk_is_parallel_state).core().state().id.parallel; }
void okk_set_id_node(void* node) {
  const Call call(Op::okk_set_id_node);
  load_node(call, node, call.core().state().id);
}
void okk_get_id_node(void* node) {
  const Call call(Op::okk_get_id_node);
  store_node(call, node, call.core().state().id);
}
void okk_enable_check_id_node(void) { Call(Op::okk_enable_check_id_node).core().state().check_id = true; }
void okk_disable_check_id_node(void) { Call(Op::okk_disable_check_id_node).core().state().check_id = false; }
}
