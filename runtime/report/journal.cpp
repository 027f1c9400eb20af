#include "runtime/report/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "runtime/base/json_tree.hpp"
#include "runtime/base/own_number.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<FailureKind, std::string_view>, 6> kFailureNames = {
    {{FailureKind::kUsage, "usage"},
     {FailureKind::kCrash, "crash"},
     {FailureKind::kTimeout, "time limit"},
     {FailureKind::kUnsupported, "unsupported"},
     {FailureKind::kResource, "resource"},
     {FailureKind::kInternal, "internal"}}};

Error file_error(const std::string& path) {
  return Error{ErrorKind::kResource, fmt::format("journal \"{}\": {}", path, std::strerror(errno))};
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string id_text(std::uint64_t id) { return fmt::format("{}:{}", own_process_number(), id); }

FailureKind to_failure_kind(std::string_view text) {
  for (const auto& [kind, name] : kFailureNames) {
    if (name == text) return kind;
  }
  return FailureKind::kInternal;
}

// The same in all processes of a run.
std::uint64_t key_number(const ReportedFinding& found) { return std::hash<std::string>()(fold_key(found)); }

}  // namespace

// What the entries of a journal add up to.
class EntryReader {
 public:
  // A line that was damaged is left out, as one that was cut short is.
  void take(const Json& entry) {
    if (!entry.is_object()) return;
    try {
      take_whole(entry);
    } catch (const Json::exception&) {
    }
  }
  // What has come since the last time.
  JournalContents take_contents() {
    for (const ReportedFinding& found : contents.found) left_out_.erase(key_number(found));  // another process had room
    for (const auto& [key, severity] : left_out_) ++contents.left_out.counts[static_cast<std::size_t>(severity)];
    left_out_.clear();
    by_key_.clear();
    return std::exchange(contents, {});
  }

 private:
  void take_whole(const Json& entry) {
    if (const auto found = entry.find("found"); found != entry.end()) take_found(*found, entry.value("id", ""));
    if (const auto count = entry.find("count"); count != entry.end()) take_count(entry, *count);
    if (const auto left = entry.find("left_out"); left != entry.end()) take_left_out(*left);
    if (const auto allowed = entry.find("allowed"); allowed != entry.end()) take_allowed(*allowed);
    if (const auto time = entry.find("time"); time != entry.end()) contents.times.push_back(dump(*time));
    if (const auto failure = entry.find("failure"); failure != entry.end()) {
      contents.failures.push_back(
          {to_failure_kind(failure->value("kind", "")), failure->value("kernel", ""), failure->value("text", "")});
    }
  }
  void take_found(const Json& json, const std::string& id) {
    auto found = parse_finding(json);
    if (!found) return;
    by_id_[id] = *found;
    add(*found);
  }
  void take_count(const Json& entry, const Json& count) {
    const auto known = by_id_.find(entry.value("id", ""));
    if (known == by_id_.end() || !count.is_number_unsigned()) return;
    const auto now = entry.find("now");
    ReportedFinding again = (now == entry.end() ? std::nullopt : parse_finding(*now)).value_or(known->second);
    again.count = count.get<std::uint64_t>();
    add(again);
  }
  void add(const ReportedFinding& found) {
    const std::string key = fold_key(found);
    const auto known = by_key_.find(key);
    if (known != by_key_.end()) {
      ReportedFinding& first = contents.found[known->second];
      first.count += found.count;
      if (found.count == 0) first.what = found.what;  // what followed from it is known by now
    } else if (found.count > 0) {
      contents.found.push_back(found);  // first: what by_key_ names is there, also when memory ends here
      by_key_.emplace(key, contents.found.size() - 1);
    }
  }
  void take_left_out(const Json& json) {
    const std::string id = json.value("rule", "");
    const auto row = std::find_if(rules().begin(), rules().end(), [&](const Rule& known) { return known.id == id; });
    if (row != rules().end()) left_out_.emplace(json.at("key").get<std::uint64_t>(), row->severity);
  }
  void take_allowed(const Json& json) {
    AllowedRecord record{json.value("rule", ""), json.value("kernel", ""), json.value("count", std::uint64_t{0})};
    for (AllowedRecord& known : contents.allowed) {
      if (known.rule != record.rule || known.kernel != record.kernel) continue;
      known.count += record.count;
      return;
    }
    contents.allowed.push_back(std::move(record));
  }

  JournalContents contents;
  std::map<std::string, std::size_t> by_key_;  // in contents.found
  std::map<std::string, ReportedFinding> by_id_;
  std::map<std::uint64_t, Severity> left_out_;
};

namespace {

// Writers hold shared locks; getting the exclusive one means that all of them have ended.
void wait_for_writers(int fd, int wait_ms) {
  constexpr int kStepMs = 5;
  for (int waited = 0; ::flock(fd, LOCK_EX | LOCK_NB) != 0 && waited < wait_ms; waited += kStepMs) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kStepMs));
  }
}

}  // namespace

std::string_view to_text(FailureKind kind) {
  for (const auto& [known, name] : kFailureNames) {
    if (known == kind) return name;
  }
  return "internal";
}

FailureKind to_failure_kind(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage: return FailureKind::kUsage;
    case ErrorKind::kUnsupported: return FailureKind::kUnsupported;
    case ErrorKind::kResource: return FailureKind::kResource;
    case ErrorKind::kConnection: return FailureKind::kCrash;
    case ErrorKind::kTimeout: return FailureKind::kTimeout;
    case ErrorKind::kInternal: return FailureKind::kInternal;
  }
  unreachable(kind);
}

