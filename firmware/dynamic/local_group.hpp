// A group of layers whose operands lie in local memory, with the moves between them and device memory.
#pragma once

#include <cstdint>
#include <map>

#include "firmware/dynamic/tensors.hpp"

namespace softtpu::dynamic {

// The tensors of a launch by their numbers.
struct Tensors {
  std::map<std::uint32_t, Tensor> known;
  std::map<std::uint32_t, system_addr_t> results;  // where the outputs go
  std::uint64_t context_moved = 0;                 // what is added to compiled addresses
  std::uint64_t constants_moved = 0;

  system_addr_t place(std::uint32_t id, std::uint64_t compiled) const {
    const auto found = results.find(id);
    return found != results.end() ? found->second : compiled + context_moved;
  }
};

void run_local_group(const bmodel::ListedGroup& group, Tensors& tensors);

}  // namespace softtpu::dynamic
