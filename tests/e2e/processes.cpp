#include "tests/e2e/processes.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace softtpu::e2e {
namespace {

namespace fs = std::filesystem;

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// A zombie has no environment left, so it does not count. Of a process that is not dumpable only root sees the
// environment; its parent's counts then.
bool carries(const fs::path& process, const std::string& mark) {
  const std::string entry = "SOFTTPU_E2E_MARK=" + mark;
  if (std::ifstream(process / "environ")) return read_text(process / "environ").find(entry) != std::string::npos;
  const std::string stat = read_text(process / "stat");
  std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string state, parent;
  fields >> state >> parent;
  return state != "Z" && is_number(parent) &&
         read_text(process.parent_path() / parent / "environ").find(entry) != std::string::npos;
}

// What /proc/PID/stat says behind the name of the process.
struct ProcessStat {
  char state = 0;
  long ticks = 0;  // of processor time
};
ProcessStat stat_of(pid_t process) {
  const std::string text = read_text(fs::path("/proc") / std::to_string(process) / "stat");
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  ProcessStat stat;
  fields >> stat.state;
  std::string skipped;
  for (int i = 0; i < 10; ++i) fields >> skipped;
  long user = 0, system = 0;
  if (fields >> user >> system) stat.ticks = user + system;
  return stat;
}

}  // namespace

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string built(const char* path) {
  return (fs::read_symlink("/proc/self/exe").parent_path().parent_path() / path).string();
}

bool is_soon_computing(pid_t process) {
  const long enough = stat_of(process).ticks + std::max(2L, ::sysconf(_SC_CLK_TCK) * 3 / 100);
  return eventually([&] { return stat_of(process).ticks >= enough; });
}

bool is_soon_asleep(pid_t process) {
  int looks = 0;
  return eventually([&] { return (looks = stat_of(process).state == 'S' ? looks + 1 : 0) == 5; });
}

void pause_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

Program::Program(const std::vector<std::string>& arguments, const Environment& environment) {
  static std::atomic<int> number{0};
  mark_ = std::to_string(::getpid()) + "-" + std::to_string(++number) + ".";
  output_path_ = (fs::temp_directory_path() / ("softtpu-e2e-" + mark_ + "txt")).string();
  std::vector<std::string> variables = {"SOFTTPU_E2E_MARK=" + mark_};
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  for (char** old = environ; *old != nullptr; ++old) {
    const std::string text = *old;
    if (!environment.contains(text.substr(0, text.find('=')))) variables.push_back(text);
  }
  std::vector<char*> argument_list, variable_list;
  for (const std::string& text : arguments) argument_list.push_back(const_cast<char*>(text.c_str()));
  for (std::string& text : variables) variable_list.push_back(text.data());
  argument_list.push_back(nullptr);
  variable_list.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  const int failed =
      ::posix_spawn(&pid_, argument_list[0], &actions, nullptr, argument_list.data(), variable_list.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " + arguments[0]);
}

Program::~Program() {
  if (status_ < 0) {
    kill(SIGKILL);
    wait();
  }
  for (const pid_t process : processes()) ::kill(process, SIGKILL);
  fs::remove(output_path_);
}

void Program::kill(int signal) const { ::kill(pid_, signal); }

int Program::wait(std::chrono::milliseconds limit) {
  int status = 0;
  if (status_ < 0 && eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, limit)) {
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return status_;
}

std::string Program::output() const { return read_text(output_path_); }

bool Program::wait_for_output(const std::string& text, std::chrono::milliseconds limit) const {
  return eventually([&] { return output().find(text) != std::string::npos; }, limit);
}

std::vector<pid_t> marked_processes(const std::string& mark, const std::string& name) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string number = entry.path().filename();
    if (!is_number(number) || !carries(entry.path(), mark)) continue;
    if (name.empty() || read_text(entry.path() / "comm") == name + "\n") found.push_back(std::stoi(number));
  }
  return found;
}

std::vector<pid_t> Program::processes(const std::string& name) const {
  auto found = marked_processes(mark_, name);
  std::erase(found, pid_);
  return found;
}

bool Program::leaves_nothing(std::chrono::milliseconds limit) const {
  return eventually([&] { return processes().empty(); }, limit);
}

}  // namespace softtpu::e2e
