# softtpu_add_kernel(NAME SOURCE...): a kernel module (NAME.so) from C or C++ files, for tpu_kernel_load_module_file().
#
# Functions of the module are visible, because programs look kernels up by their C names as well. It has debug information,
# so that messages name lines; -g0 among the target's options leaves it out.
function(softtpu_add_kernel name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE softtpu::firmware m)
  target_link_options(${name} PRIVATE -Wl,--no-undefined)
  target_compile_definitions(${name} PRIVATE USING_CMODEL)
  target_compile_options(${name} PRIVATE -g -fsigned-char -ffp-contract=off)
  set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET default CXX_VISIBILITY_PRESET default)
endfunction()
