#include "device/server/crash/debugger_call.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <string_view>

#include "runtime/base/log.hpp"
#include "runtime/base/own_number.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr int kLookMs = 20;

bool is_traced() {
  std::ifstream status("/proc/self/status");
  constexpr std::string_view kTracer = "TracerPid:\t";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kTracer)) return line != std::string(kTracer) + "0";
  }
  return false;
}

// Whether the listener, which holds the connection while its debugger runs, has closed it.
bool is_closed(int socket) {
  pollfd wait{socket, POLLIN, 0};
  return ::poll(&wait, 1, kLookMs) != 0;
}

}  // namespace

void DebuggerCall::make(const std::vector<KernelFunction>& kernels) {
  done_ = true;
  const auto socket = connect_unix(socket_);
  if (!socket) return log_warning(fmt::format("SOFTTPU_GDB: {}; kernels run without a debugger", socket.error().text));
  // Where the system lets only a parent attach, the debugger would not be one.
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  std::string text = fmt::format("{}", own_process_number());
  for (const KernelFunction kernel : kernels) text += fmt::format(" 0x{:x}", reinterpret_cast<std::uintptr_t>(kernel));
  text += "\n";
  bool closed = ::send(socket->get(), text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size());
  while (!closed && !is_traced()) closed = is_closed(socket->get());
  if (closed && !is_traced()) log_warning("SOFTTPU_GDB: the debugger did not attach; kernels run without it");
}

}  // namespace softtpu
