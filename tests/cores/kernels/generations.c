/* What objects that were compiled with the published headers of either generation ask for: the older ones register with
 * two arguments, the newest ones register a wrapper with three. No header of softtpu is included: these are the calls
 * in machine code. */
typedef struct {
  unsigned long long address;
  int count;
  int value;
} param_t;

void* tpu_global_mem_addr(unsigned long long address);
void tpu_initialize(void);
void tpu_poll(void);
/* One function, as either generation declares it. */
void register_two(const char* name, void (*kernel)(const void*)) __asm__("tpu_register_kernel_func");
void register_three(const char* name, void* kernel, int form) __asm__("tpu_register_kernel_func");

static void note(const param_t* param, int place, int number) {
  volatile int* words = (volatile int*)tpu_global_mem_addr(param->address);
  tpu_initialize();
  words[place] = param->value + number;
  tpu_poll();
}

void older(const void* args);
void older(const void* args) { note((const param_t*)args, 0, 1); }
__attribute__((constructor)) static void register_older(void) { register_two("older", older); }

void newer(const void* args);
void newer(const void* args) { note((const param_t*)args, 1, 2); }
void newer_wrapper(const void* args);
void newer_wrapper(const void* args) { newer(args); }
void tpu_kernel_register_newer(void);
__attribute__((constructor)) void tpu_kernel_register_newer(void) { register_three("newer", (void*)newer_wrapper, 0); }

void sized(void* args, int bytes);
void sized(void* args, int bytes) { note((const param_t*)args, 2, bytes); }
void sized_wrapper(void* args, int bytes);
void sized_wrapper(void* args, int bytes) { sized(args, bytes); }
void tpu_kernel_register_sized(void);
__attribute__((constructor)) void tpu_kernel_register_sized(void) { register_three("sized", (void*)sized_wrapper, 1); }
