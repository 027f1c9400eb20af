#include "device/record/launch_record.hpp"

// The one-purpose functions: the general ones bring all of the library into every device process.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

#include "runtime/protocol/messages.hpp"

namespace softtpu {
namespace {

constexpr std::uint64_t kMagic = 0x44524F4345525453;  // "STRECORD"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kDigestBytes = SHA256_DIGEST_LENGTH;
constexpr std::size_t kMostName = 4096;
constexpr std::uint64_t kMostMemory = 1ULL << 40;
// How much is collected before it is written.
constexpr std::size_t kPieceBytes = 1U << 20;

struct Header {
  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  bool ended = false;  // the second part is there
  std::uint64_t launch_bytes = 0, outcome_bytes = 0;
  Bytes launch_digest = Bytes(kDigestBytes), outcome_digest = Bytes(kDigestBytes);
};

Bytes digest_of(std::span<const std::uint8_t> bytes) {
  Bytes digest(kDigestBytes);
  ::SHA256(bytes.data(), bytes.size(), digest.data());
  return digest;
}

// The header's bytes, and behind them their digest.
Bytes encode(const Header& header) {
  Bytes out;
  wire::append(out, header);
  const Bytes digest = digest_of(out);
  out.insert(out.end(), digest.begin(), digest.end());
  return out;
}

std::size_t header_bytes() {
  static const std::size_t kBytes = encode({}).size();
  return kBytes;
}

Error file_error(const std::string& what) {
  return Error{ErrorKind::kResource, fmt::format("{}: {}", what, std::strerror(errno))};
}

Result<void> write_all(int fd, std::span<const std::uint8_t> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return file_error("writing the record");
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return {};
}

// One part of the file: what is encoded goes out piece by piece, so that memories are not held a second time.
class Part {
 public:
  Part(int fd, std::uint64_t offset) : fd_(fd), begin_(offset), offset_(offset) { ::SHA256_Init(&digest_); }

  template <class Value>
  void add(const Value& value) {
    wire::append(piece_, value);
    if (piece_.size() >= kPieceBytes) flush();
  }
  Result<void> finish() {
    flush();
    return result_;
  }
  std::uint64_t bytes() const { return offset_ - begin_; }
  Bytes digest() {
    Bytes digest(kDigestBytes);
    ::SHA256_Final(digest.data(), &digest_);
    return digest;
  }

 private:
  void flush() {
    ::SHA256_Update(&digest_, piece_.data(), piece_.size());
    if (result_) result_ = write_all(fd_, piece_, offset_);
    offset_ += piece_.size();
    piece_.clear();
  }

