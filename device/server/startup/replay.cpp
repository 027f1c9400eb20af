#include "device/server/startup/replay.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device/record/launch_record.hpp"
#include "device/server/startup/make_devices.hpp"
#include "runtime/base/text.hpp"
#include "runtime/module/module_image.hpp"
#include "runtime/module/module_symbols.hpp"
#include "runtime/report/report.hpp"
#include "runtime/transport/event_loop.hpp"

namespace softtpu {
namespace {

constexpr int kSame = 0, kDifferent = 1;
// The record's launch belongs to one client of the device.
constexpr std::uint64_t kClient = 1;

class Replay {
 public:
  Replay(EventLoop& loop, Device& device, const LaunchRecord& record)
      : loop_(loop), device_(device), record_(record), images_(make_images(device.memories())) {}

  // Gives the device everything that the launch begins with.
  Result<void> prepare();
  // Runs the launch to its end.
  Result<void> run();
  // What came of it, in comparison with the record; whether both are the same.
  bool report() const;

 private:
  Result<void> put(const RecordedMemory& memory);
  Result<void> put(const RecordedAllocation& allocation);
  void start(const UniqueFd& image);
  bool report_outcome() const;
  bool report_bytes() const;
  MemoryImage* find_image(const std::string& name);
  // A memory of another size than the recorded one has other places; global memory is found by address.
  bool is_comparable(const MemoryImage& image, const RecordedMemory& memory) const;
  std::string place_of(const MemoryImage& image, const MemoryImage::Difference& difference) const;

