// A module of its own: what it needs from other libraries is asked for when it is loaded.
#include <stdlib.h>

#include "bugs.h"

KERNEL(bug_heap) {  // finds constraint/symbol
  void* memory = malloc(16384);
  LOAD(BANK(0), args->a, kWhole);
  free(memory);
}
