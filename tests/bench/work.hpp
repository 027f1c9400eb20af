// One line of the benchmark table: a piece of work, the limit that the same machine has at the same moment, and what is
// wanted.
//
// Work and limit run in turns, several runs each, so that a noisy neighbour slows both, and again at other times in the
// run; each figure shows what a hundredth of the measured times were shorter than.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace softtpu::bench {

struct Work {
  std::string group;              // "GDMA", "matrix" ...
  std::string name;               // what is done, with shape and type
  double amount = 0;              // units of work in one run
  std::string unit;               // "GB", "GFLOP", "M keys", "launches": figures are per second
  std::function<void()> prepare;  // fills memories, before each repetition
  std::function<void()> run;
  std::string limit_name;       // what `limit` is: "memcpy", "mul+add peak" ...
  std::function<void()> limit;  // does limit_amount units in one run
  double limit_amount = 0;
  double required = 0;                 // wanted fraction of the limit; 0: none
  double vendor = 0;                   // figure of the vendor's emulator in the same unit; 0: not known
  double required_vendor_ratio = 0;    // wanted multiple of it; 0: none
  bool large = false;                  // large enough for two threads: a second row shows the gain
  std::function<void()> shared_limit;  // the limit's work divided among all threads, where `limit` is one thread's
  std::function<void()> machine_loop;  // in rows of two cores: to be measured on all threads and on one, too
  bool quick = true;                   // part of a --quick run
  bool machine = false;                // measures the machine: nothing is wanted of it
  double at_least = 0;                 // wanted figure itself; 0: none

  // Figures that are not rates (a time for one launch, memory of a process): smaller is better. `unit` is theirs.
  std::function<double()> figure;        // instead of run
  std::function<double()> limit_figure;  // instead of limit
  double at_most = 0;                    // wanted figure; 0: none
  double at_most_limits = 0;             // wanted multiple of limit_figure; 0: none
};

std::vector<Work>& all_work();

// Registers work when the program starts: `static const bool added = add_work([] { return std::vector<Work>{...}; });`
bool add_work(std::function<std::vector<Work>()> make);

// Keeps the compiler from dropping a result.
void keep(const void* data);

// Seconds that a call takes: elapsed, or of this process on all processors.
void use_processor_time(bool use);
double seconds_of(const std::function<void()>& function);

// Machine limits, to be called as `limit` functions of given amounts.
std::function<void()> memcpy_limit(std::size_t bytes);  // copies that many bytes, on all threads
// Writes that many bytes, read without gaps, into 16 of every 64 bytes, on all threads.
std::function<void()> quarter_lines_limit(std::size_t bytes);
std::function<void()> multiply_add_limit(double flops);  // separate f32 multiply and add in registers, all threads
// Products of bytes, on all threads: four and their sum in one step (VNNI) where the loops in use do so, else by
// pmaddubsw, pmaddwd and an addition (AVX2).
struct NamedLimit {
  const char* name;
  std::function<void()> run;
};
NamedLimit dot_limit(double operations);

// A loop over [first, last) of arrays of its own.
using RangeLoop = std::function<void(std::int64_t first, std::int64_t last)>;
// The loop over `count` elements as a work's limit: on one thread, and shared.
void limit_by_loop(Work& work, RangeLoop loop, std::int64_t count);

// `work` on all threads, its limit the same on one: the fraction is what the other threads add. Beside it stands what
// they add to `work`'s own limit, the machine's loop, in the same run.
Work two_cores(Work work);

}  // namespace softtpu::bench
