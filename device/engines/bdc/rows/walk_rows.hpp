// Walks the rows of commands that fast_rows() lets run.
#pragma once

#include "device/engines/bdc/rows/fast_rows.hpp"
#include "device/memory/apart_rows.hpp"

namespace softtpu {

// Of a command whose operands have elements of the same size.
template <class Row, class... Operands>
void walk_apart_rows(const Memories& mem, Row row, const Tensor& dst, const Operands&... sources) {
  for_size(size_of(dst.dtype), [&]<class T>(T) {
    const auto same = [](const auto&) { return T(); };
    [&]<class... S>(S...) { for_each_apart_row<T, S...>(mem, dst, row, sources...); }(same(sources)...);
  });
}

}  // namespace softtpu
