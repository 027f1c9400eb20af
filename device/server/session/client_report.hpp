// The findings that a client of a shared device gets. They wait here for the next answer that the client gets, so
// that a client gets only as many as it reads; repeats are counted meanwhile. Lives on the server's
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/protocol/messages.hpp"
#include "runtime/report/journal.hpp"
#include "runtime/transport/outbox.hpp"

namespace softtpu {

class ClientReport final : public FindingSink {
 public:
  // At most `limit` findings, whichever cores and restarts they come from.
  explicit ClientReport(std::size_t limit) : limit_(limit) {}

  void set_client(const std::string& name) { client_ = name; }
  void add(const ReportedFinding& found, std::uint64_t id) override;
  void add_count(std::uint64_t id, std::uint64_t count, const ReportedFinding* now) override;
  void add(const AllowedRecord& allowed) override;
  void add_left_out(const ReportedFinding& found) override;

  // Puts what has come since the last call into the client's outbox.
  void flush(Outbox& out);

 private:
  const std::size_t limit_;
  std::string client_;  // for the log
  std::vector<msg::FindingNote> notes_;
  struct Again {
    std::uint64_t count = 0;
    std::optional<ReportedFinding> now;
  };
  std::map<std::uint64_t, Again> counts_;  // of findings that the client knows: how often since
  std::map<std::pair<std::string, std::string>, std::uint64_t> allowed_;
  std::size_t left_out_ = 0;
  bool changed_ = false;
};

}  // namespace softtpu
