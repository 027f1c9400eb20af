# Debian packages through CPack: softtpu (programs, libraries), softtpu-dev (headers, CMake and pkg-config files), python3-softtpu, and
# softtpu-aarch64 (modules for the chips' own processor under qemu-user), where the build has it.
#
# Everything stands below /usr/lib/softtpu as in any installed tree, also the libraries with the names of the vendor's: a folder that the
# dynamic linker does not search, so that a real driver is never shadowed. Only the command, documentation, and files that lead CMake,
# pkg-config and Python there stand in the usual places.
if(SOFTTPU_NATIVE_SIMD)
  return()  # a quick build: its loops are for this machine alone
endif()
set(SOFTTPU_DEBIAN_PREFIX /usr/lib/softtpu)
set(SOFTTPU_DEBIAN_USR ../..)  # /usr, from the prefix
set(SOFTTPU_DEBIAN_MULTIARCH ${SOFTTPU_DEBIAN_USR}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
set(SOFTTPU_MAINTAINER "softtpu developers <softtpu@users.noreply.github.com>" CACHE STRING "Maintainer that the Debian packages name")
set(debian ${PROJECT_BINARY_DIR}/debian)

# The copyright file and the change log that Debian's policy asks for.
string(TIMESTAMP year %Y UTC)
file(WRITE ${debian}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: softtpu

Files: *
Copyright: ${year} softtpu developers
License: Apache-2.0
 On Debian systems, the full text of the Apache License version 2.0 is in the file /usr/share/common-licenses/Apache-2.0.
")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${debian}/changelog "softtpu (${PROJECT_VERSION}) unstable; urgency=medium

  * Version ${PROJECT_VERSION}: what has changed stands in CHANGELOG.md.

 -- ${SOFTTPU_MAINTAINER}  ${date}
")
execute_process(COMMAND gzip -9nf ${debian}/changelog COMMAND_ERROR_IS_FATAL ANY)

set(packages softtpu softtpu-dev python3-softtpu)
if(TARGET aarch64_modules)
  list(APPEND packages softtpu-aarch64)
  # It is meant to be of another architecture.
  file(WRITE ${debian}/overrides "softtpu-aarch64: binary-from-other-architecture\n")
  install(FILES ${debian}/overrides DESTINATION ${SOFTTPU_DEBIAN_USR}/share/lintian/overrides RENAME softtpu-aarch64
          COMPONENT debian-softtpu-aarch64 EXCLUDE_FROM_ALL)
endif()
foreach(package ${packages})
  install(FILES ${debian}/copyright ${debian}/changelog.gz DESTINATION ${SOFTTPU_DEBIAN_USR}/share/doc/${package}
          COMPONENT debian-${package} EXCLUDE_FROM_ALL)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${SOFTTPU_DEBIAN_USR}/share/doc/softtpu
        COMPONENT debian-softtpu EXCLUDE_FROM_ALL)

file(MAKE_DIRECTORY ${debian}/bin)
file(CREATE_LINK ../lib/softtpu/bin/softtpu ${debian}/bin/softtpu SYMBOLIC)
install(FILES ${debian}/bin/softtpu DESTINATION ${SOFTTPU_DEBIAN_USR}/bin COMPONENT debian-softtpu EXCLUDE_FROM_ALL)

foreach(file softtpuConfig softtpuConfigVersion)
  file(WRITE ${debian}/${file}.cmake "include(${SOFTTPU_DEBIAN_PREFIX}/${SOFTTPU_CMAKE_DIR}/${file}.cmake)\n")
  install(FILES ${debian}/${file}.cmake DESTINATION ${SOFTTPU_DEBIAN_MULTIARCH}/cmake/softtpu
          COMPONENT debian-softtpu-dev EXCLUDE_FROM_ALL)
endforeach()
foreach(pc ${SOFTTPU_PC_FILES})
  file(READ ${pc} text)
  string(REGEX REPLACE "^prefix=[^\n]*" "prefix=${SOFTTPU_DEBIAN_PREFIX}" text "${text}")
  get_filename_component(name ${pc} NAME)
  file(WRITE ${debian}/${name} "${text}")
  install(FILES ${debian}/${name} DESTINATION ${SOFTTPU_DEBIAN_MULTIARCH}/pkgconfig COMPONENT debian-softtpu-dev EXCLUDE_FROM_ALL)
endforeach()

# Python's package: the files of python/softtpu, and its own place for native parts as a link.
if(EXISTS ${PROJECT_SOURCE_DIR}/python/softtpu)
  set(python ${SOFTTPU_DEBIAN_USR}/lib/python3/dist-packages)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/softtpu DESTINATION ${python} COMPONENT debian-python3-softtpu EXCLUDE_FROM_ALL
          PATTERN __pycache__ EXCLUDE PATTERN _native EXCLUDE)
  file(CREATE_LINK ../../../softtpu ${debian}/_native SYMBOLIC)
  install(FILES ${debian}/_native DESTINATION ${python}/softtpu COMPONENT debian-python3-softtpu EXCLUDE_FROM_ALL)
  file(WRITE ${debian}/METADATA "Metadata-Version: 2.1\nName: softtpu\nVersion: ${PROJECT_VERSION}\nRequires-Dist: numpy\n")
  file(WRITE ${debian}/entry_points.txt "[pytest11]\nsofttpu = softtpu.pytest_plugin\n")
  install(FILES ${debian}/METADATA ${debian}/entry_points.txt DESTINATION ${python}/softtpu-${PROJECT_VERSION}.dist-info
          COMPONENT debian-python3-softtpu EXCLUDE_FROM_ALL)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME softtpu)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${SOFTTPU_MAINTAINER})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/dist)
