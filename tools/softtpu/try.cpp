// softtpu try: becomes the Python package's program, where the cases' arrays are.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/softtpu/command.hpp"
#include "tools/softtpu/python.hpp"

namespace softtpu::cli {

Run add_try(CLI::App& app) {
  app.prefix_command();
  app.set_help_flag();  // Python's program explains its options
  app.allow_extras();
  return [&app] {
    std::vector<std::string> words = {"softtpu", "try"};
    const auto given = app.remaining();
    words.insert(words.end(), given.begin(), given.end());
    return become_python("try", words);
  };
}

}  // namespace softtpu::cli
