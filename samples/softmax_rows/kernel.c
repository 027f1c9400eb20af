// Softmax of each row, rows of any number and any length. A row is a channel; a row that is longer than local memory
// passes through in pieces, three times: for its largest element, for the exponentials and their sum, for the quotient.
#include <tpu_kernel.h>

#include "args.h"

typedef unsigned long long address_t;

// Buffers of a piece of 64 rows: 16 KiB in each NPU, or an eighth of a smaller local memory.
enum { X, Y, WORK0, WORK1, BUFFERS };
static int buffer_bytes(void) { return MIN(16384, tpu_local_mem_size_per_npu() / 8); }
static int piece_columns(void) { return buffer_bytes() / 4; }
static local_addr_t buffer(int index) { return (local_addr_t)(index * buffer_bytes()); }

// What is small lies behind them.
enum { LARGEST = 0, SUM = 64, ONE = 128, COEFF = 256, TABLE = 512 };
static local_addr_t small(int offset) { return buffer(BUFFERS) + (local_addr_t)offset; }

typedef struct {
  address_t offset;  // of the piece, in bytes
  dim4 shape;        // (1, rows, 1, columns)
  dim4 stride;       // in global memory
} piece_t;

static piece_t piece_of(const softmax_rows_args_t* args, int row, int column) {
  const piece_t piece = {4 * ((address_t)row * (unsigned)args->columns + (unsigned)column),
                         {1, MIN(tpu_npu_num(), args->rows - row), 1, MIN(piece_columns(), args->columns - column)},
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
  const int piece = piece_columns();
  const dim4 one_per_row = {1, piece_of(args, row, 0).shape.c, 1, 1};
  dim4 repeat;  // one number of a row for all its columns: W stride 0
  tpu_aligned_stride(&repeat, 0, &one_per_row, DT_FP32);
  repeat.h = repeat.w = 0;
  for (int column = 0; column < args->columns; column += piece) {
    const piece_t part = piece_of(args, row, column);
    tpu_gdma_cpy_S2L(buffer(X), args->in + part.offset, &part.shape, NULL, &part.stride, DT_FP32);
    reduce(column == 0 ? small(LARGEST) : small(ONE), buffer(X), &part.shape, false);
    if (column > 0) tpu_bdc_max(small(LARGEST), small(LARGEST), small(ONE), &one_per_row, NULL, NULL, NULL, DT_FP32);
  }
  for (int column = 0; column < args->columns; column += piece) {
    const piece_t part = piece_of(args, row, column);
    // A row of one piece is still in local memory.
    if (args->columns > piece)
      tpu_gdma_cpy_S2L(buffer(X), args->in + part.offset, &part.shape, NULL, &part.stride, DT_FP32);
    tpu_bdc_fp_sub(buffer(X), buffer(X), small(LARGEST), &part.shape, NULL, NULL, &repeat, DT_FP32);
    tpu_bdc_fp32_exp(buffer(Y), buffer(X), buffer(WORK0), buffer(WORK1), small(COEFF), small(TABLE), &part.shape);
    reduce(column == 0 ? small(SUM) : small(ONE), buffer(Y), &part.shape, true);
    if (column > 0) tpu_bdc_fp_add(small(SUM), small(SUM), small(ONE), &one_per_row, NULL, NULL, NULL, DT_FP32);
    if (args->columns > piece)
      tpu_gdma_cpy_L2S(args->out + part.offset, buffer(Y), &part.shape, &part.stride, NULL, DT_FP32);
  }
  for (int column = 0; column < args->columns; column += piece) {
    const piece_t part = piece_of(args, row, column);
    if (args->columns > piece)
      tpu_gdma_cpy_S2L(buffer(Y), args->out + part.offset, &part.shape, NULL, &part.stride, DT_FP32);
    tpu_bdc_fp_div(buffer(Y), buffer(Y), small(SUM), &part.shape, NULL, NULL, &repeat, DT_FP32);
    tpu_gdma_cpy_L2S(args->out + part.offset, buffer(Y), &part.shape, &part.stride, NULL, DT_FP32);
  }
}

int softmax_rows(const void* raw) {
  const softmax_rows_args_t* args = raw;
  TPUKERNEL_ASSERT(args->rows > 0 && args->columns > 0);
  tpu_initialize();
  tpu_bdc_load_fp32_exp_coeff(small(COEFF));
  tpu_bdc_load_fp32_exp_table(small(TABLE));
  for (int row = 0; row < args->rows; row += tpu_npu_num()) rows_from(args, row);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(softmax_rows)
