// One line of the benchmark table: a piece of work, the limit that the same machine has at the same moment, and what is
// wanted.
//
// Work and limit run in turns, so that a noisy neighbour slows both; each figure is the median of its runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace softtpu::bench {

struct Work {
  std::string group;  // "GDMA", "matrix" ...
  std::string name;   // what is done, with shape and type
  double amount = 0;  // units of work in one run
  std::string unit;   // "GB", "GFLOP", "M keys", "launches": figures are per second
  std::function<void()> run;
  std::string limit_name;       // what `limit` is: "memcpy", "mul+add peak" ...
  std::function<void()> limit;  // does limit_amount units in one run
  double limit_amount = 0;
  double required = 0;               // wanted fraction of the limit; 0: none
  double vendor = 0;                 // figure of the vendor's emulator in the same unit; 0: not known
  double required_vendor_ratio = 0;  // wanted multiple of it; 0: none
  bool quick = true;                 // part of a --quick run
};

std::vector<Work>& all_work();

// Registers work when the program starts: `static const bool added = add_work([] { return std::vector<Work>{...}; });`
bool add_work(std::function<std::vector<Work>()> make);

// Keeps the compiler from dropping a result.
void keep(const void* data);

// Machine limits, to be called as `limit` functions of given amounts.
std::function<void()> memcpy_limit(std::size_t bytes);   // copies that many bytes, on all threads
std::function<void()> multiply_add_limit(double flops);  // separate f32 multiply and add in registers, all threads

}  // namespace softtpu::bench
