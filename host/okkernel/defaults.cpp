// The library of the OKKernel tree is for BM1684: this is its chip unless the environment names another. Set for the
// whole process, so that a device process that the program starts gets the same.
#include <cstdlib>

namespace {

__attribute__((constructor)) void choose_chip() { ::setenv("SOFTTPU_CHIP", "bm1684", 0); }

}  // namespace
