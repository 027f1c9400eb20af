// What softtpu dump is asked for: bytes of a device's memories, as hexadecimal text or as a NumPy file. Reads the
// device's shared files, so it works on a device that is busy, hangs or belongs to one program, and on what a core left
// behind when a kernel ended it.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/result.hpp"
#include "tools/softtpu/layout.hpp"

namespace softtpu::cli {

struct DumpOptions {
  std::string socket;  // of a shared device; empty: of SOFTTPU_DEVICE, else softtpu serve's
  std::string folder;  // SOFTTPU_DUMP's, instead of a device
  int pid = 0;         // of a device process, or of the program that an embedded device belongs to
  int device = 0;
  int core = 0;
  bool ended = false;           // as the last core that a kernel ended has left it
  std::string space = "local";  // local, global, l2, static, dtcm
  std::string address;  // local: NPU * bytes + offset; else as kernels see it, or an offset below the memory's start
  std::uint64_t bytes = 256;  // of a region; without a shape
  LayoutOptions tensor;       // shape, dtype, layout, mode, stride, width
  std::string output;         // .npy file; empty: text on standard output
  bool json = false;          // JSON instead of text
};

}  // namespace softtpu::cli
