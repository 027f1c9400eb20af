// The twin of files.c, with the SDK's log.
#include "bugs.h"

KERNEL(ok_file) {
  LOAD(BANK(0), args->a, kWhole);
  TPUKERNEL_LOG("loaded from 0x%llx\n", args->a);
}
