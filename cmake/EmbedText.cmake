# Writes one C++ source with a function that returns the text of files by name (arguments: OUTPUT, HEADER, FUNCTION, FILES).
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND entries "  if (name == \"${name}\") return R\"embedded(${text})embedded\";\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nstd::string_view ${FUNCTION}(std::string_view name) {\n${entries}  return {};\n}\n")
