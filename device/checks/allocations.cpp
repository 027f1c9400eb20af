#include "device/checks/allocations.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

namespace softtpu {
namespace {

constexpr std::size_t kTextBytes = 1024, kTypeBytes = 16;

// Whole lines, as many as find room: half a path would name another file.
void store(char (&to)[kTextBytes], const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (text.size() + line.size() + 2 > kTextBytes) break;
    text += line + "\n";
  }
  std::memcpy(to, text.c_str(), text.size() + 1);
}

template <std::size_t kBytes>
std::string load(const char (&from)[kBytes]) {
  return std::string(from, ::strnlen(from, kBytes));
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = 0; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    lines.emplace_back(text.substr(0, end));
  return lines;
}

}  // namespace

struct AllocationTable::Header {
  std::atomic<std::uint64_t> version;  // odd while the server writes
  std::uint64_t used, changes;
  bool overflowed;
  std::uint16_t changed[kEntries];  // places of the last changes, at the change's number
};

struct AllocationTable::Entry {
  std::uint64_t address, bytes, client;
  std::uint64_t freed;  // number of that change; 0: it is alive
  char allocated_at[kTextBytes], freed_at[kTextBytes];
  char type[kTypeBytes];
};

Result<std::shared_ptr<AllocationTable>> AllocationTable::create() {
  auto bytes = SharedBytes::create(sizeof(Header) + kEntries * sizeof(Entry));
  if (!bytes) return bytes.error();
  return std::shared_ptr<AllocationTable>(new AllocationTable(*std::move(bytes)));
}

// The server's writes to the table: a reader sees that something has changed before it sees what.
class AllocationTable::Change {
 public:
  explicit Change(Header& header) : version_(header.version) {
    version_.fetch_add(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~Change() { version_.fetch_add(1, std::memory_order_release); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  std::atomic<std::uint64_t>& version_;
};

AllocationTable::Header& AllocationTable::header() const { return *reinterpret_cast<Header*>(bytes_.data()); }
AllocationTable::Entry* AllocationTable::entries() const {
  return reinterpret_cast<Entry*>(bytes_.data() + sizeof(Header));
}

std::uint64_t AllocationTable::version() const { return header().version.load(std::memory_order_acquire); }

// A new place, or that of the allocation that was freed first.
AllocationTable::Entry* AllocationTable::find_place() {
  const bool is_full = header().used == kEntries;
  if (!is_full && freed_.size() < kMostFreed) return &entries()[header().used++];
  if (freed_.empty()) return nullptr;
  const std::size_t place = freed_.front();
  freed_.pop_front();
  return &entries()[place];
}

void AllocationTable::note_change(const Entry& entry) {
  header().changed[header().changes++ % kEntries] = static_cast<std::uint16_t>(&entry - entries());
}

void AllocationTable::add(const AllocationRecord& record) {
  const Change change(header());
  Entry* entry = find_place();
  if (entry == nullptr) {
    header().overflowed = true;
    return;
  }
  entry->address = record.address;
  entry->bytes = record.bytes;
  entry->client = record.client;
  entry->freed = 0;
  entry->allocated_at[0] = '\0';
  entry->freed_at[0] = '\0';
  entry->type[0] = '\0';
  live_[record.address] = static_cast<std::size_t>(entry - entries());
  note_change(*entry);
}

AllocationTable::Entry* AllocationTable::find_live(std::uint64_t address) {
  const auto found = live_.find(address);
  return found == live_.end() ? nullptr : &entries()[found->second];
}

void AllocationTable::locate(std::uint64_t address, const std::vector<std::string>& at) {
  const Change change(header());
  Entry* entry = find_live(address);
  if (entry == nullptr) return;
  store(entry->allocated_at, at);
  note_change(*entry);
}

void AllocationTable::set_type(std::uint64_t address, const std::string& type) {
  const Change change(header());
  Entry* entry = find_live(address);
  if (entry == nullptr || type.size() >= kTypeBytes) return;
  std::memcpy(entry->type, type.c_str(), type.size() + 1);
  note_change(*entry);
}

void AllocationTable::free(std::uint64_t address, const std::vector<std::string>& at) {
  const Change change(header());
  Entry* entry = find_live(address);
  if (entry == nullptr) return;
  store(entry->freed_at, at);
  note_change(*entry);
  entry->freed = header().changes;
  freed_.push_back(live_.extract(address).mapped());
}

KnownAllocations AllocationTable::read() const {
  KnownAllocations known;
  update(known);
  return known;
}

void AllocationTable::update(KnownAllocations& known) const {
  for (;;) {
    const std::uint64_t version = this->version();
    if (known.version_ == version) return;
    const bool complete = !header().overflowed;
    const std::uint64_t changes = header().changes;
    std::set<std::size_t> changed;
    if (changes - known.changes_ > kEntries) {
      for (std::size_t place = 0; place < std::min<std::size_t>(header().used, kEntries); ++place)
        changed.insert(place);
    } else {
      for (std::uint64_t i = known.changes_; i < changes; ++i)
        changed.insert(header().changed[i % kEntries] % kEntries);
    }
    std::vector<std::pair<std::size_t, AllocationRecord>> records;
    for (const std::size_t place : changed) {
      const Entry& entry = entries()[place];
      records.emplace_back(place, AllocationRecord{entry.address, entry.bytes, entry.client, load(entry.allocated_at),
                                                   load(entry.freed_at), load(entry.type), entry.freed});
    }
    std::atomic_thread_fence(std::memory_order_acquire);  // what has been read was read before the second look
    if (version % 2 != 0 || version != this->version()) continue;
    for (auto& [place, record] : records) known.set(place, std::move(record));
    known.version_ = version;
    known.changes_ = changes;
    known.complete_ = complete;
    return;
  }
}

std::vector<std::string> AllocationRecord::allocated_at() const { return lines_of(allocated_text); }
std::vector<std::string> AllocationRecord::freed_at() const { return lines_of(freed_text); }

void KnownAllocations::set(std::size_t place, AllocationRecord record) {
  if (place >= places_.size()) places_.resize(place + 1);
  const auto before = live_.find(places_[place].address);
  if (before != live_.end() && before->second == place) live_.erase(before);
  if (record.freed == 0) live_[record.address] = place;
  places_[place] = std::move(record);
}

std::vector<const AllocationRecord*> KnownAllocations::live() const {
  std::vector<const AllocationRecord*> list;
  for (const auto& [address, place] : live_) list.push_back(&places_[place]);
  return list;
}

const AllocationRecord* KnownAllocations::before(std::uint64_t address) const {
  const auto after = live_.upper_bound(address);
  return after == live_.begin() ? nullptr : &places_[std::prev(after)->second];
}

const AllocationRecord* KnownAllocations::from(std::uint64_t address) const {
  const auto found = live_.lower_bound(address);
  return found == live_.end() ? nullptr : &places_[found->second];
}

const AllocationRecord* KnownAllocations::find(std::uint64_t address) const {
  const AllocationRecord* record = before(address);
  return record != nullptr && address - record->address < record->bytes ? record : nullptr;
}

const AllocationRecord* KnownAllocations::find_freed(std::uint64_t address) const {
  const AllocationRecord* found = nullptr;
  for (const AllocationRecord& record : places_) {
    if (address - record.address >= record.bytes) continue;
    if (record.freed > (found == nullptr ? 0 : found->freed)) found = &record;
  }
  return found;
}

}  // namespace softtpu
