// Layer normalisation of 150 rows of 768 numbers in fp16: equal, bit for bit, to the documented steps, and near to
// double precision.
#include "../common/host.h"
#include "../half.h"
#include "args.h"

enum { ROWS = 150, COLUMNS = 768 };

static half_t in[ROWS][COLUMNS], out[ROWS][COLUMNS], gamma_of[COLUMNS], beta_of[COLUMNS];

// tpu_bdc_fp_avg_pool2d: every element times the scale, even and odd ones summed separately.
static float mean(const float* row) {
  float lane[2] = {-0.0f, -0.0f};
  const float scale = 1.0f / COLUMNS;
  for (int i = 0; i < COLUMNS; ++i) lane[i % 2] += row[i] * scale;
  return lane[0] + lane[1];
}

// tpu_bdc_fp32_rsqrt: a first guess from the bits, then three Newton steps.
static float reciprocal_root(float x) {
  int bits;
  memcpy(&bits, &x, sizeof bits);
  bits = 0x5f3759df - (bits >> 1);
  float y;
  memcpy(&y, &bits, sizeof y);
  for (int i = 0; i < 3; ++i) y = y * (1.5f - ((x * 0.5f) * y) * y);
  return y;
}

// A result in fp16.
static half_t stored(float value) { return chip_id() == BM1684X2 ? to_flushed_half(value) : to_half(value); }

static void expected(const half_t* row, half_t* result, float epsilon) {
  float x[COLUMNS], square[COLUMNS];
  for (int i = 0; i < COLUMNS; ++i) x[i] = from_half(row[i]);
  const float middle = mean(x);
  for (int i = 0; i < COLUMNS; ++i) x[i] -= middle, square[i] = x[i] * x[i];
  const float factor = reciprocal_root(mean(square) + epsilon);
  for (int i = 0; i < COLUMNS; ++i)
    result[i] = stored((x[i] * factor) * from_half(gamma_of[i]) + from_half(beta_of[i]));
}

static double exact(const half_t* row, int column, double epsilon) {
  double sum = 0, squares = 0;
  for (int i = 0; i < COLUMNS; ++i) sum += from_half(row[i]);
  for (int i = 0; i < COLUMNS; ++i) squares += pow(from_half(row[i]) - sum / COLUMNS, 2);
  const double scaled = (from_half(row[column]) - sum / COLUMNS) / sqrt(squares / COLUMNS + epsilon);
  return scaled * from_half(gamma_of[column]) + from_half(beta_of[column]);
}

int main(int argc, char** argv) {
  for (int i = 0; i < ROWS * COLUMNS; ++i) in[i / COLUMNS][i % COLUMNS] = to_flushed_half(4 * random_float() + 1);
  for (int i = 0; i < COLUMNS; ++i)
    gamma_of[i] = to_flushed_half(1 + random_float()), beta_of[i] = to_flushed_half(random_float());
  open_device(argc > 1 ? argv[1] : NULL);
  const layernorm_args_t args = {allocate(sizeof out),
                                 upload(in, sizeof in),
                                 upload(gamma_of, sizeof gamma_of),
                                 upload(beta_of, sizeof beta_of),
                                 ROWS,
                                 COLUMNS,
                                 1e-5f};
  launch("layernorm", &args, sizeof args);
  download(out, args.out, sizeof out);

  int wrong = 0;
  double worst = 0;
  for (int row = 0; row < ROWS; ++row) {
    half_t want[COLUMNS];
    expected(in[row], want, args.epsilon);
    for (int i = 0; i < COLUMNS; ++i) wrong += out[row][i] != want[i];
    for (int i = row % 7; i < COLUMNS; i += 97)
      worst = larger_difference(worst, fabs(from_half(out[row][i]) - exact(in[row], i, args.epsilon)));
  }
  printf("%d results, %d differ from the documented steps, at most %.2g from double precision\n", ROWS * COLUMNS, wrong,
         worst);

  release(args.out, sizeof out), release(args.in, sizeof in);
  release(args.gamma, sizeof gamma_of), release(args.beta, sizeof beta_of);
  close_device();
  return wrong == 0 && worst < 4e-3 ? 0 : 1;
}