Result<std::shared_ptr<Journal>> Journal::open(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!file || ::flock(file.get(), LOCK_SH | LOCK_NB) != 0) return file_error(path);
  return std::shared_ptr<Journal>(new Journal(std::move(file)));
}

void Journal::write(const nlohmann::json& entry) {
  const std::string line = dump(entry) + "\n";
  // A journal that cannot be written (a full disk) must not stop the launch that it reports on.
  static_cast<void>(!::write(file_.get(), line.data(), line.size()));
}

void Journal::add(const ReportedFinding& found, std::uint64_t id) {
  JsonTree entry;
  entry["id"] = id_text(id);
  Json& place = entry["found"];
  place = to_json(found);
  write(*entry);
}

void Journal::add_count(std::uint64_t id, std::uint64_t count, const ReportedFinding* now) {
  JsonTree entry;
  entry["id"] = id_text(id);
  entry["count"] = count;
  if (now != nullptr) {
    Json& place = entry["now"];
    place = to_json(*now);
  }
  write(*entry);
}

void Journal::add_left_out(const ReportedFinding& found) {
  JsonTree entry;
  Json& place = entry["left_out"];
  place = Json::object();
  place["rule"] = found.rule;
  place["key"] = key_number(found);
  write(*entry);
}

void Journal::add(const FailureRecord& failure) {
  JsonTree entry;
  Json& place = entry["failure"];
  place = Json::object();
  place["kind"] = to_text(failure.kind);
  place["kernel"] = failure.kernel;
  place["text"] = failure.text;
  write(*entry);
}

void Journal::add(const AllowedRecord& allowed) {
  JsonTree entry;
  Json& place = entry["allowed"];
  place = Json::object();
  place["rule"] = allowed.rule;
  place["kernel"] = allowed.kernel;
  place["count"] = allowed.count;
  write(*entry);
}

std::string time_totals(std::string_view record) {
  JsonTree json = JsonTree::parse(record);
  if (!(*json).is_object() || json["format"] != "softtpu-time-1") return {};
  json.erase("commands");
  json.erase("blocks");
  return dump(*json);
}

std::string time_entries(std::string_view records) {
  std::string entries;
  for (std::size_t begin = 0; begin < records.size();) {
    const std::size_t end = std::min(records.find('\n', begin), records.size());
    const std::string totals = time_totals(records.substr(begin, end - begin));
    if (!totals.empty()) entries += "{\"time\":" + totals + "}\n";
    begin = end + 1;
  }
  return entries;
}

Result<JournalContents> read_journal(const std::string& path, int wait_ms) {
  const UniqueFd lock(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!lock) return file_error(path);
  wait_for_writers(lock.get(), wait_ms);
  std::ifstream file(path);
  EntryReader reader;
  for (std::string line; std::getline(file, line);) {
    reader.take(*JsonTree::parse(line));
  }
  return reader.take_contents();
}

class JournalFollower::State {
 public:
  explicit State(UniqueFd file) : file_(std::move(file)) {}
  JournalContents take(std::string* lines) {
    std::array<char, 65536> piece;
    for (ssize_t got = 0; (got = ::read(file_.get(), piece.data(), piece.size())) > 0;) {
      unread_.append(piece.data(), static_cast<std::size_t>(got));
    }
    const std::size_t end = unread_.rfind('\n') + 1;  // npos + 1 is 0
    while (taken_ < end) {
      const std::size_t line_end = unread_.find('\n', taken_);
      reader_.take(*JsonTree::parse(std::string_view(unread_).substr(taken_, line_end - taken_)));
      taken_ = line_end + 1;
    }
    if (lines != nullptr) lines->assign(unread_, 0, end);
    unread_.erase(0, end);
    taken_ = 0;
    return reader_.take_contents();
  }

 private:
  UniqueFd file_;
  std::string unread_;
  std::size_t taken_ = 0;  // of these, by reader_, in a call that then had no memory to end
  EntryReader reader_;
};

JournalFollower::JournalFollower(UniqueFd file) : state_(std::make_unique<State>(std::move(file))) {}
JournalFollower::JournalFollower(JournalFollower&&) noexcept = default;
JournalFollower& JournalFollower::operator=(JournalFollower&&) noexcept = default;
JournalFollower::~JournalFollower() = default;
JournalContents JournalFollower::take(std::string* lines) { return state_->take(lines); }

std::string to_text(const LeftOut& left_out) {
  std::string text;
  for (std::size_t i = 0; i < kSeverities; ++i) {
    const std::uint64_t count = left_out.counts[i];
    if (count == 0) continue;
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", count, to_text(static_cast<Severity>(i)),
                        count == 1 ? "" : "s");
  }
  return text;
}

void JournalContents::keep_most_severe(std::size_t most) {
  if (found.size() <= most) return;
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return rule(found[a].rule).severity < rule(found[b].rule).severity;
  });
  for (auto at = order.begin() + static_cast<std::ptrdiff_t>(most); at != order.end(); ++at) {
    ++left_out.counts[static_cast<std::size_t>(rule(found[*at].rule).severity)];
  }
  order.resize(most);
  std::sort(order.begin(), order.end());  // as they came
  std::vector<ReportedFinding> kept;
  for (const std::size_t index : order) kept.push_back(std::move(found[index]));
  found = std::move(kept);
}

}  // namespace softtpu
