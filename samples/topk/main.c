// The 10 largest of 3000 values in each of 20 rows, compared with a search on the host. Values repeat: of equal ones
// the first comes first.
#include "../common/host.h"
#include "args.h"

enum { ROWS = 20, COLUMNS = 3000, K = 10 };

static float in[ROWS][COLUMNS], values[ROWS][K];
static int places[ROWS][K];

int main(int argc, char** argv) {
  for (int i = 0; i < ROWS * COLUMNS; ++i) in[i / COLUMNS][i % COLUMNS] = (float)random_int(-500, 500) / 8;
  open_device(argc > 1 ? argv[1] : KERNEL_MODULE);
  const topk_args_t args = {allocate(sizeof values), allocate(sizeof places), upload(in, sizeof in), ROWS, COLUMNS, K};
  launch("topk", &args, sizeof args);
  download(values, args.values, sizeof values);
  download(places, args.places, sizeof places);

  int wrong = 0;
  for (int row = 0; row < ROWS; ++row) {
    char taken[COLUMNS] = {0};
    for (int rank = 0; rank < K; ++rank) {
      int best = -1;
      for (int i = 0; i < COLUMNS; ++i)
        if (!taken[i] && (best < 0 || in[row][i] > in[row][best])) best = i;
      taken[best] = 1;
      wrong += places[row][rank] != best || values[row][rank] != in[row][best];
    }
  }
  printf("the %d largest of %d in %d rows: %d wrong; the best of row 0 is %g at %d\n", K, COLUMNS, ROWS, wrong,
         values[0][0], places[0][0]);

  release(args.values, sizeof values), release(args.places, sizeof places), release(args.in, sizeof in);
  close_device();
  return wrong == 0 ? 0 : 1;
}
