#include "device/bdc/pool_rows.hpp"

namespace softtpu {

const PoolRows& fast_pool_rows() { return kPlainPoolRows; }

}  // namespace softtpu
