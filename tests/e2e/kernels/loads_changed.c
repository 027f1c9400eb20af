/* A module whose constructor changes the core that it is loaded into: E2E_CHANGE 1, the processor's modes, as the start
   files of a build with -ffast-math do; 2, what can be set back; 3, what cannot. */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "e2e_param.h"
#include "tpu_kernel.h"

#if E2E_CHANGE == 1 && defined(__x86_64__)
__attribute__((constructor)) static void change(void) {
  unsigned modes = 0;
  __asm__ volatile("stmxcsr %0" : "=m"(modes));
  modes |= 0x8040;
  __asm__ volatile("ldmxcsr %0" : : "m"(modes));
}
#elif E2E_CHANGE == 2
__attribute__((constructor)) static void change(void) {
  umask(0777);
  setenv("E2E_SPOILED", "1", 1);
}
#elif E2E_CHANGE == 3
__attribute__((constructor)) static void change(void) { setpriority(PRIO_PROCESS, 0, 9); }
#endif

void changed_nothing(const void* args);
TPUKERNEL_FUNC_REGISTER(changed_nothing)
void changed_nothing(const void* args) { (void)args; }
