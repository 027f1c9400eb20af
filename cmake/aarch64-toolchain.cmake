# Debian's cross compiler for 64-bit ARM. Libraries and headers are Debian packages for arm64 in a folder of their own, which
# scripts/test aarch64 fills; nothing of it touches the packages of this machine. Programs run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

get_filename_component(SOFTTPU_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-sysroot ABSOLUTE)
if(NOT EXISTS ${SOFTTPU_SYSROOT}/usr/include)
  message(FATAL_ERROR "${SOFTTPU_SYSROOT} is missing: scripts/test aarch64 fills it")
endif()
set(CMAKE_SYSROOT ${SOFTTPU_SYSROOT})
# Programs are those of this machine, everything else is of the other one.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${SOFTTPU_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${SOFTTPU_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${SOFTTPU_SYSROOT}/usr/share/pkgconfig)

# `char` has a sign on x86-64 and on the chip's own processor, and none by default here.
set(CMAKE_C_FLAGS_INIT -fsigned-char)
set(CMAKE_CXX_FLAGS_INIT -fsigned-char)

find_program(SOFTTPU_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(SOFTTPU_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${SOFTTPU_QEMU} -L ${SOFTTPU_SYSROOT})
endif()
