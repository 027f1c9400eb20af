# Compile settings of every target in this tree, in one place.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# Line numbers are what reports and backtraces need. Types and variables of everything, which a debugger shows besides, would take a
# fifth of the build: -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g -DNDEBUG" asks for them.
if(CMAKE_CXX_FLAGS_RELWITHDEBINFO STREQUAL "-O2 -g -DNDEBUG")
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
endif()

# Results are bits: no fused multiply-add unless a kernel asks for it, no fast-math.
add_compile_options(-ffp-contract=off -fno-strict-aliasing)

# GCC collects its own garbage when it has half a gigabyte, which few files here need, and not again and again: a twentieth of a build.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=500000>)
endif()

# A device starts with every program that uses one: it loads only the libraries that it really needs.
add_link_options(-Wl,--as-needed)
# A quarter of the time of GNU's linker. Packages and kernel modules are linked with that one, as people link theirs.
find_program(SOFTTPU_MOLD mold)
if(SOFTTPU_MOLD AND NOT CMAKE_BUILD_TYPE STREQUAL Release AND NOT CMAKE_CROSSCOMPILING)
  string(APPEND CMAKE_EXE_LINKER_FLAGS " -fuse-ld=mold")
  string(APPEND CMAKE_SHARED_LINKER_FLAGS " -fuse-ld=mold")
endif()

# softtpu_warnings(target): the warnings that the whole tree builds without.
function(softtpu_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  if(SOFTTPU_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# softtpu_precompile(target HEADER...): parses these headers once for the target. A build from nothing takes two thirds of the time.
# A compiler cache (CMAKE_CXX_COMPILER_LAUNCHER=ccache in the environment asks for one) cannot share such files between checkouts.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(SOFTTPU_PRECOMPILE_DEFAULT OFF)
else()
  set(SOFTTPU_PRECOMPILE_DEFAULT ON)
endif()
option(SOFTTPU_PRECOMPILE "Precompile headers" ${SOFTTPU_PRECOMPILE_DEFAULT})
set(SOFTTPU_COMMON_HEADERS <algorithm> <array> <bit> <chrono> <cstdint> <cstring> <functional> <limits> <map> <memory> <optional> <set>
    <span> <string> <string_view> <utility> <variant> <vector> <fmt/format.h>)
# What the device's headers include besides.
set(SOFTTPU_DEVICE_HEADERS ${SOFTTPU_COMMON_HEADERS} <atomic> <bitset>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND SOFTTPU_DEVICE_HEADERS <immintrin.h>)
endif()
set(SOFTTPU_TEST_HEADERS ${SOFTTPU_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
function(softtpu_precompile target)
  if(SOFTTPU_PRECOMPILE)
    foreach(header ${ARGN})
      string(REPLACE ">" "$<ANGLE-R>" header ${header})
      target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
    endforeach()
    softtpu_precompiled_warnings(${target})
  endif()
endfunction()
# softtpu_share_precompiled(target OTHER): what was parsed for the other target.
function(softtpu_share_precompiled target other)
  if(SOFTTPU_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
    softtpu_precompiled_warnings(${target})
  endif()
endfunction()
# What comes out of such a file is no system header to GCC's later passes, which then warn of the standard library's own code.
function(softtpu_precompiled_warnings target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# Several files of a target at once: what they share is read, and made from templates, once. A build from nothing takes a third less, one
# after a change to a file a little more. Names of anonymous namespaces
# meet then: no two files of a target have the same. Tests ask for it by softtpu_unity(target).
if(SOFTTPU_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 6)
endif()

function(softtpu_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SOFTTPU_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# softtpu_options(target OPTIONS FILE...): options of these files of the target. CMake leaves files with options of their own out of those that
# it compiles at once; here they are compiled at once with each other, which takes half of the time.
function(softtpu_options target options)
  set(files ${ARGN})
  if(SOFTTPU_UNITY)
    list(TRANSFORM files REPLACE "(.+)" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/\\1\"")
    list(JOIN files "\n" text)
    # As CMake names its own, so that scripts/compiled_files.py knows what it is.
    set(files ${CMAKE_CURRENT_BINARY_DIR}/${target}.options/Unity/unity_0_cxx.cxx)
    file(CONFIGURE OUTPUT ${files} CONTENT "${text}\n" @ONLY)
    set_source_files_properties(${ARGN} PROPERTIES HEADER_FILE_ONLY ON)
    target_sources(${target} PRIVATE ${files})
  endif()
  set_property(SOURCE ${files} APPEND PROPERTY COMPILE_OPTIONS ${options})
  if(SOFTTPU_FUZZ)
    # What was parsed with other options cannot be shared.
    set_property(SOURCE ${files} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# softtpu_cold(target FILE...): less optimisation for files that run once in a process, or to write a report. A fifth less to compile.
function(softtpu_cold target)
  if(NOT SOFTTPU_FUZZ)
    set(options -O1)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      list(APPEND options -Wno-maybe-uninitialized)
    endif()
    list(TRANSFORM options REPLACE "(.+)" "$<$<CONFIG:RelWithDebInfo>:\\1>")
    softtpu_options(${target} "${options}" ${ARGN})
  endif()
endfunction()

# softtpu_light(target): less optimisation for programs that start others, wait and compare.
function(softtpu_light target)
  if(NOT SOFTTPU_FUZZ)
    target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      # With fewer passes GCC sees less of what is always set before it is read.
      target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-Wno-maybe-uninitialized>)
    endif()
  endif()
endfunction()

# softtpu_uninstrumented(target): test code whose own branches guide no fuzzer, and whose own arithmetic is not what is tested; its arrays
# keep their borders. A third of the time to compile.
function(softtpu_uninstrumented target)
  if(SOFTTPU_FUZZ)
    target_compile_options(${target} PRIVATE -O0 -fno-sanitize=fuzzer-no-link,undefined)
  endif()
endfunction()

# softtpu_unoptimised(target): what no fuzzer spends time in. Half of the time to compile.
function(softtpu_unoptimised target)
  if(SOFTTPU_FUZZ)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# Options of code that no fuzzer and no sanitized test reaches.
if(SOFTTPU_FUZZ)
  set(SOFTTPU_UNREACHED -O0 -fno-sanitize=all -fno-sanitize-coverage=trace-cmp,inline-8bit-counters,pc-table,indirect-calls)
endif()

if(SOFTTPU_SANITIZE)
  # Kernels are C and may pass any number as an enumerator; the functions look at it as GCC and Clang define that.
  add_compile_options(-fsanitize=${SOFTTPU_SANITIZE} -fno-sanitize=enum -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SOFTTPU_SANITIZE})
  if(SOFTTPU_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC says that the sanitizer does not follow stand-alone fences. Only Asio has them, in loops of one thread.
    add_compile_options(-Wno-tsan)
  endif()
endif()

if(SOFTTPU_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    message(FATAL_ERROR "SOFTTPU_FUZZ needs Clang, not ${CMAKE_CXX_COMPILER_ID}")
  endif()
  # Every finding ends the program, so that the fuzzer sees it.
  # AddressSanitizer sees what object-size would. Warnings are the affair of the other presets.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=enum,object-size -fno-sanitize-recover=undefined -fno-omit-frame-pointer -w)
  add_link_options(-fsanitize=address,undefined)
endif()
