# Writes one C++ source with the text of each file (arguments: OUTPUT, FILES, HEADER that declares FUNCTION).
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"chip_json(${text})chip_json\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nnamespace softtpu {\n\nconst std::vector<BuiltinChip>& ${FUNCTION}() {\n  static const std::vector<BuiltinChip> files = {\n${entries}  };\n  return files;\n}\n\n}  // namespace softtpu\n")