  int fd_;
  std::uint64_t begin_, offset_;
  Bytes piece_;
  SHA256_CTX digest_{};
  Result<void> result_;
};

// As a RecordedMemory, without making one.
void add_memory(Part& part, const MemoryImage& memory, const std::map<std::uint64_t, MemoryImage::Block>& blocks) {
  part.add(memory.name());
  part.add(memory.start());
  part.add(memory.bytes());
  part.add(static_cast<std::uint32_t>(blocks.size()));
  for (const auto& [offset, bytes] : blocks) {
    part.add(offset);
    part.add(bytes);
  }
}

Result<UniqueFd> open_record(const std::string& path, std::uint64_t& file_bytes) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return file_error(fmt::format("\"{}\"", path));
  if (!S_ISREG(status.st_mode)) return Error{ErrorKind::kUsage, fmt::format("\"{}\" is not a file", path)};
  file_bytes = static_cast<std::uint64_t>(status.st_size);
  return file;
}

// The first bytes of the file; fewer where it ends earlier.
Result<Bytes> read_start(int fd, std::uint64_t count) {
  Bytes bytes(static_cast<std::size_t>(count));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::pread(fd, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error("reading it");
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

using Problem = std::optional<std::string>;

Problem problem_of(const RecordedMemory& memory) {
  constexpr std::string_view kNames[] = {"global", "l2", "local", "dtcm"};
  if (std::find(std::begin(kNames), std::end(kNames), memory.name) == std::end(kNames))
    return "it names a memory that no chip has";
  const bool may_lack = memory.name == "l2";  // CV184X has none
  if ((memory.bytes == 0 && !may_lack) || memory.bytes > kMostMemory || memory.start > UINT64_MAX - memory.bytes)
    return fmt::format("its {} memory has an impossible size", memory.name);
  std::uint64_t next = 0;
  for (const RecordedBlock& block : memory.blocks) {
    const bool placed =
        block.offset % MemoryImage::kBlockBytes == 0 && block.offset >= next && block.offset < memory.bytes;
    if (!placed || block.bytes.size() != std::min(MemoryImage::kBlockBytes, memory.bytes - block.offset))
      return fmt::format("a block of its {} memory lies where none can be", memory.name);
    next = block.offset + block.bytes.size();
  }
  return std::nullopt;
}

Problem problem_of(const RecordedAllocation& allocation) {
  if (allocation.bytes > kMostMemory || allocation.address > UINT64_MAX - allocation.bytes)
    return "an allocation has an impossible size";
  for (const RecordedRange& range : allocation.written) {
    if (range.begin > range.end || range.end > allocation.bytes) return "bytes outside of an allocation are written";
  }
  return std::nullopt;
}

Problem problem_of(const LaunchRecord& record) {
  const RecordedLaunch& launch = record.launch;
  if (launch.kernel.empty() || launch.kernel.size() > kMostName) return "its kernel has no possible name";
  if (launch.args.size() > kMaxLaunchArgs)
    return fmt::format("its arguments have {} bytes, of {} at most", launch.args.size(), kMaxLaunchArgs);
  if (launch.global_bytes == 0 || launch.global_bytes > kMostMemory) return "its global memory has an impossible size";
  for (const RecordedAllocation& allocation : launch.allocations) {
    if (auto problem = problem_of(allocation)) return problem;
  }
  for (const auto* memories : {&record.before, &record.changed}) {
    for (const RecordedMemory& memory : *memories) {
      if (auto problem = problem_of(memory)) return problem;
    }
  }
  return std::nullopt;
}

template <class First, class Second>
bool decode(std::span<const std::uint8_t> part, First& first, Second& second) {
  Decoder decoder(part);
  decoder(first);
  if (decoder.ok()) decoder(second);
  return decoder.ok() && decoder.at_end();
}

Error bad(std::string what) { return Error{ErrorKind::kUsage, std::move(what)}; }

// The header of a file of so many bytes whose parts are all there. `start` is what it begins with.
Result<Header> read_header(std::span<const std::uint8_t> start, std::uint64_t file_bytes) {
  Header header;
  if (start.size() < header_bytes()) {
    return bad(fmt::format("{} bytes are not a record of a launch, which has {} at least", file_bytes, header_bytes()));
  }
  Decoder first(start);
  first(header.magic);
  first(header.version);
  if (header.magic == 0) return bad("the record was not finished: its device ended while it was written");
  if (header.magic != kMagic) return bad("not a record of a launch");
  if (header.version != kVersion) {
    return bad(fmt::format("version {} of the format; this softtpu reads version {}", header.version, kVersion));
  }
  const auto fields = start.first(header_bytes() - kDigestBytes);
  Decoder decoder(fields);
  decoder(header);
  const Bytes digest = digest_of(fields);
  const bool sized = header.launch_digest.size() == kDigestBytes && header.outcome_digest.size() == kDigestBytes;
  if (!decoder.ok() || !decoder.at_end() || !sized ||
      !std::equal(digest.begin(), digest.end(), start.data() + fields.size()))
    return bad("the record's header is damaged");
  if (!header.ended) header.outcome_bytes = 0;
  const std::uint64_t bytes = file_bytes - header_bytes();
  if (header.launch_bytes > bytes || header.outcome_bytes > bytes - header.launch_bytes)
    return bad(fmt::format("the record is truncated: {} bytes of {}", file_bytes,
                           header_bytes() + header.launch_bytes + header.outcome_bytes));
  if (header.ended && bytes != header.launch_bytes + header.outcome_bytes)
    return bad(
        fmt::format("{} bytes stand behind the record's end", bytes - header.launch_bytes - header.outcome_bytes));
  return header;
}

// `file` has the header's parts and no more.
Result<LaunchRecord> parse(const Header& header, std::span<const std::uint8_t> file) {
  const auto launch = file.subspan(header_bytes(), static_cast<std::size_t>(header.launch_bytes));
  if (digest_of(launch) != header.launch_digest) return bad("the recorded launch is damaged: its checksum is wrong");
  LaunchRecord record;
  if (!decode(launch, record.launch, record.before)) return bad("the recorded launch is malformed");
  if (header.ended) {
    const auto outcome = file.subspan(header_bytes() + launch.size());
    if (digest_of(outcome) != header.outcome_digest)
      return bad("the recorded outcome is damaged: its checksum is wrong");
    if (!decode(outcome, record.outcome.emplace(), record.changed)) return bad("the recorded outcome is malformed");
  }
  if (const auto problem = problem_of(record)) return bad("the record is malformed: " + *problem);
  return record;
}

// The header first: only then is it known how much of the file is worth memory.
Result<LaunchRecord> read_record(int fd, std::uint64_t file_bytes) {
  const auto start = read_start(fd, std::min<std::uint64_t>(file_bytes, header_bytes()));
  if (!start) return start.error();
  const auto header = read_header(*start, file_bytes);
  if (!header) return header.error();
  const std::uint64_t bytes = header_bytes() + header->launch_bytes + header->outcome_bytes;
  const auto file = read_start(fd, bytes);
  if (!file) return file.error();
  if (file->size() != bytes) return bad("it became shorter while it was read");
  return parse(*header, *file);
}

}  // namespace

Result<LaunchRecord> read_launch_record(const std::string& path) {
  std::uint64_t file_bytes = 0;
  const auto file = open_record(path, file_bytes);
  if (!file) return file.error();
  auto record = read_record(file->get(), file_bytes);
  if (!record) return Error{record.error().kind, fmt::format("\"{}\": {}.", path, record.error().text)};
  return record;
}

Result<void> LaunchRecordWriter::write_launch(const RecordedLaunch& launch, const std::vector<MemoryImage>& before) {
  if (::ftruncate(fd_, 0) != 0) return file_error("emptying the record");
  Part part(fd_, header_bytes());
  part.add(launch);
  part.add(static_cast<std::uint32_t>(before.size()));
  for (const MemoryImage& memory : before) add_memory(part, memory, memory.blocks());
  if (auto written = part.finish(); !written) return written;
  Header header;
  header.launch_bytes = launch_bytes_ = part.bytes();
  header.launch_digest = launch_digest_ = part.digest();
  return write_all(fd_, encode(header), 0);
}

Result<void> LaunchRecordWriter::write_outcome(const RecordedOutcome& outcome, const std::vector<MemoryImage>& before) {
  Part part(fd_, header_bytes() + launch_bytes_);
  part.add(outcome);
  part.add(static_cast<std::uint32_t>(before.size()));
  for (const MemoryImage& memory : before) add_memory(part, memory, memory.changes());
  if (auto written = part.finish(); !written) return written;
  Header header;
  header.ended = true;
  header.launch_bytes = launch_bytes_;
  header.launch_digest = launch_digest_;
  header.outcome_bytes = part.bytes();
  header.outcome_digest = part.digest();
  return write_all(fd_, encode(header), 0);
}

}  // namespace softtpu
