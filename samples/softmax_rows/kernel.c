// Softmax of each row, rows of any number and any length. A row is a channel; a row that is longer than local memory
// passes through in pieces, three times: for its largest element, for the exponentials and their sum, for the quotient.
#include <tpu_kernel.h>

#include "args.h"

typedef unsigned long long address_t;

enum { PIECE = 4096 };  // columns of a piece
// A buffer of 64 rows is 16 KiB in each NPU: one bank.
enum { X = 0, Y = 0x4000, WORK0 = 0x8000, WORK1 = 0xc000, SMALL = 0x10000 };
enum { LARGEST = SMALL, SUM = SMALL + 64, ONE = SMALL + 128, COEFF = SMALL + 256, TABLE = SMALL + 512 };

typedef struct {
  address_t offset;  // of the piece, in bytes
  dim4 shape;        // (1, rows, 1, columns)
  dim4 stride;       // in global memory
} piece_t;

static piece_t piece_of(const softmax_rows_args_t* args, int row, int column) {
  const piece_t piece = {4 * ((address_t)row * (unsigned)args->columns + (unsigned)column),
                         {1, MIN(tpu_npu_num(), args->rows - row), 1, MIN(PIECE, args->columns - column)},
                         {0, args->columns, args->columns, 1}};
  return piece;
}

// to = the largest element of each row of the piece, or the sum when `sum`.
static void reduce(local_addr_t to, local_addr_t from, const dim4* shape, bool sum) {
  const dim2 row = {1, shape->w}, one = {1, 1};
  const padding_t none = {0, 0, 0, 0};
  const scalar_t scale = {.f32 = 1};
  if (sum)
    tpu_bdc_fp_avg_pool2d(to, from, shape, &row, &none, &one, &one, DT_FP32, scale);
  else
    tpu_bdc_fp_max_pool2d(to, from, shape, &row, &none, &one, &one, DT_FP32, scale);
}

static void rows_from(const softmax_rows_args_t* args, int row) {
  const dim4 one_per_row = {1, piece_of(args, row, 0).shape.c, 1, 1};
  dim4 repeat;  // one number of a row for all its columns: W stride 0
  tpu_aligned_stride(&repeat, 0, &one_per_row, DT_FP32);
  repeat.h = repeat.w = 0;
  for (int column = 0; column < args->columns; column += PIECE) {
    const piece_t piece = piece_of(args, row, column);
    tpu_gdma_cpy_S2L(X, args->in + piece.offset, &piece.shape, NULL, &piece.stride, DT_FP32);
    reduce(column == 0 ? LARGEST : ONE, X, &piece.shape, false);
    if (column > 0) tpu_bdc_max(LARGEST, LARGEST, ONE, &one_per_row, NULL, NULL, NULL, DT_FP32);
  }
  for (int column = 0; column < args->columns; column += PIECE) {
    const piece_t piece = piece_of(args, row, column);
    // A row of one piece is still in local memory.
    if (args->columns > PIECE) tpu_gdma_cpy_S2L(X, args->in + piece.offset, &piece.shape, NULL, &piece.stride, DT_FP32);
    tpu_bdc_fp_sub(X, X, LARGEST, &piece.shape, NULL, NULL, &repeat, DT_FP32);
    tpu_bdc_fp32_exp(Y, X, WORK0, WORK1, COEFF, TABLE, &piece.shape);
    reduce(column == 0 ? SUM : ONE, Y, &piece.shape, true);
    if (column > 0) tpu_bdc_fp_add(SUM, SUM, ONE, &one_per_row, NULL, NULL, NULL, DT_FP32);
    if (args->columns > PIECE)
      tpu_gdma_cpy_L2S(args->out + piece.offset, Y, &piece.shape, &piece.stride, NULL, DT_FP32);
  }
  for (int column = 0; column < args->columns; column += PIECE) {
    const piece_t piece = piece_of(args, row, column);
    if (args->columns > PIECE)
      tpu_gdma_cpy_S2L(Y, args->out + piece.offset, &piece.shape, NULL, &piece.stride, DT_FP32);
    tpu_bdc_fp_div(Y, Y, SUM, &piece.shape, NULL, NULL, &repeat, DT_FP32);
    tpu_gdma_cpy_L2S(args->out + piece.offset, Y, &piece.shape, &piece.stride, NULL, DT_FP32);
  }
}

int softmax_rows(const void* raw) {
  const softmax_rows_args_t* args = raw;
  TPUKERNEL_ASSERT(args->rows > 0 && args->columns > 0);
  tpu_initialize();
  tpu_bdc_load_fp32_exp_coeff(COEFF);
  tpu_bdc_load_fp32_exp_table(TABLE);
  for (int row = 0; row < args->rows; row += tpu_npu_num()) rows_from(args, row);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(softmax_rows)
