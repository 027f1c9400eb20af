# The build as a compiler's project has it: the chip's folders below PPL_RUNTIME_PATH, the kernels in libcmodel.so.
list(APPEND CMAKE_MODULE_PATH $ENV{PPL_RUNTIME_PATH}/scripts)
include(GenChipDef)
include($ENV{PPL_RUNTIME_PATH}/chip/${CHIP}/config_common.cmake)
include_directories(include ${KERNEL_TOP} ${TPUKERNEL_TOP}/kernel/include ${TPUKERNEL_TOP}/tpuDNN/include ${RUNTIME_TOP}/include
                    ${CUS_TOP}/dev/utils/include ${CUS_TOP}/host/include ${CHECKER} ${EXTRA_IDIRS})
link_directories(${BACKEND_LIB_PATH} ${RUNTIME_TOP}/lib ${EXTRA_LDIRS})
set(CMAKE_BUILD_RPATH ${BACKEND_LIB_PATH} ${RUNTIME_TOP}/lib)

aux_source_directory(device DEVICE_SRCS)
add_library(libcmodel SHARED ${DEVICE_SRCS} ${CUS_TOP}/dev/utils/src/ppl_helper.c)
target_compile_definitions(libcmodel PRIVATE USING_CMODEL)
target_link_libraries(libcmodel PRIVATE ${BMLIB_CMODEL_PATH} m)
target_link_options(libcmodel PRIVATE -Wl,--no-undefined)
set_target_properties(libcmodel PROPERTIES PREFIX "" SUFFIX ".so")

aux_source_directory(host HOST_SRCS)
aux_source_directory(src SRC_FILES)
add_executable(test_case ${HOST_SRCS} ${SRC_FILES})
target_compile_definitions(test_case PRIVATE KERNEL_MODULE="$<TARGET_FILE:libcmodel>")
target_link_libraries(test_case PRIVATE tpudnn ${RUNTIME_LIBS} tpu_runtime_api pthread)
add_dependencies(test_case libcmodel)
