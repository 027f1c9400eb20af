#include "device/server/startup/entry.hpp"

// For kernels that are built with AddressSanitizer (SOFTTPU_PRELOAD); ASAN_OPTIONS of the environment come after these.
// Signals are reported by the core itself, with commands and calls; it ends without looking for leaks, and a module may
// be loaded twice.
#ifndef __SANITIZE_ADDRESS__
extern "C" __attribute__((visibility("default"), used)) const char* __asan_default_options() {
  return "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:"
         "use_sigaltstack=0:detect_odr_violation=0:allocator_may_return_null=1:color=never";
}
#endif

int main(int argc, char** argv) { return softtpu_device_main(argc, argv); }
