#include "device/checks/client_findings.hpp"

#include <algorithm>
#include <utility>

namespace softtpu {
namespace {

// A core gets no message when a client disconnects. Beyond so many clients the one whose last turn is longest ago is
// forgotten; if it comes back, its findings are reported to it again.
constexpr std::size_t kMostKept = 256;

}  // namespace

class ClientFindings::Switch final : public FindingSink {
 public:
  void point_to(FindingSink* target) { target_ = target; }
  void add(const ReportedFinding& found, std::uint64_t id) override {
    if (target_ != nullptr) target_->add(found, id);
  }
  void add_count(std::uint64_t id, std::uint64_t count, const ReportedFinding* now) override {
    if (target_ != nullptr) target_->add_count(id, count, now);
  }
  void add(const AllowedRecord& allowed) override {
    if (target_ != nullptr) target_->add(allowed);
  }
  void add_left_out(const ReportedFinding& found) override {
    if (target_ != nullptr) target_->add_left_out(found);
  }

 private:
  FindingSink* target_ = nullptr;
};

ClientFindings::ClientFindings(Findings::Options options)
    : switch_(std::make_shared<Switch>()), options_(std::move(options)) {
  options_.journal = switch_;
  list_ = std::make_shared<Findings>(options_);
}

void ClientFindings::turn_to(std::uint64_t client, FindingSink& sink) {
  switch_->point_to(&sink);
  if (client == client_) return;
  put_aside();
  client_ = client;
  if (auto kept = others_.extract(client); !kept.empty()) *list_ = std::move(kept.mapped().findings);
}

void ClientFindings::put_aside() {
  ++turns_;
  Findings before = std::exchange(*list_, Findings(options_));
  if (before.count() == 0) return;
  if (others_.size() >= kMostKept) {
    others_.erase(std::min_element(others_.begin(), others_.end(),
                                   [](const auto& a, const auto& b) { return a.second.turn < b.second.turn; }));
  }
  others_.insert_or_assign(client_, Kept{turns_, std::move(before)});
}

void ClientFindings::forget(std::uint64_t client) {
  others_.erase(client);
  if (client != client_) return;
  switch_->point_to(nullptr);
  *list_ = Findings(options_);
  client_ = 0;
}

}  // namespace softtpu
