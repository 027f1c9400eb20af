// Where the libraries' messages go: to standard error, or to the program's callback, up to a level. One for all
// libraries of a program.
#pragma once

#include <cstdarg>
#include <string>

#pragma GCC visibility push(default)
namespace softtpu::host {

using LogCallback = void (*)(const char* tag, int level, const char* format, va_list args);

// Levels as in bmlib_log_set_level(); at the start BMLIB_LOG.
int log_level();
void set_log_level(int level);
void set_log_callback(LogCallback callback);

// One line, unless the level keeps it back. `tag` is the library that speaks.
void write_log(const char* tag, int level, const char* format, va_list args);
void write_log(const char* tag, int level, const std::string& line);

// A function that does its work through functions of another library: while this lives, their messages carry its name.
class CalledAs {
 public:
  explicit CalledAs(const char* function);
  ~CalledAs();
  CalledAs(const CalledAs&) = delete;
  CalledAs& operator=(const CalledAs&) = delete;

 private:
  bool outermost_;
};
// The function that the program called on this thread, which is `own` unless it came through another one.
const char* called_function(const char* own);

}  // namespace softtpu::host
#pragma GCC visibility pop
