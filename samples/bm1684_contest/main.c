// Runs all cases on the device, compares each with a reference in double precision, and prints how long they took.
#include <string.h>
#include <time.h>

#include "../bm1684_common/host.h"
#include "../bm1684_common/windows.h"
#include "../bm1684_conv2d/args.h"
#include "../bm1684_depthwise/args.h"
#include "../bm1684_matmul/args.h"
#include "../bm1684_softmax/args.h"
#include "cases.h"

enum { MOST_COMPARED = 4000 }; /* elements of one result that are computed again on the host */
#define TOLERANCE 2e-5         /* of the largest compared value; sums of up to 100352 products in fp32 */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// Device and host memory of one case.
typedef struct {
  const case_t* kind;
  host_window_t win;
  int oh, ow;
  size_t outputs;
  float *first, *second, *bias, *packed, *result;
  bm_device_mem_t memory[4];
  int memories;
} run_t;

static unsigned long long on_device(run_t* run, const float* data, size_t floats) {
  run->memory[run->memories] = data != NULL ? upload(data, floats) : device_memory(floats);
  return bm_mem_get_device_addr(run->memory[run->memories++]);
}

// [out_c, c, taps] -> pairs of input channels; the missing partner of an odd last channel is 0.
static float* to_2ic(const float* weight, const host_window_t* win) {
  const int pairs = (win->c + 1) / 2, taps = win->kernel_h * win->kernel_w;
  float* packed = calloc((size_t)pairs * (size_t)(2 * win->out_c * taps), sizeof *packed);
  for (int oc = 0; oc < win->out_c; ++oc)
    for (int c = 0; c < win->c; ++c)
      for (int tap = 0; tap < taps; ++tap)
        packed[((c / 2 * win->out_c + oc) * taps + tap) * 2 + c % 2] = weight[(oc * win->c + c) * taps + tap];
  return packed;
}

static double launched(const char* kernel, const void* args, unsigned bytes) {
  const double start = now();
  launch(kernel, args, bytes);
  return now() - start;
}

static double run_window(run_t* run) {
  const host_window_t* win = &run->win;
  const int taps = win->kernel_h * win->kernel_w, depthwise = run->kind->operator_ == DEPTHWISE;
  const size_t inputs = (size_t)(win->n * win->c) * (size_t)(win->h * win->w);
  const size_t weights = (size_t)(depthwise ? 1 : win->c) * (size_t)(win->out_c * taps);
  run->first = numbers(inputs, 1), run->second = numbers(weights, 2), run->bias = numbers((size_t)win->out_c, 3);
  if (!depthwise) run->packed = to_2ic(run->second, win);
  const conv_args_t args = {
      .output = on_device(run, NULL, run->outputs),
      .input = on_device(run, run->first, inputs),
      .weight = depthwise ? on_device(run, run->second, weights)
                          : on_device(run, run->packed, (size_t)((win->c + 1) / 2 * 2 * win->out_c * taps)),
      .bias = on_device(run, run->bias, (size_t)win->out_c),
      .n = win->n,
      .c = win->c,
      .h = win->h,
      .w = win->w,
      .out_c = win->out_c,
      .kernel_h = win->kernel_h,
      .kernel_w = win->kernel_w,
      .pad = win->pad,
      .stride = win->stride,
      .dilation = win->dilation};
  if (!depthwise) return launched(run->kind->kernel, &args, sizeof args);
  const depthwise_args_t less = {args.output, args.input,  args.weight,  args.bias,     args.n,
                                 args.c,      args.h,      args.w,       args.kernel_h, args.kernel_w,
                                 args.pad,    args.stride, args.dilation};
  return launched(run->kind->kernel, &less, sizeof less);
}

static double run_product(run_t* run) {
  const size_t m = (size_t)run->kind->m, k = (size_t)run->kind->k, n = (size_t)run->kind->columns;
  run->first = numbers(m * k, 1), run->second = numbers(k * n, 2);
  const matmul_args_t args = {.output = on_device(run, NULL, m * n),
                              .left = on_device(run, run->first, m * k),
                              .right = on_device(run, run->second, k * n),
                              .m = (int)m,
                              .k = (int)k,
                              .n = (int)n};
  return launched(run->kind->kernel, &args, sizeof args);
}

static double run_softmax(run_t* run) {
  run->first = numbers(run->outputs, 1);
  for (size_t i = 0; i < run->outputs; ++i) run->first[i] *= 20.f;
  const softmax_args_t args = {.output = on_device(run, NULL, run->outputs),
                               .input = on_device(run, run->first, run->outputs),
                               .n = run->kind->n,
                               .c = run->kind->c,
                               .pixels = run->kind->h * run->kind->w};
  return launched(run->kind->kernel, &args, sizeof args);
}

// The output element at `at`, in double precision.
static double window_reference(const run_t* run, size_t at) {
  const host_window_t* win = &run->win;
  const int x = (int)(at % (size_t)run->ow), y = (int)(at / (size_t)run->ow % (size_t)run->oh);
  const size_t feature = at / (size_t)run->ow / (size_t)run->oh;
  const int oc = (int)(feature % (size_t)win->out_c), n = (int)(feature / (size_t)win->out_c);
  const int depthwise = run->kind->operator_ == DEPTHWISE, channels = depthwise ? 1 : win->c;
  double sum = run->bias[oc];
  for (int c = 0; c < channels; ++c)
    for (int i = 0; i < win->kernel_h; ++i)
      for (int j = 0; j < win->kernel_w; ++j)
        sum += pixel(run->first, win, n, depthwise ? oc : c, y, x, i, j) *
               run->second[((oc * channels + c) * win->kernel_h + i) * win->kernel_w + j];
  return sum;
}

