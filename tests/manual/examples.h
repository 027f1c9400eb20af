/* What the examples of the reference share: their parameter block, and the table of them. */
#ifndef SOFTTPU_TESTS_MANUAL_EXAMPLES_H_
#define SOFTTPU_TESTS_MANUAL_EXAMPLES_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Addresses in global memory, one for each operand that an example names. */
#define X(name) unsigned long long name;
typedef struct {
#include "example_arguments.inc"
} example_args_t;
#undef X

typedef struct {
  const char* name;
  void (*run)(const example_args_t* args);
  const char* lacks; /* "": the chip has it */
} example_t;

extern const example_t examples_tpu[];
extern const example_t examples_okk[];
/* Those of the pages of further chips. */
#define X(chip, table) extern const example_t table[];
#include "examples_further.inc"
#undef X

/* Notes a claim of an example that is wrong. */
void example_failed(const char* claim);
#define EXAMPLE_CHECK(claim)              \
  do {                                    \
    if (!(claim)) example_failed(#claim); \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif
