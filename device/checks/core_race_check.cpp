#include "device/checks/core_race_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "device/checks/describe.hpp"
#include "device/command/instruction_scope.hpp"
#include "device/core/call_site.hpp"
#include "device/core/launch_page.hpp"
#include "device/core/own_messages.hpp"
#include "device/footprint/runs.hpp"
#include "device/memory/memories.hpp"
#include "device/memory/shared_bytes.hpp"
#include "runtime/base/text.hpp"

namespace softtpu {
namespace {

constexpr int kPages = 65;  // as a position counts them, from 1
// Accesses that are not ordered with all cores yet; of more, the oldest are forgotten.
constexpr std::size_t kMostRecords = 2048;

// How much each core has done before a point in time. It counts what it tells others: sends, meetings, releases.
using Clock = std::array<std::uint32_t, kMostCores>;

void join(Clock& clock, const Clock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

template <std::size_t kBytes>
void put_text(std::array<char, kBytes>& place, std::string_view text) {
  const std::size_t length = std::min(text.size(), kBytes - 1);
  std::memcpy(place.data(), text.data(), length);
  place[length] = '\0';
}

// A call as the other cores, which have its code elsewhere, can name it.
struct Site {
  std::array<char, 200> path{};
  std::array<char, 60> function{};
  int line = 0;

  static Site of(const SourceLine& place) {
    Site site;
    put_text(site.path, place.path);
    put_text(site.function, place.function);
    site.line = place.line;
    return site;
  }
  std::vector<std::string> to_stack() const {
    const std::string function_name(function.data());
    if (path[0] == '\0') return {function_name};
    return {fmt::format("{}:{} ({})", path.data(), line, function_name)};
  }
};

// What a core has done to bytes that others see.
struct Record {
  std::uint64_t begin = 0, end = 0;  // all of its bytes lie here
  std::uint32_t tick = 0;            // of its core
  std::uint16_t core = 0;
  Op op{};
  bool writes = false;
  std::optional<std::uint64_t> written;  // a hash of what an instruction of a network has stored there
  std::array<char, 16> operand{};
  Tensor tensor;
  Site site;
};

struct Point {
  Clock clock{};
  std::uint32_t generation = 0;
  int count = 0, core = 0;
  Op op{};
  Site site;
};

// One launch's part of what the cores share.
struct Board {
  std::atomic<int> lock{0};  // of what follows
  // A network's instruction stores: what it has stored is looked at before another one does.
  std::atomic<int> storing{0};
  std::uint32_t serial = 0;  // of the launch
  int ended = 0;             // cores, each once for each group
  std::uint64_t count = 0;   // of records
  // Where they are, the oldest first, and behind them what is free: records are large and stay where they are.
  std::array<std::uint16_t, kMostRecords> places;
  std::array<Record, kMostRecords> records;
  std::array<Clock, kMostCores> known;  // what each core knows
  std::array<Point, kMostMessages> messages;
  std::array<std::array<Point, 2>, LaunchPage::kBarriers> barriers;  // of two meetings one after the other
  std::array<Clock, kMostLocks> locks;
};

class BoardLock {
 public:
  explicit BoardLock(Board& board) : BoardLock(board.lock) {}
  explicit BoardLock(std::atomic<int>& taken) : taken_(taken) {
    // A core that was ended here ends its launch too: no core waits long.
    for (int i = 0; taken_.exchange(1) != 0 && i < 200'000; ++i) std::this_thread::yield();
  }
  ~BoardLock() { taken_ = 0; }
  BoardLock(const BoardLock&) = delete;
  BoardLock& operator=(const BoardLock&) = delete;

 private:
  std::atomic<int>& taken_;
};

using Spans = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

class CoreRaceCheck final : public Observer {
 public:
  CoreRaceCheck(std::shared_ptr<Findings> findings, SharedBytes boards)
      : findings_(std::move(findings)), boards_(std::move(boards)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    chip_ = &memories.chip();
    memories_ = &memories;
    launch_ = running_launch();
    board_ = nullptr;
    if (launch_.page == nullptr || launch_.page_number >= kPages) return;
    findings_->begin(kernel, core);
    board_ = reinterpret_cast<Board*>(boards_.data()) + launch_.page_number;
    const BoardLock lock(*board_);
    if (board_->serial != launch_.page->serial()) forget();
    if (launch_.group > 0) return;  // goes on where the group before has ended
    arrivals_.clear();
    own_ = {};
    own_[me()] = 1;
    board_->known[me()] = own_;
  }

  void before(Op op, const Command& command) override {
    const auto* control = std::get_if<ControlCmd>(&command);
    if (board_ == nullptr) return;
    if (control == nullptr) {
      if (submits_instructions() && stores(command)) storing_.emplace(board_->storing);
      return;
    }
    if (is_own_message(control->message)) return;
    if (control->action == ControlAction::kSendMessage) {
      const Site site = here();
      const BoardLock lock(*board_);
      Point& point = board_->messages[at(control->message, kMostMessages)];
      join(point.clock, own_);
      point.op = op;
      point.core = launch_.workitem;
      point.site = site;
      ++own_[me()];
    } else if (control->action == ControlAction::kReleaseLock) {
      const BoardLock lock(*board_);
      board_->locks[at(control->message, kMostLocks)] = own_;
      ++own_[me()];
    } else if (control->action == ControlAction::kSync && control->count != 0) {
      arrive(op, *control);
    }
  }

  void after(Op op, const Command& command) override {
    if (board_ == nullptr) return;
    const auto* control = std::get_if<ControlCmd>(&command);
    if (control == nullptr) {
      touch_all(op, command);
      storing_.reset();
      return;
    }
    if (is_own_message(control->message)) return;
    const BoardLock lock(*board_);
    if (control->action == ControlAction::kWaitMessage) {
      join(own_, board_->messages[at(control->message, kMostMessages)].clock);
    } else if (control->action == ControlAction::kAcquireLock) {
      join(own_, board_->locks[at(control->message, kMostLocks)]);
    } else if (control->action == ControlAction::kSync && control->count != 0) {
      join(own_, barrier_of(control->message).clock);
    }
    board_->known[me()] = own_;
  }

  void launch_ends(const std::string& fault) override {
    if (board_ == nullptr) return;
    bool last = false;
    {
      const BoardLock lock(*board_);
      last = ++board_->ended == launch_.workitems * launch_.groups;
      if (launch_.group + 1 == launch_.groups) board_->known[me()].fill(~0U);  // it touches nothing any more
    }
    if (last && fault.empty() && !launch_.page->is_over()) report_unawaited();
    findings_->report();
    board_ = nullptr;
  }

 private:
  static std::size_t at(int number, int count) {
    return number >= 0 && number < count ? static_cast<std::size_t>(number) : 0;
  }
  std::size_t me() const { return at(launch_.workitem, kMostCores); }
  static Site here() { return Site::of(find_caller(capture_call_stack())); }

  // The first core of another launch is here.
  void forget() {
    board_->serial = launch_.page->serial();
    board_->ended = 0;
    board_->count = 0;
    std::iota(board_->places.begin(), board_->places.end(), std::uint16_t{0});
    board_->known = {};
    for (Point& point : board_->messages) point = {};
    for (auto& both : board_->barriers) both = {};
    board_->locks = {};
  }

  // ---- What orders cores ----

  Point& barrier_of(int barrier) {
    const std::uint32_t arrivals = arrivals_[barrier];
    return board_->barriers[at(barrier, LaunchPage::kBarriers)][arrivals % 2];
  }

  void arrive(Op op, const ControlCmd& control) {
    const Site site = here();
    const std::uint32_t generation = ++arrivals_[control.message];
    const int count = control.count == kAllCores ? launch_.workitems : control.count;
    std::optional<Finding> wrong;
    {
      const BoardLock lock(*board_);
      Point& point = barrier_of(control.message);
      if (point.generation != generation) point = {{}, generation, count, launch_.workitem, op, site};
      if (point.count != count) wrong = unlike_counts(point, op, count);
      join(point.clock, own_);
      ++own_[me()];
    }
    if (wrong) findings_->add(*wrong);
  }

  Finding unlike_counts(const Point& first, Op op, int count) const {
    Finding finding;
    finding.rule = "cores/barrier-count";
    finding.what = fmt::format("cores disagree on how many of them meet: core {} expects {} cores, core {} expects {}",
                               first.core, first.count, launch_.workitem, count);
    Party other;
    other.function = info(first.op).name;
    other.text = fmt::format("{} of core {} for {} cores", other.function, first.core, first.count);
    other.stack = first.site.to_stack();
    Party own;
    own.function = info(op).name;
    own.text = fmt::format("{} of core {} for {} cores", own.function, launch_.workitem, count);
    own.called_from = capture_call_stack();
    finding.calls = {other, own};
    return finding;
  }

  void report_unawaited() {
    for (int id = 0; id < kMostMessages; ++id) {
      const auto sent = launch_.page->find_unawaited(id);
      if (!sent) continue;
      const Point& point = board_->messages[at(id, kMostMessages)];
      Finding finding;
      finding.rule = "cores/unawaited-message";
      finding.what = fmt::format("message {} was sent for {} wait{}, and {} ha{} come when the launch ended", id,
                                 sent->wanted, sent->wanted == 1 ? "" : "s", sent->come, sent->come == 1 ? "s" : "ve");
      Party sender;
      sender.function = info(point.op).name;
      sender.text = fmt::format("{} of core {} sends it", sender.function, point.core);
      sender.stack = point.site.to_stack();
      finding.calls = {sender};
      findings_->add(finding);
    }
  }

  // ---- What cores touch ----

  void touch_all(Op op, const Command& command) {
    for_each_tensor(command, [&](std::uint32_t, Access access, const char* name, const Tensor& tensor) {
      if (access != Access::kWrite) touch(op, name, false, tensor);
      if (access != Access::kRead) touch(op, name, true, tensor);
    });
  }

  // Into memory that the cores share.
  static bool stores(const Command& command) {
    bool found = false;
    for_each_tensor(command, [&](std::uint32_t, Access access, const char*, const Tensor& tensor) {
      found = found || (access != Access::kRead && tensor.space == Space::kSystem);
    });
    return found;
  }

  Spans spans_of(const Tensor& tensor) const {
    Spans spans;
    const TensorRuns& all = runs_of(*chip_, tensor);
    if (all.space != SpanSpace::kSystem) return spans;
    for (const LaneRun& run : all.runs) spans.emplace_back(run.begin, run.end);
    return spans;
  }

  std::uint64_t hash_of(const Spans& spans) const {
    std::uint64_t hash = 0;
    for (const auto& [begin, end] : spans) {
      const std::uint8_t* data = memories_->find_system(begin, end - begin).data;
      const std::string_view bytes(reinterpret_cast<const char*>(data), data == nullptr ? 0 : end - begin);
      hash = hash * 31 + std::hash<std::string_view>()(bytes);
    }
    return hash;
  }

  // Where compilers give all cores the same work, each of them stores the same bytes: no order changes them.
  static bool store_the_same(const Record& a, const Record& b) {
    return a.written && a.written == b.written && a.tensor == b.tensor;
  }

  void touch(Op op, const char* name, bool writes, const Tensor& tensor) {
    if (tensor.space != Space::kSystem) return;
    const Spans spans = spans_of(tensor);
    if (spans.empty()) return;
    Record own;
    own.begin = spans.front().first;
    for (const auto& [begin, end] : spans) own.end = std::max(own.end, end);
    own.core = static_cast<std::uint16_t>(launch_.workitem);
    own.op = op;
    own.writes = writes;
    if (writes && submits_instructions()) own.written = hash_of(spans);
    own.tensor = tensor;
    put_text(own.operand, name);
    own.site = here();
    std::vector<Finding> found;
    {
      const BoardLock lock(*board_);
      own.tick = own_[me()];
      drop_ordered();
      for (std::uint64_t i = 0; i < board_->count; ++i) {
        const Record& other = board_->records[board_->places[i]];
        if (other.core == own.core || !(other.writes || writes)) continue;
        if (other.end <= own.begin || own.end <= other.begin) continue;
        if (own_[other.core] >= other.tick) continue;  // something orders them
        if (store_the_same(own, other)) continue;
        if (const auto byte = common_byte(spans, spans_of(other.tensor))) found.push_back(race(other, own, *byte));
      }
      auto& places = board_->places;
      if (board_->count == kMostRecords) {
        std::rotate(places.begin(), places.begin() + 1, places.end());
        --board_->count;
      }
      board_->records[places[board_->count++]] = own;
    }
    for (const Finding& finding : found) findings_->add(finding);
  }

  // What every core in the launch knows of can race with nothing any more.
  void drop_ordered() {
    if (board_->count == 0) return;
    Clock all;
    all.fill(~0U);
    for (int core = 0; core < launch_.workitems; ++core) {
      const Clock& known = board_->known[at(core, kMostCores)];
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::min(all[i], known[i]);
    }
    std::uint64_t kept = 0;
    auto& places = board_->places;
    for (std::uint64_t i = 0; i < board_->count; ++i) {
      const Record& record = board_->records[places[i]];
      if (all[record.core] < record.tick) std::swap(places[kept++], places[i]);
    }
    board_->count = kept;
  }

  // Where sorted spans of both begin to overlap.
  static std::optional<std::uint64_t> common_byte(const Spans& a, const Spans& b) {
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      const std::uint64_t begin = std::max(a[i].first, b[j].first);
      if (begin < std::min(a[i].second, b[j].second)) return begin;
      a[i].second < b[j].second ? ++i : ++j;
    }
    return std::nullopt;
  }

  Finding race(const Record& earlier, const Record& own, std::uint64_t byte) const {
    Finding finding;
    finding.rule = !own.writes ? "race/core-raw" : earlier.writes ? "race/core-waw" : "race/core-war";
    finding.place = place_of(*chip_, SpanSpace::kSystem, byte, std::min(earlier.end, own.end));
    finding.what = fmt::format("core {} and core {} touch the same bytes with no barrier or message between them: {}",
                               earlier.core, own.core, finding.place->text());
    finding.calls = {party(earlier, byte), party(own, byte)};
    return finding;
  }

  Party party(const Record& record, std::uint64_t byte) const {
    const CallOperand call{record.op, record.operand.data(), record.writes, &record.tensor};
    Party result = party_of(*chip_, call, SpanSpace::kSystem, byte, {});
    result.text = fmt::format("core {}: {}", record.core, result.text);
    result.stack = record.site.to_stack();
    return result;
  }

  std::shared_ptr<Findings> findings_;
  SharedBytes boards_;
  const Chip* chip_ = nullptr;
  const Memories* memories_ = nullptr;
  RunningLaunch launch_;
  Board* board_ = nullptr;            // null: this launch has one core
  std::optional<BoardLock> storing_;  // while an instruction stores
  Clock own_{};
  std::map<int, std::uint32_t> arrivals_;  // at each barrier
};

}  // namespace

Result<std::shared_ptr<Observer>> make_core_race_check(std::shared_ptr<Findings> findings, const Chip& chip) {
  static_cast<void>(chip);
  auto boards = SharedBytes::create(kPages * sizeof(Board));
  if (!boards) return boards.error();
  return std::shared_ptr<Observer>(std::make_shared<CoreRaceCheck>(std::move(findings), std::move(*boards)));
}

}  // namespace softtpu
