// A module of its own that writes a file.
#include <stdio.h>

#include "bugs.h"

KERNEL(bug_file) {  // finds constraint/symbol
  FILE* file = fopen("/dev/null", "w");
  if (file != NULL) fclose(file);
  LOAD(BANK(0), args->a, kWhole);
}
