// Server: the devices of one softtpu-device process (or of a program with linked-in kernels) and the connections to
// them. Runs on one thread, the one that calls run().
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "device/observers/device_observers.hpp"
#include "device/server/session/session.hpp"
#include "device/server/startup/gateway_link.hpp"
#include "device/server/startup/make_devices.hpp"
#include "device/server/startup/unix_socket_path.hpp"
#include "runtime/base/config.hpp"
#include "runtime/transport/event_loop.hpp"

namespace softtpu {

class Server {
 public:
  struct Options {
    DeviceOptions devices;
    bool end_with_last_client = false;
    bool is_shared() const { return devices.many_clients; }
  };
  // Makes the devices and starts their cores.
  static Result<std::unique_ptr<Server>> create(const Settings& settings, const Options& options);
  ~Server();

  // A connection that exists already (embedded, in-process).
  Result<void> adopt(UniqueFd socket);
  // Ends when the peer's process does, even if another process holds the peer's end of the socket.
  void end_with(pid_t process);
  // Listens on a Unix socket that only this user can reach. Refuses one that another server answers on.
  Result<void> listen(const std::string& path);
  // Makes the socket's name again, from now on, whenever it was removed.
  void look_after_socket();
  // Lets remote clients in, through a gateway to the socket that this server listens on. The endpoint that was bound.
  Result<std::string> open_gateway(GatewayLink::Options options);
  // Stops at SIGINT and SIGTERM: when the launches of its clients have ended, at the latest after SOFTTPU_DRAIN; at
  // once when asked again.
  void stop_on_signals();
  void run();

 private:
  explicit Server(const Options& options);
  void when_connecting();
  Result<void> open_listener();
  void close_listener();
  void end_when_idle(std::chrono::steady_clock::time_point deadline);
  void on_closed(Session& session);

  Options options_;
  EventLoop loop_;
  std::vector<std::unique_ptr<Device>> devices_;
  Session::Host host_;
  std::set<std::shared_ptr<Session>> sessions_;
  UniqueFd listener_, client_process_;
  std::string socket_path_;
  UnixSocketPath place_;
  bool warned_of_place_ = false;
  std::uint32_t drain_ms_ = 0;
  std::unique_ptr<GatewayLink> gateway_;
};

}  // namespace softtpu
