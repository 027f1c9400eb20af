// output = left x right in fp32, cut by rows, columns and the inner dimension. While one piece is multiplied, the next
// is loaded and a finished piece of the output is stored.
#include <okk.h>

#include "args.h"

enum {
  COLUMNS = 32,     // per channel: one row of an NPU's execution units
  MAX_ROWS = 256,   // of a piece of the output
  MAX_INNER = 512,  // of one product; longer sums are added up in the output
};

typedef struct {
  int row, rows, col, cols, inner, inners;
} piece_t;

static int least(int a, int b) { return a < b ? a : b; }
static int pieces_of(int extent, int step) { return (extent + step - 1) / step; }

static piece_t piece_at(const matmul_args_t* args, int index, int columns) {
  const int k_pieces = pieces_of(args->k, MAX_INNER), n_pieces = pieces_of(args->n, columns);
  piece_t piece;
  piece.inner = index % k_pieces * MAX_INNER;
  piece.col = index / k_pieces % n_pieces * columns;
  piece.row = index / k_pieces / n_pieces * MAX_ROWS;
  piece.inners = least(MAX_INNER, args->k - piece.inner);
  piece.cols = least(columns, args->n - piece.col);
  piece.rows = least(MAX_ROWS, args->m - piece.row);
  return piece;
}

void matmul(const void* raw) {
  const matmul_args_t* args = raw;
  OKKERNEL_ASSERT(args->m > 0 && args->k > 0 && args->n > 0);
  okk_initialize();
  const int columns = okk_npu_num() * COLUMNS;  // one channel of the right matrix on each NPU
  const int k_pieces = pieces_of(args->k, MAX_INNER);
  const int pieces = pieces_of(args->m, MAX_ROWS) * pieces_of(args->n, columns) * k_pieces;
  // A channel is one row of 128 bytes for each row of its matrix; the inner pieces never need more channels than NPUs.
  const unsigned row_bytes = COLUMNS * sizeof(float);
  const local_addr_t right[2] = {0, MAX_INNER * row_bytes};
  const local_addr_t left[2] = {2 * MAX_INNER * row_bytes, (2 * MAX_INNER + MAX_ROWS) * row_bytes};
  const local_addr_t out[2] = {(2 * MAX_INNER + 2 * MAX_ROWS) * row_bytes, (2 * MAX_INNER + 3 * MAX_ROWS) * row_bytes};
  for (int i = 0; i < pieces + 2; ++i) {
    okk_parallel_start();
    if (i < pieces) {
      const piece_t p = piece_at(args, i, columns);
      okk_gdma_32bit_matrix_S2L(left[i % 2], args->left + 4ull * ((unsigned long long)p.row * args->k + p.inner),
                                p.rows, p.inners, COLUMNS, args->k);
      okk_gdma_32bit_matrix_S2L(right[i % 2], args->right + 4ull * ((unsigned long long)p.inner * args->n + p.col),
                                p.inners, p.cols, COLUMNS, args->n);
    }
    if (i >= 1 && i <= pieces) {
      const piece_t p = piece_at(args, i - 1, columns);
      okk_bdc_matmul(out[(i - 1) / k_pieces % 2], left[(i - 1) % 2], right[(i - 1) % 2], 0, p.rows, p.inners, p.cols,
                     COLUMNS, COLUMNS, false, p.inner != 0);
    }
    if (i >= 2 && (i - 2) % k_pieces == k_pieces - 1) {
      const piece_t p = piece_at(args, i - 2, columns);
      okk_gdma_32bit_matrix_L2S(args->output + 4ull * ((unsigned long long)p.row * args->n + p.col),
                                out[(i - 2) / k_pieces % 2], p.rows, p.cols, COLUMNS, args->n);
    }
    okk_parallel_end();
  }
  okk_poll();
}
OKKERNEL_FUNC_REGISTER(matmul);
