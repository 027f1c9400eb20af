// softtpu serve: becomes softtpu-device, which holds the server and inherits what the options have set.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device/server/startup/check_settings.hpp"
#include "device/server/startup/setting_options.hpp"
#include "runtime/process/device_process.hpp"
#include "tools/softtpu/command.hpp"

namespace softtpu::cli {
namespace {

struct ServeOptions {
  std::string socket;
  std::uint32_t devices = 1;
  bool daemon = false;
  std::string tcp, certificate, key, token;
};

int run(const ServeOptions& options) {
  auto settings = read_settings();
  if (!settings) return fail(settings.error());
  if (auto good = check_device_settings(*settings); !good) return fail(good.error());
  auto binary = find_device_binary(*settings);
  if (!binary) return fail(binary.error());
  std::vector<std::string> words = {"softtpu-device", "--serve", "--devices", std::to_string(options.devices)};
  if (!options.socket.empty()) words.insert(words.end(), {"--socket", options.socket});
  for (const auto& [option, value] :
       {std::pair("--tcp", &options.tcp), std::pair("--tls-cert", &options.certificate),
        std::pair("--tls-key", &options.key), std::pair("--token-file", &options.token)}) {
    if (!value->empty()) words.insert(words.end(), {option, *value});
  }
  if (options.daemon) words.emplace_back("--daemon");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(binary->c_str(), arguments.data());
  return fail((*binary + ": " + std::strerror(errno)).c_str());
}

}  // namespace

Run add_serve(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  app.add_option("--devices", options->devices, "number of devices")->check(CLI::Range(1, 64))->capture_default_str();
  app.add_option("--socket", options->socket, "path of the socket (default: $XDG_RUNTIME_DIR/softtpu/device.sock)");
  app.add_flag("--daemon", options->daemon, "return once the socket is ready; stop it with SIGTERM to the printed pid");
  app.add_option("--tcp", options->tcp,
                 "HOST:PORT where remote clients are let in, with TLS and a token only (port 0: any free one)");
  app.add_option("--tls-cert", options->certificate, "certificate chain for --tcp (PEM)");
  app.add_option("--tls-key", options->key, "the certificate's key (PEM), readable by its owner only");
  app.add_option("--token-file", options->token,
                 "file with the token (16 to 1024 bytes) that remote clients show; same");
  add_setting_options(app, SettingUser::kServer);
  app.footer(
      "Findings of the checks (--check) go to the program that caused them.\n"
      "Exit status: 0 after SIGTERM or Ctrl-C; 1 when the device cannot be served; 2 when an option is not usable.");
  return [options] { return run(*options); };
}

}  // namespace softtpu::cli
