/* Declared in bmlib_internal.h; tools include it under this name as well. */
#ifndef BMLIB_PROFILE_H_
#define BMLIB_PROFILE_H_

#include "bmlib_internal.h"

#endif
