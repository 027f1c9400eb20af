// 200 tokens of a vocabulary of 5000, 384 numbers each, compared bit for bit.
#include "../common/host.h"
#include "../half.h"
#include "args.h"

enum { TOKENS = 200, WORDS = 5000, SIZE = 384 };

static half_t table[WORDS][SIZE], positions[TOKENS][SIZE], out[TOKENS][SIZE];
static int tokens[TOKENS];

int main(int argc, char** argv) {
  // Multiples of 2^-10, so that no sum is subnormal: BM1684X2 takes such numbers for zeros.
  for (int i = 0; i < WORDS * SIZE; ++i) table[i / SIZE][i % SIZE] = to_half((float)random_int(-2047, 2047) / 1024);
  for (int i = 0; i < TOKENS * SIZE; ++i)
    positions[i / SIZE][i % SIZE] = to_half((float)random_int(-2047, 2047) / 1024);
  for (int i = 0; i < TOKENS; ++i) tokens[i] = random_int(0, WORDS - 1);
  tokens[7] = WORDS;  // not in the table
  tokens[100] = -1;   // neither
  open_device(argc > 1 ? argv[1] : NULL);
  const embedding_args_t args = {allocate(sizeof out),
                                 upload(table, sizeof table),
                                 upload(positions, sizeof positions),
                                 upload(tokens, sizeof tokens),
                                 TOKENS,
                                 WORDS,
                                 SIZE};
  launch("embedding", &args, sizeof args);
  download(out, args.out, sizeof out);

  int wrong = 0;
  for (int i = 0; i < TOKENS * SIZE; ++i) {
    const int token = tokens[i / SIZE];
    const float word = token >= 0 && token < WORDS ? from_half(table[token][i % SIZE]) : 0.0f;
    wrong += out[i / SIZE][i % SIZE] != to_half(word + from_half(positions[i / SIZE][i % SIZE]));
  }
  printf("%d tokens of %d numbers, %d wrong\n", TOKENS, SIZE, wrong);

  release(args.out, sizeof out), release(args.table, sizeof table);
  release(args.positions, sizeof positions), release(args.tokens, sizeof tokens);
  close_device();
  return wrong == 0 ? 0 : 1;
}
