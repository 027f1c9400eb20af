#include "device/bdc/product_kernels.hpp"

namespace softtpu {

const ProductKernels& fast_product_kernels() { return kPlainProductKernels; }

}  // namespace softtpu
