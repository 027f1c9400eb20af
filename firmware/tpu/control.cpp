// Start, end and sections of a kernel.
#include "firmware/call.hpp"
#include "tpu_kernel.h"

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_initialize(void) { Call(Op::tpu_initialize).issue(ControlCmd{ControlAction::kInitialize}); }
void tpu_poll(void) { Call(Op::tpu_poll).issue(ControlCmd{ControlAction::kPoll}); }
void tpu_hau_poll(void) { Call(Op::tpu_hau_poll).issue(ControlCmd{ControlAction::kHauPoll}); }
void tpu_parallel_start(void) { Call(Op::tpu_parallel_start).issue(ControlCmd{ControlAction::kParallelStart}); }
void tpu_parallel_end(void) { Call(Op::tpu_parallel_end).issue(ControlCmd{ControlAction::kParallelEnd}); }
bool tpu_is_parallel_state(void) { return Call(Op::tpu_is_parallel_state).core().state().id.parallel; }
}