set(CPACK_PACKAGING_INSTALL_PREFIX ${SOFTTPU_DEBIAN_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL runtime debian-softtpu development debian-softtpu-dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_SOFTTPU_PACKAGE_NAME softtpu)
set(CPACK_DEBIAN_SOFTTPU_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/okkernel)
set(CPACK_DEBIAN_SOFTTPU_DESCRIPTION "Runs host programs and kernels that were written for SOPHGO's TPUs on any
machine, bit for bit as the chip's emulator computes, and says what a kernel
does wrong. This package has the programs and libraries.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME softtpu-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "softtpu (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "gcc, pkg-config")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "What host programs and kernels are compiled with: headers of bmlib, TPUKernel
and OKKernel, and files for CMake and pkg-config.")
if(EXISTS ${PROJECT_SOURCE_DIR}/python/softtpu)
  list(APPEND CPACK_COMPONENTS_ALL debian-python3-softtpu)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-softtpu)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "softtpu (= ${PROJECT_VERSION}), softtpu-dev (= ${PROJECT_VERSION}), python3:any (>= 3.9), python3-numpy, python3-cloudpickle")
  set(CPACK_DEBIAN_PYTHON_DESCRIPTION "Launches kernels from Python and NumPy, checks and times them, and runs sweeps
over many variants.")
endif()
if(TARGET aarch64_modules)
  list(APPEND CPACK_COMPONENTS_ALL aarch64 debian-softtpu-aarch64)
  set(CPACK_DEBIAN_SOFTTPU_PACKAGE_RECOMMENDS softtpu-aarch64)
  set(CPACK_DEBIAN_AARCH64_PACKAGE_NAME softtpu-aarch64)
  # dpkg-shlibdeps does not look into programs for another processor.
  set(CPACK_DEBIAN_AARCH64_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_AARCH64_PACKAGE_DEPENDS "softtpu (= ${PROJECT_VERSION}), qemu-user | qemu-user-static, libc6-arm64-cross")
  set(CPACK_DEBIAN_AARCH64_DESCRIPTION "Runs the firmware in files of networks, and other kernel modules that are for
the processor of the chips themselves, under qemu-user.")
endif()
include(CPack)
if(TARGET aarch64_modules)
  cpack_add_component_group(aarch64)
  cpack_add_component(aarch64 GROUP aarch64)
  cpack_add_component(debian-softtpu-aarch64 GROUP aarch64)
endif()
cpack_add_component_group(softtpu)
cpack_add_component_group(development)
cpack_add_component_group(python)
cpack_add_component(runtime GROUP softtpu)
cpack_add_component(debian-softtpu GROUP softtpu)
cpack_add_component(development GROUP development)
cpack_add_component(debian-softtpu-dev GROUP development)
cpack_add_component(debian-python3-softtpu GROUP python)