static double product_reference(const run_t* run, size_t at) {
  const size_t k = (size_t)run->kind->k, n = (size_t)run->kind->columns, row = at / n, column = at % n;
  double sum = 0;
  for (size_t i = 0; i < k; ++i) sum += (double)run->first[row * k + i] * run->second[i * n + column];
  return sum;
}

static double softmax_reference(const run_t* run, size_t at) {
  const size_t pixels = (size_t)(run->kind->h * run->kind->w), c = (size_t)run->kind->c;
  const float* x = run->first + at / (pixels * c) * pixels * c + at % pixels;
  double largest = -1e30, sum = 0;
  for (size_t i = 0; i < c; ++i) largest = fmax(largest, x[i * pixels]);
  for (size_t i = 0; i < c; ++i) sum += exp(x[i * pixels] - largest);
  return exp(run->first[at] - largest) / sum;
}

// The largest difference as a share of the largest value, over elements spread evenly over the result.
static double compared(const run_t* run, size_t* count) {
  double worst = 0, largest = 1e-30;
  const size_t step = run->outputs / MOST_COMPARED + 1;
  *count = 0;
  for (size_t at = 0; at < run->outputs; at += step, ++*count) {
    const double want = run->kind->operator_ == MATMUL    ? product_reference(run, at)
                        : run->kind->operator_ == SOFTMAX ? softmax_reference(run, at)
                                                          : window_reference(run, at);
    const double difference = fabs(run->result[at] - want);
    worst = fmax(worst, isnan(difference) ? INFINITY : difference); /* a NaN counts as infinity */
    largest = fmax(largest, fabs(want));
  }
  return worst / largest;
}

static void describe(const case_t* c) {
  char text[80];
  if (c->operator_ == MATMUL)
    snprintf(text, sizeof text, "%d x %d x %d", c->m, c->k, c->columns);
  else if (c->operator_ == SOFTMAX)
    snprintf(text, sizeof text, "[%d, %d, %d, %d]", c->n, c->c, c->h, c->w);
  else
    snprintf(text, sizeof text, "[%d, %d, %d, %d] -> %d, %dx%d, dilation %d", c->n, c->c, c->h, c->w, c->out_c,
             c->kernel_h, c->kernel_w, c->dilation);
  printf("%-16s %-50s", c->kernel, text);
  fflush(stdout);
}

// Returns 1 when the result is right; adds the kernel's seconds and operations to the sums.
static int run_case(const case_t* kind, double* seconds, double* operations) {
  run_t run = {.kind = kind,
               .win = {kind->n, kind->c, kind->h, kind->w, kind->out_c, kind->kernel_h, kind->kernel_w, kind->pad,
                       kind->stride, kind->dilation}};
  const int windows = kind->operator_ == CONV2D || kind->operator_ == DEPTHWISE;
  if (windows) {
    run.oh = host_extent(kind->h, kind->kernel_h, &run.win), run.ow = host_extent(kind->w, kind->kernel_w, &run.win);
    run.outputs = (size_t)(kind->n * kind->out_c) * (size_t)(run.oh * run.ow);
  } else {
    run.outputs = kind->operator_ == MATMUL ? (size_t)kind->m * (size_t)kind->columns
                                            : (size_t)(kind->n * kind->c) * (size_t)(kind->h * kind->w);
  }
  describe(kind);
  const double taken = windows ? run_window(&run) : kind->operator_ == MATMUL ? run_product(&run) : run_softmax(&run);
  run.result = malloc(run.outputs * sizeof(float));
  if (bm_memcpy_d2s(handle, run.result, run.memory[0]) != BM_SUCCESS) fail("the download failed");
  size_t count;
  const double difference = compared(&run, &count);
  const double terms = kind->operator_ == MATMUL ? kind->k
                       : kind->operator_ == SOFTMAX
                           ? 0
                           : (double)kind->kernel_h * kind->kernel_w * (kind->operator_ == CONV2D ? kind->c : 1);
  const double work = 2 * terms * (double)run.outputs;
  printf("%9.1f ms %8.2f GFLOP/s   largest of %zu differences %.1e%s\n", taken * 1e3, work / taken / 1e9, count,
         difference, difference < TOLERANCE ? "" : "  WRONG");
  for (int i = 0; i < run.memories; ++i) bm_free_device(handle, run.memory[i]);
  free(run.first), free(run.second), free(run.bias), free(run.packed), free(run.result);
  *seconds += taken, *operations += work;
  return difference < TOLERANCE;
}

int main(int argc, char** argv) {
  const char* only = NULL;
  if (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)) {
    printf(
        "usage: %s [conv2d|depthwise|matmul|matmul_by_steps|softmax]\n"
        "Runs the cases of one kernel, or all, on the device and compares them with double precision.\n",
        argv[0]);
    return 0;
  }
  if (argc > 1) only = argv[1];
  const double start = now();
  open_device(KERNEL_MODULE);
  double seconds = 0, operations = 0;
  int right = 0, cases = 0;
  for (int i = 0; i < kCaseCount; ++i) {
    if (only != NULL && strcmp(only, kCases[i].kernel) != 0) continue;
    right += run_case(&kCases[i], &seconds, &operations);
    ++cases;
  }
  bm_dev_free(handle);
  printf("%d of %d cases right; %.1f s in kernels (%.1f GFLOP, %.1f GFLOP/s), %.1f s in all\n", right, cases, seconds,
         operations / 1e9, operations / seconds / 1e9, now() - start);
  if (cases == 0) fprintf(stderr, "no kernel is called \"%s\"\n", only);
  return right == cases && cases > 0 ? 0 : 1;
}
