/* The argument of every kernel of the end-to-end tests. */
#ifndef E2E_PARAM_H
#define E2E_PARAM_H

typedef struct {
  unsigned long long address;
  int count;
  int value;
} e2e_param_t;

#endif
