#include "host/client/caught.hpp"

#include <atomic>
#include <cstdarg>
#include <exception>
#include <new>
#include <stdexcept>

#include "bmlib_runtime.h"
#include "host/client/log_sink.hpp"

namespace softtpu {
namespace {

std::atomic<CaughtObserver> caught_observer{nullptr};

void write_formatted(const char* format, ...) {
  va_list args;
  va_start(args, format);
  host::write_log("softtpu", BMLIB_LOG_ERROR, format, args);
  va_end(args);
}

void tell(const char* function, const char* text) {
  const char* const name = host::called_function(function);
  if (const CaughtObserver observe = caught_observer.load()) observe(name, text);
  write_formatted("%s: %s\n", name, text);
}

}  // namespace

void set_caught_observer(CaughtObserver observer) { caught_observer.store(observer); }

Caught caught(const char* function) noexcept {
  bool no_memory = false;
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      no_memory = true;
      tell(function, "the program has no memory left for this call; it did not happen, or not to its end");
    } catch (const std::length_error& error) {
      no_memory = true;
      tell(function, error.what());
    } catch (const std::exception& error) {
      tell(function, error.what());
    }
  } catch (...) {  // the message itself needs memory, or what was thrown says nothing: the status is all there is
  }
  return Caught(no_memory);
}

}  // namespace softtpu
