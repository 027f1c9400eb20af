// One client's connection: decodes its messages, checks them, and answers. Owns what the client has on the device:
// allocations, modules, functions, streams; all of it goes when the connection ends. Lives on the server's thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "device/server/session/client_report.hpp"
#include "device/server/session/client_share.hpp"
#include "device/server/session/device.hpp"
#include "device/server/session/incoming.hpp"
#include "runtime/protocol/frame.hpp"
#include "runtime/transport/outbox.hpp"

namespace softtpu {

class EventLoop;

class Session : public std::enable_shared_from_this<Session> {
 public:
  // What a session needs of its server.
  struct Host {
    EventLoop& loop;
    std::vector<std::unique_ptr<Device>>& devices;
    std::function<void(Session&)> on_closed;  // called once, from the event loop
    std::function<void(msg::StatReply&, const Device&)> add_clients;
    ClientShares shares;
    bool is_ending = false;           // takes no more launches
    std::size_t most_findings = 100;  // that a client gets
  };

  Session(Host& host, UniqueFd socket, pid_t pid);
  ~Session();
  // An error: this client has its share of connections already. `gateway`: the clients behind it count, not itself.
  Result<void> start(bool gateway);
  // Ends the connection and gives everything back.
  void close(const std::string& reason);

  const Device* device() const { return device_; }
  msg::ClientStat stat() const;

 private:
  struct Function {
    std::uint32_t module = 0;
    std::string name;
  };
  struct Module {
    std::string name;
    std::unordered_set<std::string> kernels;
    ClientShare::Hold hold;
  };
  // What the connection waits for before it works on.
  enum class Waiting { kNothing, kBytes, kTurn, kAnswers, kReader };

  void when_readable();
  void receive_and_work();
  void work_off();
  Waiting work_for_a_turn();
  bool take_frame();
  void wait_for(Waiting what);
  void take_turn();
  void flush();
  void watch_for_end();
  bool is_gone() const;
  void go_on();
  void work_in_pieces(Piecewise work, std::function<void()> then);
  void end_work();
  bool begin_incoming(const FrameHeader& header);
  // How long the part of the payload before the pieces is; nullopt: it is not here yet.
  Result<std::optional<std::size_t>> begin_write(const FrameHeader& header, std::span<const std::uint8_t> payload);
  Result<std::optional<std::size_t>> begin_module(const FrameHeader& header, std::span<const std::uint8_t> payload);
  bool take_incoming();
  void watch_afterlife();
  bool on_frame(Frame& frame);
  bool on_hello(const Frame& frame);
  bool on_remote(const Frame& frame);
  template <class Message>
  bool on(Frame& frame, void (Session::*handler)(std::uint64_t, Message&, Frame&));

  void on_open(std::uint64_t request, msg::Open& open, Frame& frame);
  void on_allocate(std::uint64_t request, msg::Allocate& allocate, Frame& frame);
  void on_release(std::uint64_t request, msg::Release& release, Frame& frame);
  void on_write(std::uint64_t request, msg::Write& write, Frame& frame);
  void on_read(std::uint64_t request, msg::Read& read, Frame& frame);
  void on_fill(std::uint64_t request, msg::Fill& fill, Frame& frame);
  void on_copy(std::uint64_t request, msg::Copy& copy, Frame& frame);
  void on_note(std::uint64_t request, msg::HostNote& note, Frame& frame);
  void on_load(std::uint64_t request, msg::LoadModule& load, Frame& frame);
  void on_unload(std::uint64_t request, msg::UnloadModule& unload, Frame& frame);
  void on_find(std::uint64_t request, msg::FindFunction& find, Frame& frame);
  void on_launch(std::uint64_t request, msg::Launch& launch, Frame& frame);
  void on_sync(std::uint64_t request, msg::Sync& sync, Frame& frame);
  void on_timeout(std::uint64_t request, msg::SetTimeout& timeout, Frame& frame);
  void on_close_stream(std::uint64_t request, msg::CloseStream& close, Frame& frame);
  void on_cancel(std::uint64_t request, msg::Cancel& cancel, Frame& frame);
  void on_stat(std::uint64_t request, msg::Stat& stat, Frame& frame);
  void on_stream_time(std::uint64_t request, msg::StreamTime& time, Frame& frame);

