# SOFTTPU_ONLY_TARGET: the one instruction set that SIMD loops are compiled for, by Highway's name; unset: every one that there is.
if(CMAKE_SYSTEM_PROCESSOR MATCHES aarch64)
  # NEON, which all of these machines have, and nothing to choose at run time. The library's switch for that; without it every function
  # would be compiled for an extension that only some have, and no function outside could hold a vector.
  add_compile_definitions(TOOLCHAIN_MISS_SYS_AUXV_H)
elseif(SOFTTPU_FUZZ)
  # Nearly every machine has it, and each takes minutes to compile with coverage and sanitizers.
  set(SOFTTPU_ONLY_TARGET HWY_AVX2)
elseif(SOFTTPU_NATIVE_SIMD)
  try_run(SOFTTPU_BEST_SIMD_STATUS SOFTTPU_BEST_SIMD_COMPILED ${PROJECT_BINARY_DIR}/best_simd
          ${CMAKE_CURRENT_LIST_DIR}/best_simd.cpp LINK_LIBRARIES hwy::hwy RUN_OUTPUT_VARIABLE best)
  if(SOFTTPU_BEST_SIMD_COMPILED AND SOFTTPU_BEST_SIMD_STATUS EQUAL 0)
    # The status stays in the cache, the output does not.
    set(SOFTTPU_BEST_SIMD ${best} CACHE INTERNAL "Best instruction set of this machine")
  endif()
  set(SOFTTPU_ONLY_TARGET ${SOFTTPU_BEST_SIMD})
  message(STATUS "SIMD loops for ${SOFTTPU_ONLY_TARGET} alone")
endif()
