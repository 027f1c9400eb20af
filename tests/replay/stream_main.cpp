// Replays recorded instructions without the rest of the program softtpu: for quick loops.
#include <CLI/CLI.hpp>

#include "tools/golden/instructions.hpp"
#include "tools/golden/session.hpp"

int main(int argc, char** argv) {
  using namespace softtpu::golden;
  InstructionOptions options;
  std::vector<std::string> paths;
  CLI::App app{"Replays recorded instructions."};
  app.add_option("path", paths, "files (*.json) of instructions, or folders of them")->required();
  app.add_option("--cases", options.cases, "folder of the recorded cases behind api/*.json");
  app.add_option("-f,--filter", options.filter, "only cases whose id contains this");
  app.add_option("-n,--note", options.note, "only cases with this note");
  app.add_option("--failures", options.shown_failures, "failures shown for each format and function");
  app.add_flag("--skipped", options.list_known, "list what is known to differ");
  app.add_option("--write", options.write_list,
                 "append what differs to this file, as a list like known_instructions.txt");
  CLI11_PARSE(app, argc, argv);
  const auto files = find_families(paths);
  if (files) {
    for (const std::string& file : *files)
      if (holds_instructions(file)) options.files.push_back(file);
  }
  return !options.files.empty() && run_instructions(options).total.failed == 0 ? 0 : 1;
}
