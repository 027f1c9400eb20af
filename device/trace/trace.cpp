#include "device/trace/trace.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "device/core/call_site.hpp"
#include "device/memory/memories.hpp"
#include "device/trace/shared_file.hpp"
#include "device/trace/trace_tracks.hpp"

namespace softtpu {
namespace {

using Json = nlohmann::json;

double now_us() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(since).count();
}

class Trace final : public Observer {
 public:
  Trace(std::unique_ptr<SharedFile> file, std::uint32_t device)
      : file_(std::move(file)), device_(device), tracks_(device) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    tracks_ = TraceTracks(device_, core);
    kernel_ = kernel;
    number_ = 0;
    launch_start_ = now_us();
    if (named_) return;
    named_ = true;
    file_->append_elements(tracks_.names(memories.chip()), "its first launch");
  }

  void before(Op, const Command&) override { start_ = now_us(); }

  void after(Op op, const Command& command) override {
    const double end = now_us();
    Json args = {{"command", ++number_}};
    const CallStack stack = capture_call_stack();
    if (const std::string& at = place_of(stack); !at.empty()) args["at"] = at;
    std::uint64_t bytes = 0;
    Json written = Json::array();
    const auto add = [&](Access access, const char* name, const Operand& operand) {
      args[name] = to_text(operand);
      if (access != Access::kRead) written.push_back(name);
      if (const auto* tensor = std::get_if<Tensor>(&operand)) {
        bytes += static_cast<std::uint64_t>(tensor->shape.elements() * size_of(tensor->dtype));
      }
    };
    for_each_operand(command, add);
    args["bytes"] = bytes;
    args["writes"] = std::move(written);
    event(call_name(op, stack), to_text(info(op).engine), tracks_.engine(info(op).engine), start_, end,
          std::move(args));
  }

  void launch_ends(const std::string& fault) override {
    Json args = {{"commands", number_}};
    if (!fault.empty()) args["fault"] = fault;
    event(kernel_, "launch", tracks_.launches(), launch_start_, now_us(), std::move(args));
  }

 private:
  // Finding a source line takes milliseconds, so each place is looked up once.
  const std::string& place_of(const CallStack& stack) {
    // No code has issued it: an instruction of a network, say.
    if (stack.count == 0) return instruction_ = stack.step;
    std::vector<const void*> frames(stack.frames.begin(), stack.frames.begin() + stack.count);
    const auto [place, is_new] = places_.emplace(std::move(frames), std::string());
    if (is_new) place->second = find_caller(stack).text();
    return place->second;
  }

  // Each event at once, so that the file is whole whatever the kernel does to this process next.
  void event(std::string_view name, std::string_view kind, int track, double start, double end, Json args) {
    const Json item = {{"ph", "X"},    {"name", name}, {"cat", kind},        {"pid", tracks_.process()},
                       {"tid", track}, {"ts", start},  {"dur", end - start}, {"args", std::move(args)}};
    file_->append_elements(item.dump(-1, ' ', false, Json::error_handler_t::replace),
                           fmt::format("command {} of kernel \"{}\"", number_, kernel_));
  }

  std::unique_ptr<SharedFile> file_;
  const std::uint32_t device_;
  TraceTracks tracks_;
  bool named_ = false;
  std::map<std::vector<const void*>, std::string> places_;
  std::string instruction_;
  std::string kernel_;
  std::uint64_t number_ = 0;
  double start_ = 0;
  double launch_start_ = 0;
};

}  // namespace

Result<std::shared_ptr<Observer>> make_trace(const std::string& path, std::uint32_t device, bool keep) {
  auto file = SharedFile::create("SOFTTPU_TRACE", path, SharedFile::Content::kJsonArray, keep);
  if (!file) return file.error();
  return std::shared_ptr<Observer>(std::make_shared<Trace>(*std::move(file), device));
}

}  // namespace softtpu
