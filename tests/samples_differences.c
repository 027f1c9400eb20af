// Samples compare with larger_difference(): a NaN anywhere has to stay visible in what it gives (fmax() dropped it, and
// so did what only asked whether a difference is at most the worst one, when a number followed).
#include "host.h"

int main(void) {
  const double seen[] = {0.25, NAN, 0.5};
  double worst = 0;
  for (int i = 0; i < 3; ++i) worst = larger_difference(worst, seen[i]);
  if (worst < 1e300) return fprintf(stderr, "a NaN between numbers came out as %g\n", worst), 1;
  worst = larger_difference(larger_difference(0, 0.5), 0.25);
  return worst == 0.5 ? 0 : 1;
}
