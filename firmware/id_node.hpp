// Command counters as kernels read and write them (tpu_get_id_node, okk_get_id_node).
#pragma once

#include <cstring>

#include "firmware/call.hpp"

namespace softtpu {

// An id node as kernels see it (golden bm1684x/sync/id_node).
struct NodeBytes {
  std::uint32_t bdc, gdma, parallel;
};

inline void store_node(const Call& call, void* out, const IdNode& node) {
  if (!call.given("node", out)) return;
  const NodeBytes bytes{node.bdc, node.gdma, node.parallel ? 1U : 0U};
  std::memcpy(out, &bytes, sizeof(bytes));
}

inline void load_node(const Call& call, const void* in, IdNode& node) {
  if (!call.given("node", in)) return;
  NodeBytes bytes;
  std::memcpy(&bytes, in, sizeof(bytes));
  node = {bytes.bdc, bytes.gdma, (bytes.parallel & 0xFFU) != 0};
}

}  // namespace softtpu
