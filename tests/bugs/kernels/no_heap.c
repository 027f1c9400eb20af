// The twin of heap.c: a fixed array instead of the heap.
#include <string.h>

#include "bugs.h"

KERNEL(ok_heap) {
  static char memory[16384];
  memset(memory, 0, sizeof memory);
  LOAD(BANK(0), args->a, kWhole);
}
