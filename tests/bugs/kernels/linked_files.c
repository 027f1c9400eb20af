// A module of its own: what writes files is linked in, but no kernel calls it. PPL's build links its dump functions so.
#include <stdio.h>
#include <stdlib.h>

#include "bugs.h"

void dump_to_file(const char* name, const void* data, int size);
void dump_to_file(const char* name, const void* data, int size) {
  FILE* file = fopen(name, "wb");
  void* copy = malloc(64);
  if (file != NULL) {
    fwrite(data, 1, (size_t)size, file);
    fclose(file);
  }
  free(copy);
}

KERNEL(right_linked_file) { LOAD(BANK(0), args->a, kWhole); }
