#include "device/observe/trace.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "device/memory/memories.hpp"
#include "runtime/base/log.hpp"

namespace softtpu {
namespace {

using Json = nlohmann::json;

double now_us() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(since).count();
}

// Tracks of one core: ten numbers for each, so that cores stay together.
int track(int core, Engine engine) { return core * 10 + static_cast<int>(engine); }

class Trace final : public Observer {
 public:
  explicit Trace(int file) : file_(file) { static_cast<void>(write_at(0, kEmpty)); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace() override { ::close(file_); }

  void launch_begins(const Memories&, const std::string& kernel, int core) override {
    core_ = core;
    kernel_ = kernel;
    number_ = 0;
    launch_start_ = now_us();
    for (const Engine engine : {Engine::kBdc, Engine::kGdma, Engine::kHau, Engine::kControl}) name_track(engine);
  }

  void before(Op, const Command&) override { start_ = now_us(); }

  void after(Op op, const Command& command) override {
    const double end = now_us();
    Json args = {{"command", ++number_}};
    std::uint64_t bytes = 0;
    const auto add = [&](Access, const char* name, const Operand& operand) {
      args[name] = to_text(operand);
      if (const auto* tensor = std::get_if<Tensor>(&operand)) {
        bytes += static_cast<std::uint64_t>(tensor->shape.elements() * size_of(tensor->dtype));
      }
    };
    std::visit([&](const auto& cmd) { cmd.operands(add); }, command);
    args["bytes"] = bytes;
    event(info(op).name, info(op).engine, start_, end, std::move(args));
  }

  void launch_ends(const std::string& fault) override {
    Json args = {{"commands", number_}};
    if (!fault.empty()) args["fault"] = fault;
    event(kernel_, Engine::kNone, launch_start_, now_us(), std::move(args));
  }

 private:
  void name_track(Engine engine) {
    const std::string name = fmt::format("core {} {}", core_, to_text(engine));
    append(
        {{"ph", "M"}, {"name", "thread_name"}, {"pid", 1}, {"tid", track(core_, engine)}, {"args", {{"name", name}}}});
  }
  void event(std::string_view name, Engine engine, double start, double end, Json args) {
    append({{"ph", "X"},
            {"name", name},
            {"cat", to_text(engine)},
            {"pid", 1},
            {"tid", track(core_, engine)},
            {"ts", start},
            {"dur", end - start},
            {"args", std::move(args)}});
  }
  // Writes over the closing bracket, in one call, so that the file is whole after each event, whatever the kernel does
  // to this process. The end is asked of the file, since a core that is started again goes on with what the last one
  // wrote.
  void append(const Json& item) {
    if (full_) return;
    const off_t end = ::lseek(file_, 0, SEEK_END);
    const bool first = end <= static_cast<off_t>(kEmpty.size());
    const std::string text = (first ? "\n" : ",\n") + item.dump(-1, ' ', false, Json::error_handler_t::replace) + "]\n";
    const off_t at = std::max<off_t>(end - 2, 1);
    if (write_at(at, text)) return;
    full_ = true;
    const std::string cause = std::strerror(errno);
    // Without the events that found no room it is still a whole JSON text.
    if (::ftruncate(file_, at) == 0) static_cast<void>(write_at(at, "]\n"));
    log_warning(
        fmt::format("SOFTTPU_TRACE: the trace ends before command {} of kernel \"{}\": {}", number_, kernel_, cause));
  }
  bool write_at(off_t at, std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::pwrite(file_, text.data(), text.size(), at);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      at += written;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  static constexpr std::string_view kEmpty = "[]\n";
  int file_;
  bool full_ = false;
  std::string kernel_;
  int core_ = 0;
  std::uint64_t number_ = 0;
  double start_ = 0;
  double launch_start_ = 0;
};

}  // namespace

Result<std::shared_ptr<Observer>> make_trace(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    return Error{ErrorKind::kResource,
                 fmt::format("SOFTTPU_TRACE: \"{}\" cannot be written: {}", path, std::strerror(errno))};
  }
  return std::shared_ptr<Observer>(std::make_shared<Trace>(file));
}

}  // namespace softtpu
