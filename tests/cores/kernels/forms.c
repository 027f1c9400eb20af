/* Both forms of a kernel by the macros of tpu_kernel.h; built as a kernel for no chip in particular and for one. */
#include "tpu_kernel.h"

typedef struct {
  unsigned long long address;
  int count;
  int value;
} param_t;

static void note(const param_t* param, int place, int number) {
  ((volatile int*)tpu_global_mem_addr(param->address))[place] = param->value + number;
}

static void first_form(const void* args) { note((const param_t*)args, 0, 10); }
TPUKERNEL_FUNC_REGISTER(first_form)

static void second_form(void* args, int bytes) {
  param_t* own = (param_t*)args;
  own->value += 1; /* the block is the kernel's own */
  note(own, 1, bytes);
}
TPUKERNEL_FUNC2_REGISTER(second_form)

static void by_hand(const void* args) { note((const param_t*)args, 2, 30); }
__attribute__((constructor)) static void register_by_hand(void) {
  tpu_register_kernel_func("with_two", by_hand);
  tpu_register_kernel_func("with_three", (void*)(void (*)(void))by_hand, FUNC_TYPE_1);
}
