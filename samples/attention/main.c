// Attention of 3 heads over 150 tokens in fp16, compared with double precision.
#include "../common/host.h"
#include "../half.h"
#include "args.h"

enum { TOKENS = 150, HEADS = 3, SIZE = 64 };

static half_t queries[TOKENS][HEADS][SIZE], keys[TOKENS][HEADS][SIZE], values[TOKENS][HEADS][SIZE];
static half_t out[TOKENS][HEADS][SIZE];

static void fill(half_t* numbers) {
  for (int i = 0; i < TOKENS * HEADS * SIZE; ++i) numbers[i] = to_half(2 * random_float());
}

static double worst_of(int head, int query) {
  double score[TOKENS], largest = -1e30, sum = 0, worst = 0;
  for (int token = 0; token < TOKENS; ++token) {
    score[token] = 0;
    for (int i = 0; i < SIZE; ++i)
      score[token] += (double)from_half(queries[query][head][i]) * from_half(keys[token][head][i]);
    score[token] /= sqrt(SIZE);
    largest = fmax(largest, score[token]);
  }
  for (int token = 0; token < TOKENS; ++token) sum += score[token] = exp(score[token] - largest);
  for (int i = 0; i < SIZE; ++i) {
    double want = 0;
    for (int token = 0; token < TOKENS; ++token) want += score[token] / sum * from_half(values[token][head][i]);
    worst = larger_difference(worst, fabs(want - from_half(out[query][head][i])));
  }
  return worst;
}

int main(int argc, char** argv) {
  fill(&queries[0][0][0]), fill(&keys[0][0][0]), fill(&values[0][0][0]);
  open_device(argc > 1 ? argv[1] : NULL);
  const attention_args_t args = {allocate(sizeof out),
                                 upload(queries, sizeof queries),
                                 upload(keys, sizeof keys),
                                 upload(values, sizeof values),
                                 TOKENS,
                                 HEADS,
                                 SIZE,
                                 1 / sqrtf(SIZE)};
  launch("attention", &args, sizeof args);
  download(out, args.out, sizeof out);

  double worst = 0;
  for (int head = 0; head < HEADS; ++head)
    for (int query = 0; query < TOKENS; ++query) worst = larger_difference(worst, worst_of(head, query));
  printf("%d tokens, %d heads of %d: largest difference from double precision %.1e\n", TOKENS, HEADS, SIZE, worst);

  release(args.out, sizeof out), release(args.queries, sizeof queries);
  release(args.keys, sizeof keys), release(args.values, sizeof values);
  close_device();
  return worst < 2e-3 ? 0 : 1;
}
