// The life of device processes as the host library and the launcher see it: where softtpu-device is, how an embedded
// one starts, where a shared one listens.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/config.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

// One of softtpu's programs: in ../bin or the folder of the library or program that holds this code, else in PATH.
Result<std::string> find_program(const std::string& name);
// softtpu-device: SOFTTPU_DEVICE_BINARY, else as find_program().
Result<std::string> find_device_binary(const Settings& settings);

// Starts a private device and returns the socket to it. The device has no name in the file system, is no child of this
// process (a program that waits for all its children would wait for ever), and ends when the socket closes or this
// process is gone. `number`: what the program calls it.
Result<UniqueFd> start_embedded_device(const Settings& settings, std::uint32_t number = 0);

// Starts softtpu-remote, which connects to the remote device of the settings, and returns the socket to it. What goes
// wrong there is its answer to the first request. The token and TLS stay out of this process, where any code may run.
Result<UniqueFd> start_remote_connection(const Settings& settings);

// $XDG_RUNTIME_DIR/softtpu, else /tmp/softtpu-UID.
std::string runtime_folder();
std::string default_socket_path();
// Makes the folder of a socket, 0700, and checks that it is a real directory of this user that no other user can write
// to.
Result<void> make_private_folder(const std::string& folder);

// "was ended by signal 11 (Segmentation fault)", "called exit(3)": what waitpid reported.
std::string to_exit_text(int wait_status);

}  // namespace softtpu
