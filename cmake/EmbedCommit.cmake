# Writes one C++ source that names the commit the tree was built from (arguments: OUTPUT, SOURCE_DIR), "" where none is known. Run in
# every build, so the file only changes with the commit. SOFTTPU_COMMIT in the environment says it for a tree without its history.
set(commit "$ENV{SOFTTPU_COMMIT}")
find_program(GIT git)
if(NOT commit AND GIT AND EXISTS ${SOURCE_DIR}/.git)
  # Nothing of the checkout is run, whichever user owns it.
  execute_process(COMMAND ${GIT} -c safe.directory=* -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit MATCHES "^[0-9a-zA-Z.-]*$")
  message(FATAL_ERROR "SOFTTPU_COMMIT is no name of a commit: ${commit}")
endif()
set(text "#include \"tools/softtpu/version.hpp\"\n\nstd::string_view softtpu::cli::embedded_commit() { return \"${commit}\"; }\n")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${OUTPUT} "${text}")
endif()
