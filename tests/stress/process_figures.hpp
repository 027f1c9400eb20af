// What a process holds: private memory and descriptors.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace softtpu::stress {

struct ProcessFigures {
  std::uint64_t private_kib = 0;  // RssAnon: what a leak grows; pages of device memory are shared and counted elsewhere
  std::uint64_t descriptors = 0;
};

// The sum over the processes; those that are gone count nothing.
ProcessFigures figures_of(const std::vector<pid_t>& processes);
std::string to_text(const ProcessFigures& figures);

}  // namespace softtpu::stress
