// One client process of the stress program: threads that copy, launch, check and measure how long they wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace softtpu::stress {

struct ClientFigures {
  std::uint64_t launches = 0;  // each between a copy to the device and one back, with every byte compared
  double median_ms = 0, mean_ms = 0, longest_ms = 0;  // of the waits for a launch
};

// Works for so long and prints its figures, which find_figures() reads. The exit status: 0 when every result was right.
int run_client(int threads, double seconds, unsigned seed);
bool find_figures(const std::string& output, ClientFigures& figures);

double median(std::vector<double> values);

using Clock = std::chrono::steady_clock;
inline double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace softtpu::stress