  EventLoop& loop_;
  Device& device_;
  const LaunchRecord& record_;
  std::vector<MemoryImage> images_;  // what the recorded launch left
  std::vector<std::string> left_out_;
  std::shared_ptr<LaunchQueue::Client> client_;
  Result<void> outcome_;
  bool launched_ = false;
};

MemoryImage* Replay::find_image(const std::string& name) {
  for (MemoryImage& image : images_) {
    if (image.name() == name) return &image;
  }
  return nullptr;
}

bool Replay::is_comparable(const MemoryImage& image, const RecordedMemory& memory) const {
  if (image.name() == "global") return true;
  const auto recorded = load_chip(record_.launch.chip);
  const bool same_lanes = recorded && recorded->local_bytes == device_.chip().local_bytes;
  return image.bytes() == memory.bytes && image.start() == memory.start && (image.name() != "local" || same_lanes);
}

// Both before the launch (into the memory, through the image) and afterwards (into the image alone).
Result<void> Replay::put(const RecordedMemory& memory) {
  MemoryImage* image = find_image(memory.name);
  if (image == nullptr || !is_comparable(*image, memory)) {
    if (!memory.blocks.empty()) left_out_.push_back(memory.name);
    return {};
  }
  for (const RecordedBlock& block : memory.blocks) {
    const std::uint64_t address = memory.start + block.offset;
    const std::uint64_t offset = address - image->start();
    const bool inside =
        address >= image->start() && offset < image->bytes() && block.bytes.size() <= image->bytes() - offset;
    if (!inside || offset % MemoryImage::kBlockBytes != 0) {
      return Error{
          ErrorKind::kUsage,
          fmt::format("the launch uses {} memory at 0x{:x}, where chip {} has none (0x{:x}..0x{:x})", memory.name,
                      address, device_.chip().name, image->start(), image->start() + image->bytes() - 1)};
    }
    image->set_block(offset, block.bytes);
  }
  return {};
}

Result<void> Replay::put(const RecordedAllocation& allocation) {
  if (auto taken = device_.take(allocation.address, allocation.bytes); !taken) return taken;
  HostWatch* watch = device_.observers().watch.get();
  if (watch == nullptr) return {};
  watch->allocated(kClient, allocation.address, allocation.bytes);
  watch->located(allocation.address, allocation.allocated_at);
  for (const RecordedRange& range : allocation.written)
    watch->wrote(allocation.address + range.begin, range.end - range.begin);
  return {};
}

Result<void> Replay::prepare() {
  const RecordedLaunch& launch = record_.launch;
  if (launch.core >= device_.core_count()) {
    return Error{ErrorKind::kUsage, fmt::format("the launch ran on core {}, and chip {} has {}", launch.core,
                                                device_.chip().name, device_.core_count())};
  }
  for (const RecordedAllocation& allocation : launch.allocations) {
    if (auto done = put(allocation); !done) return done;
  }
  for (const RecordedMemory& memory : record_.before) {
    if (auto done = put(memory); !done) return done;
  }
  for (const MemoryImage& image : images_) image.restore();
  left_out_.clear();
  for (const RecordedMemory& memory : record_.changed) {
    if (auto done = put(memory); !done) return done;
  }
  return {};
}

Result<void> Replay::run() {
  const RecordedLaunch& launch = record_.launch;
  auto image = copy_module_bytes(launch.image);
  if (!image) return image.error();
  if (auto good = check_module(image->get(), launch.module); !good) return good;
  HostWatch* watch = device_.observers().watch.get();
  if (watch != nullptr && watch->wants_symbols()) {
    if (auto symbols = reachable_symbols(image->get(), launch.module)) watch->loaded(launch.module, *symbols);
  }
  start(*image);
  loop_.run();
  if (launched_ || outcome_) return {};
  return outcome_.error();  // it was not even found
}

void Replay::start(const UniqueFd& image) {
  const std::uint32_t module = device_.next_module();
  client_ = device_.queue().make_client();
  const auto fail = [this](const Error& error) {
    outcome_ = error;
    loop_.stop();
  };
  device_.load(module, record_.launch.module, image, client_.get(),
               [this, module, fail](const Result<std::vector<std::string>>& kernels) {
                 if (!kernels) return fail(kernels.error());
                 const std::uint32_t function = device_.next_function();
                 device_.define(function, module, record_.launch.kernel, client_.get(),
                                [this, function, fail](const Result<void>& defined) {
                                  if (!defined) return fail(defined.error());
                                  launched_ = true;
                                  auto launch =
                                      msg::make_launch(1, function, record_.launch.kernel, record_.launch.args);
                                  launch.parts[0].core = record_.launch.core;
                                  const auto answer = [this](Result<void> outcome) {
                                    outcome_ = std::move(outcome);
                                    loop_.stop();
                                  };
                                  device_.queue().submit(client_, {std::move(launch), answer});
                                  device_.flush();
                                });
                 device_.flush();
               });
  device_.flush();
}

std::string Replay::place_of(const MemoryImage& image, const MemoryImage::Difference& difference) const {
  const std::uint64_t address = image.start() + difference.first;
  std::string text = fmt::format("{} memory 0x{:x}..0x{:x}", image.name(), address, image.start() + difference.end - 1);
  if (image.name() != "global") return text;
  for (const RecordedAllocation& allocation : record_.launch.allocations) {
    if (address < allocation.address || address - allocation.address >= allocation.bytes) continue;
    text += fmt::format(", byte {} of an allocation of {} bytes", address - allocation.address, allocation.bytes);
  }
  return text;
}

bool Replay::report_outcome() const {
  const auto& recorded = record_.outcome;
  const auto ended = [](bool ok, const std::string& text) { return ok ? "success" : "\n   " + text; };
  const bool same =
      recorded && recorded->ok == bool(outcome_) && (recorded->ok || recorded->text == outcome_.error().text);
  if (same) {
    fmt::print("the launch ended as recorded: {}\n", escape_controls(ended(recorded->ok, recorded->text)));
  } else {
    fmt::print("recorded outcome: {}\noutcome now: {}\n",
               escape_controls(recorded ? ended(recorded->ok, recorded->text) : "the kernel did not return"),
               escape_controls(ended(bool(outcome_), outcome_ ? "" : outcome_.error().text)));
  }
  // A kernel that ended its core does so again in words that name other addresses.
  return same || (!recorded && !outcome_);
}

bool Replay::report_bytes() const {
  bool same = true;
  std::uint64_t bytes = 0;
  for (const RecordedMemory& memory : record_.changed) {
    for (const RecordedBlock& block : memory.blocks) bytes += block.bytes.size();
  }
  for (const MemoryImage& image : images_) {
    bool left_out = false;
    for (const std::string& name : left_out_) left_out = left_out || name == image.name();
    const auto difference = left_out ? std::nullopt : image.compare();
    if (!difference) continue;
    same = false;
    fmt::print("{} byte{} differ{} from the recorded ones, the first at {}\n", difference->count,
               difference->count == 1 ? "" : "s", difference->count == 1 ? "s" : "", place_of(image, *difference));
  }
  for (const std::string& name : left_out_)
    fmt::print("{} memory is not compared: this chip has another\n", escape_controls(name));
  if (same)
    fmt::print("all bytes are the recorded ones ({} in the blocks that the launch changed)\n", to_size_text(bytes));
  return same;
}

bool Replay::report() const {
  const RecordedLaunch& launch = record_.launch;
  fmt::print("kernel \"{}\" of {}, launch {}, on chip {}\n", escape_controls(launch.kernel),
             escape_controls(launch.module), launch.number, escape_controls(device_.chip().name));
  const bool same = report_outcome();
  return record_.outcome ? report_bytes() && same : same;
}

int not_run(const std::string& text) {
  fmt::print(stderr, "softtpu replay: {}\n", escape_controls(text));
  return static_cast<int>(Verdict::kNotStarted);
}

}  // namespace

int run_replay(const Settings& settings, const std::string& record_file) {
  const auto record = read_launch_record(record_file);
  if (!record) return not_run(record.error().text);
  EventLoop loop;
  const auto devices = make_devices(loop, settings, {});
  if (!devices) return not_run(devices.error().text);
  Replay replay(loop, *devices->front(), *record);
  auto done = replay.prepare();
  if (done) done = replay.run();
  if (!done) return not_run(done.error().text);
  return replay.report() ? kSame : kDifferent;
}

}  // namespace softtpu
