#include "device/checks/allocations.hpp"

#include <algorithm>
#include <cstring>
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

std::vector<std::string> load(const char (&from)[kTextBytes]) {
  std::string_view text(from, ::strnlen(from, kTextBytes));
  std::vector<std::string> lines;
  for (std::size_t end = 0; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    lines.emplace_back(text.substr(0, end));
  return lines;
}

}  // namespace

struct AllocationTable::Header {
  std::atomic<std::uint64_t> version;  // odd while the server writes
  std::uint64_t used, order;
  bool overflowed;
};

struct AllocationTable::Entry {
  std::uint64_t address, bytes, client;
  std::uint64_t order;  // of the last change
  bool live;
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

// A new place, else that of the allocation that was freed first.
AllocationTable::Entry* AllocationTable::find_place() {
  if (header().used < kEntries) return &entries()[header().used++];
  Entry* oldest = nullptr;
  for (std::size_t i = 0; i < kEntries; ++i) {
    Entry& entry = entries()[i];
    if (!entry.live && (oldest == nullptr || entry.order < oldest->order)) oldest = &entry;
  }
  return oldest;
}

void AllocationTable::add(const AllocationRecord& record) {
  const Change change(header());
  if (Entry* entry = find_place()) {
    entry->address = record.address;
    entry->bytes = record.bytes;
    entry->client = record.client;
    entry->order = ++header().order;
    entry->live = true;
    store(entry->allocated_at, record.allocated_at);
    entry->freed_at[0] = '\0';
    entry->type[0] = '\0';
  } else {
    header().overflowed = true;
  }
}

AllocationTable::Entry* AllocationTable::find_live(std::uint64_t address) {
  for (std::size_t i = 0; i < header().used; ++i) {
    if (entries()[i].live && entries()[i].address == address) return &entries()[i];
  }
  return nullptr;
}

void AllocationTable::locate(std::uint64_t address, const std::vector<std::string>& at) {
  const Change change(header());
  if (Entry* entry = find_live(address)) store(entry->allocated_at, at);
}

void AllocationTable::set_type(std::uint64_t address, const std::string& type) {
  const Change change(header());
  Entry* entry = find_live(address);
  if (entry == nullptr || type.size() >= kTypeBytes) return;
  std::memcpy(entry->type, type.c_str(), type.size() + 1);
}

void AllocationTable::free(std::uint64_t address, const std::vector<std::string>& at) {
  const Change change(header());
  if (Entry* entry = find_live(address)) {
    entry->live = false;
    entry->order = ++header().order;
    store(entry->freed_at, at);
  }
}

AllocationTable::Contents AllocationTable::read() const {
  for (;;) {
    Contents contents;
    contents.version = version();
    contents.complete = !header().overflowed;
    std::vector<std::pair<std::uint64_t, AllocationRecord>> freed;
    for (std::size_t i = 0; i < std::min<std::uint64_t>(header().used, kEntries); ++i) {
      const Entry& entry = entries()[i];
      AllocationRecord record{entry.address,        entry.bytes,
                              entry.client,         load(entry.allocated_at),
                              load(entry.freed_at), std::string(entry.type, ::strnlen(entry.type, kTypeBytes))};
      if (entry.live) {
        contents.live.emplace(entry.address, std::move(record));
      } else {
        freed.emplace_back(entry.order, std::move(record));
      }
    }
    std::sort(freed.begin(), freed.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [order, record] : freed) contents.freed.push_back(std::move(record));
    std::atomic_thread_fence(std::memory_order_acquire);  // what has been read was read before the second look
    if (contents.version % 2 == 0 && contents.version == version()) return contents;
  }
}

const AllocationRecord* AllocationTable::Contents::before(std::uint64_t address) const {
  const auto after = live.upper_bound(address);
  return after == live.begin() ? nullptr : &std::prev(after)->second;
}

const AllocationRecord* AllocationTable::Contents::find(std::uint64_t address) const {
  const AllocationRecord* record = before(address);
  return record != nullptr && address - record->address < record->bytes ? record : nullptr;
}

const AllocationRecord* AllocationTable::Contents::find_freed(std::uint64_t address) const {
  const auto found = std::find_if(freed.begin(), freed.end(), [&](const AllocationRecord& record) {
    return address - record.address < record.bytes;
  });
  return found == freed.end() ? nullptr : &*found;
}

}  // namespace softtpu
