// The host program's side of chip_kernel.h.
#pragma once

#include "chip.h"
#include "host.h"

static inline chip_t describe_chip(void) {
  chip_t chip;
  const chip_args_t args = {allocate(sizeof chip)};
  launch("describe_chip", &args, sizeof args);
  download(&chip, args.out, sizeof chip);
  release(args.out, sizeof chip);
  return chip;
}
