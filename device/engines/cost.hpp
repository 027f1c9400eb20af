// What commands cost: work_of() in cycles of their engine, features_of() in what BM1684 is priced by. A new family
// whose commands are not one pass over their elements adds its header here.
#pragma once

#include "device/engines/bdc/bm1684_bytes/cost.hpp"
#include "device/engines/bdc/bm1684_layers/cost.hpp"
#include "device/engines/bdc/bm1684_words/cost.hpp"
#include "device/engines/bdc/compare/cost.hpp"
#include "device/engines/bdc/convert/cost.hpp"
#include "device/engines/bdc/elementwise/cost.hpp"
#include "device/engines/bdc/gather/cost.hpp"
#include "device/engines/bdc/integer/cost.hpp"
#include "device/engines/bdc/move/cost.hpp"
#include "device/engines/bdc/outer/cost.hpp"
#include "device/engines/bdc/product/cost.hpp"
#include "device/engines/bdc/special/cost.hpp"
#include "device/engines/bdc/window/cost.hpp"
#include "device/engines/dma/compress/cost.hpp"
#include "device/engines/dma/copy/cost.hpp"
#include "device/engines/dma/reduce/cost.hpp"
#include "device/engines/dma/select/cost.hpp"
#include "device/engines/hau/lines/cost.hpp"
#include "device/engines/hau/nms/cost.hpp"
#include "device/engines/hau/sort/cost.hpp"