  template <class Message>
  void reply(std::uint64_t request, const Message& message) {
    if (closed_) return;
    report_->flush(out_);
    if (request != 0) out_.push(request, message);  // 0: no answer is due
  }
  void fail(std::uint64_t request, const Error& error);
  // Done or Failure, when the launch or lookup behind it has come to its end.
  std::function<void(Result<void>)> answer_later(std::uint64_t request);

  // The same answer; until it is given, the request counts as one without.
  template <class Value>
  std::function<void(Result<Value>)> counted(std::function<void(Result<Value>)> answer, std::size_t weight = 1);

  std::string absence_text(std::uint32_t function) const;
  Result<void> complete_launch(msg::Launch& launch);
  Result<Function> complete_call(const msg::Launch& launch, msg::Call& call);
  Result<void> check_counts(const msg::Launch& launch) const;
  Result<void> check_stream(std::uint32_t stream) const;
  Result<void> check_range(const char* what, std::uint64_t address, std::uint64_t bytes) const;
  Result<std::uint32_t> find_kernel(const std::string& name);
  void check_and_load(std::uint64_t request, const std::string& name, Result<UniqueFd> copy, ClientShare::Hold hold);
  void start_load(std::uint64_t request, const std::string& name, const std::shared_ptr<UniqueFd>& image,
                  ClientShare::Hold hold);
  void unload_in_turn(std::uint32_t module, ClientShare::Hold hold);
  void in_turn(ClientShare::Job job);
  Result<void> check_functions() const;
  void give_back();
  void give_back_some();
  void forget_allocation(std::uint64_t address);
  // Null: the program is not observed.
  HostWatch* watch() const;

  Host& host_;
  UniqueFd socket_;
  const pid_t pid_;
  const std::uint64_t client_number_;  // never given out twice
  const std::shared_ptr<ClientReport> report_;
  std::string name_;  // of the client, for the log
  bool remote_ = false, behind_gateway_ = false;
  Device* device_ = nullptr;
  bool greeted_ = false, closed_ = false, watching_for_end_ = false, sending_ = false;
  Waiting waiting_ = Waiting::kNothing;
  std::size_t unanswered_ = 0;  // requests besides launches
  std::size_t in_core_ = 0;     // loads, unloads and definitions that are under way or wait for their turn
  FrameBuffer in_;
  Outbox out_;
  std::optional<Incoming> incoming_;  // a message that is taken piece by piece
  Piecewise work_;                    // goes on before the next message is looked at
  std::function<void()> after_work_;
  std::shared_ptr<ClientShare> share_;
  ClientShare::Hold connection_;
  std::shared_ptr<LaunchQueue::Client> client_;
  std::vector<std::string> freed_at_;                   // of the release that comes next
  std::map<std::uint64_t, std::uint64_t> allocations_;  // address, bytes asked for
  std::uint64_t allocated_ = 0;                         // bytes of all of them
  std::map<std::uint32_t, Module> modules_;             // in order of loading
  // Modules to unload when the launches that use them are through.
  std::map<std::uint32_t, ClientShare::Hold> leaving_;
  std::unordered_map<std::uint32_t, Function> functions_;
  std::map<std::uint32_t, std::string> gone_functions_;  // the last ones of unloaded modules, for messages
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> found_;  // module and name, of a function
  std::unordered_map<std::string, std::uint32_t> kernels_;                // name -> function, for launches by name
};

template <class Value>
std::function<void(Result<Value>)> Session::counted(std::function<void(Result<Value>)> answer, std::size_t weight) {
  unanswered_ += weight;
  return [self = shared_from_this(), answer = std::move(answer), weight](Result<Value> result) {
    self->unanswered_ -= weight;
    answer(std::move(result));
    self->go_on();
  };
}

}  // namespace softtpu
