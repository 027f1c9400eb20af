// The tests run with the settings of the environment (SOFTTPU_SIMD, SOFTTPU_PARALLEL_STEPS ...), so that ctest repeats
// the comparisons with oracles for each instruction set, and with every command shared among threads.
#include <gtest/gtest.h>

#include <cstdio>

#include "device/core/execution.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto settings = softtpu::read_settings();
  const auto chosen = settings ? softtpu::choose_execution(*settings) : softtpu::Result<void>(settings.error());
  if (!chosen) {
    std::fprintf(stderr, "%s\n", chosen.error().text.c_str());
    return 2;
  }
  return RUN_ALL_TESTS();
}
