# softtpu_add_kernel(NAME [CHIP CHIP] SOURCE...): a kernel module (NAME.so) from C or C++ files, for tpu_kernel_load_module_file().
#
# CHIP is one whose headers number data types otherwise than those of BM1684X do: bm1684x2.
# Functions of the module are visible, because programs look kernels up by their C names as well. It has debug information,
# so that messages name lines; -g0 among the target's options leaves it out.
function(softtpu_add_kernel name)
  cmake_parse_arguments(PARSE_ARGV 1 kernel "" "CHIP" "")
  add_library(${name} MODULE ${kernel_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE softtpu::firmware m)
  target_link_options(${name} PRIVATE -Wl,--no-undefined)
  target_compile_definitions(${name} PRIVATE USING_CMODEL)
  if(kernel_CHIP)
    target_compile_definitions(${name} PRIVATE __${kernel_CHIP}__)
  endif()
  target_compile_options(${name} PRIVATE -g -fsigned-char -ffp-contract=off)
  set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET default CXX_VISIBILITY_PRESET default)
endfunction()
