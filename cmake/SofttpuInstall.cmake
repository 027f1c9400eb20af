# `cmake --install`: a tree that works wherever it is moved (run paths, CMake package and pkg-config files are relative).
# Two components: runtime (programs and libraries; what names none), and development (headers, CMake and pkg-config files).
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME runtime)

set(SOFTTPU_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/softtpu)
set(SOFTTPU_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH SOFTTPU_BIN_TO_LIB /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
file(RELATIVE_PATH SOFTTPU_PKGCONFIG_TO_PREFIX /prefix/${SOFTTPU_PKGCONFIG_DIR} /prefix)

set_target_properties(bmlib PROPERTIES EXPORT_NAME bmlib INSTALL_RPATH $ORIGIN)
set_target_properties(cmodel_firmware PROPERTIES EXPORT_NAME firmware INSTALL_RPATH $ORIGIN)
set_target_properties(softtpu_layout PROPERTIES EXPORT_NAME layout INSTALL_RPATH $ORIGIN)
set_target_properties(bmrt PROPERTIES EXPORT_NAME bmrt INSTALL_RPATH $ORIGIN)
set_target_properties(bmcv PROPERTIES EXPORT_NAME bmcv INSTALL_RPATH $ORIGIN)
set_target_properties(softtpu_client PROPERTIES EXPORT_NAME client INSTALL_RPATH $ORIGIN)
foreach(library tpuv7_rt tpuv7_modelrt tpudnn tpu_runtime_api)
  set_target_properties(${library} PROPERTIES INSTALL_RPATH $ORIGIN)
endforeach()
install(TARGETS softtpu_client bmlib bmrt bmcv tpuv7_rt tpuv7_modelrt tpudnn tpu_runtime_api cmodel_firmware softtpu_layout EXPORT softtpu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(program softtpu softtpu-device softtpu-remote)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH $ORIGIN/${SOFTTPU_BIN_TO_LIB})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/firmware/include/ ${PROJECT_SOURCE_DIR}/host/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h")

install(FILES ${PROJECT_SOURCE_DIR}/tools/softtpu/gdb/softtpu.py DESTINATION ${CMAKE_INSTALL_DATADIR}/softtpu/gdb)

# For `softtpu sdk tpu-mlir`.
set_target_properties(cmodel_bm1684x PROPERTIES INSTALL_RPATH $ORIGIN)
install(TARGETS cmodel_bm1684x LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# For `softtpu golden`.
set_target_properties(softtpu_golden_kernel PROPERTIES INSTALL_RPATH $ORIGIN)
install(TARGETS softtpu_golden_kernel LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# For libbmrt.
set_target_properties(softtpu_dynamic PROPERTIES INSTALL_RPATH $ORIGIN)
install(TARGETS softtpu_dynamic LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# Kept for `softtpu sdk okkernel`.
install(TARGETS okkernel_bmlib LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/okkernel)
set(SOFTTPU_OKKERNEL_LINK ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/okkernel/libbmlib_okkernel.so)
install(FILES ${SOFTTPU_OKKERNEL_LINK} DESTINATION ${CMAKE_INSTALL_LIBDIR}/okkernel)
# The OKKernel SDK's tree by itself: cmake --install BUILD --component okkernel --prefix DIR.
install(TARGETS okkernel_bmlib LIBRARY DESTINATION lib/cmodel COMPONENT okkernel EXCLUDE_FROM_ALL)
install(FILES ${SOFTTPU_OKKERNEL_LINK} DESTINATION lib/cmodel COMPONENT okkernel EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/firmware/include/okk.h ${PROJECT_SOURCE_DIR}/firmware/include/bm_atomic.h ${PROJECT_SOURCE_DIR}/host/include/bmlib_runtime.h
        DESTINATION include COMPONENT okkernel EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/firmware/include/softtpu/kernel_common.h
        DESTINATION include/softtpu COMPONENT okkernel EXCLUDE_FROM_ALL)

install(EXPORT softtpu NAMESPACE softtpu:: FILE softtpuTargets.cmake DESTINATION ${SOFTTPU_CMAKE_DIR} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/softtpuConfig.cmake.in ${PROJECT_BINARY_DIR}/softtpuConfig.cmake
                              INSTALL_DESTINATION ${SOFTTPU_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/softtpuConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/softtpuConfig.cmake ${PROJECT_BINARY_DIR}/softtpuConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/SofttpuKernel.cmake
        DESTINATION ${SOFTTPU_CMAKE_DIR} COMPONENT development)

# softtpu_pkgconfig(NAME DESCRIPTION LIBRARY [FOLDER]): one .pc file for a library of the tree; FOLDER below include/ has its headers.
function(softtpu_pkgconfig name description library)
  set(PC_INCLUDE "")
  if(ARGN)
    set(PC_INCLUDE " -I\${includedir}/${ARGN}")
  endif()
  set(PC_NAME ${name})
  set(PC_DESCRIPTION ${description})
  set(PC_LIBRARY ${library})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/library.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${SOFTTPU_PKGCONFIG_DIR} COMPONENT development)
  set(SOFTTPU_PC_FILES ${SOFTTPU_PC_FILES} ${PROJECT_BINARY_DIR}/${name}.pc PARENT_SCOPE)
endfunction()
softtpu_pkgconfig(bmlib "Host runtime of softtpu (bmlib_runtime.h)" bmlib)
softtpu_pkgconfig(bmrt "Runtime of compiled networks of softtpu (bmruntime_interface.h)" "bmrt -lbmlib")
softtpu_pkgconfig(tpuv7_rt "Host runtime of newer chips (tpuv7_rt.h)" tpuv7_rt tpuv7)
softtpu_pkgconfig(tpuv7_modelrt "Compiled networks in streams of tpuv7_rt (tpuv7_modelrt.h)" "tpuv7_modelrt -ltpuv7_rt" tpuv7)
softtpu_pkgconfig(tpudnn "Kernel launches by name (tpuDNN.h)" tpudnn tpudnn)
softtpu_pkgconfig(tpu_runtime_api "Host runtime of all chips (tpu_runtime_api.h)" tpu_runtime_api tpu_runtime_api)
softtpu_pkgconfig(cmodel_firmware "Kernel functions of softtpu (tpu_kernel.h, okk.h)" cmodel_firmware)
softtpu_pkgconfig(softtpu_layout "Layouts of convolution weights (softtpu/layout.h)" softtpu_layout)
