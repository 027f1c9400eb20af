// A module of its own: one function that BM1684X has and BM1684 has not.
#include "bugs.h"

// options --portable-to=bm1684
KERNEL(bug_other_api) {  // finds constraint/portable-function
  LOAD(BANK(0), args->a, kWhole);
}
// options --portable-to=bm1684x
KERNEL(ok_other_api) { LOAD(BANK(0), args->a, kWhole); }
