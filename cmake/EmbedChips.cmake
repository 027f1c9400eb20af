# Writes one C++ source with the text of each chip description (arguments: OUTPUT, FILES).
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"chip_json(${text})chip_json\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"device/chip/builtin.hpp\"\n\nnamespace softtpu {\n\nconst std::vector<BuiltinChip>& builtin_chips() {\n  static const std::vector<BuiltinChip> chips = {\n${entries}  };\n  return chips;\n}\n\n}  // namespace softtpu\n")
