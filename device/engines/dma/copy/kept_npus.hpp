// NPUs that a command leaves out (golden-bmodel dma_tensor/0074): it is carried out for all, then they get back what
// they held. No function of the API leaves NPUs out, so that this need not be fast.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "device/command/moves.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

class KeptNpus {
 public:
  KeptNpus(Memories& mem, const Tensor& dst, std::uint64_t npus) : mem_(mem) {
    if (npus == kAllNpus || dst.space != Space::kLocal) return;
    for (int npu = 0; npu < mem.chip().npu_num; ++npu) {
      if ((npus >> npu & 1U) != 0) continue;
      const std::uint8_t* bytes = mem.local(npu);
      kept_.emplace_back(npu, std::vector<std::uint8_t>(bytes, bytes + mem.chip().local_bytes));
    }
  }
  ~KeptNpus() {
    for (const auto& [npu, bytes] : kept_) std::memcpy(mem_.local(npu), bytes.data(), bytes.size());
  }
  KeptNpus(const KeptNpus&) = delete;
  KeptNpus& operator=(const KeptNpus&) = delete;

 private:
  Memories& mem_;
  std::vector<std::pair<int, std::vector<std::uint8_t>>> kept_;
};

}  // namespace softtpu
