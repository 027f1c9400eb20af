// One client's connection: decodes its messages, checks them, and answers. Owns what the client has on the device:
// allocations, modules, functions, streams; all of it goes when the connection ends. Lives on the server's thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/server/client_report.hpp"
#include "device/server/device.hpp"
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
    std::function<void(StatReply&, const Device&)> add_clients;
    bool is_ending = false;           // takes no more launches
    std::size_t most_findings = 100;  // that a client is told of
  };

  Session(Host& host, UniqueFd socket, pid_t pid);
  ~Session();
  void start();
  // Ends the connection and gives everything back.
  void close(const std::string& reason);

  const Device* device() const { return device_; }
  ClientStat stat() const;

 private:
  struct Function {
    std::uint32_t module = 0;
    std::string name;
  };
  struct Module {
    std::string name;
    std::vector<std::string> kernels;
  };

  void when_readable();
  void receive_and_work();
  bool work_off();
  void flush();
  void resume();
  void pause();
  void watch_for_end();
  void go_on();
  bool on_frame(Frame& frame);
  bool on_hello(const Frame& frame);
  bool on_remote(const Frame& frame);
  template <class Message>
  bool on(Frame& frame, void (Session::*handler)(std::uint64_t, Message&, Frame&));

  void on_open(std::uint64_t request, Open& open, Frame& frame);
  void on_allocate(std::uint64_t request, Allocate& allocate, Frame& frame);
  void on_release(std::uint64_t request, Release& release, Frame& frame);
  void on_write(std::uint64_t request, Write& write, Frame& frame);
  void on_read(std::uint64_t request, Read& read, Frame& frame);
  void on_fill(std::uint64_t request, Fill& fill, Frame& frame);
  void on_copy(std::uint64_t request, Copy& copy, Frame& frame);
  void on_note(std::uint64_t request, HostNote& note, Frame& frame);
  void on_load(std::uint64_t request, LoadModule& load, Frame& frame);
  void on_unload(std::uint64_t request, UnloadModule& unload, Frame& frame);
  void on_find(std::uint64_t request, FindFunction& find, Frame& frame);
  void on_launch(std::uint64_t request, Launch& launch, Frame& frame);
  void on_sync(std::uint64_t request, Sync& sync, Frame& frame);
  void on_timeout(std::uint64_t request, SetTimeout& timeout, Frame& frame);
  void on_close_stream(std::uint64_t request, CloseStream& close, Frame& frame);
  void on_stat(std::uint64_t request, Stat& stat, Frame& frame);
  void on_stream_time(std::uint64_t request, StreamTime& time, Frame& frame);

  template <class Message>
  void reply(std::uint64_t request, const Message& message);
  void fail(std::uint64_t request, const Error& error);
  // Done or Failure, when the launch or lookup behind it has come to its end.
  std::function<void(Result<void>)> answer_later(std::uint64_t request);

  // The same answer; until it is given, the request counts as one without.
  template <class Value>
  std::function<void(Result<Value>)> counted(std::function<void(Result<Value>)> answer);

  Result<void> check_stream(std::uint32_t stream) const;
  Result<void> check_range(const char* what, std::uint64_t address, std::uint64_t bytes) const;
  Result<std::uint32_t> find_kernel(const std::string& name);
  void start_load(std::uint64_t request, const std::string& name, UniqueFd image);
  void give_back();
  // Null: nobody asks what the program does.
  HostWatch* watch() const;

  Host& host_;
  UniqueFd socket_;
  const pid_t pid_;
  const std::uint64_t client_number_;  // never given out twice
  const std::shared_ptr<ClientReport> report_;
  std::string name_;  // of the client, for the log
  bool remote_ = false;
  Device* device_ = nullptr;
  bool greeted_ = false, closed_ = false, paused_ = false, going_on_ = false, watching_for_end_ = false,
       sending_ = false;
  std::size_t unanswered_ = 0;  // requests besides launches
  FrameBuffer in_;
  Outbox out_;
  std::shared_ptr<LaunchQueue::Client> client_;
  std::vector<std::string> freed_at_;                   // of the release that comes next
  std::map<std::uint64_t, std::uint64_t> allocations_;  // address, bytes asked for
  std::map<std::uint32_t, Module> modules_;             // in order of loading
  std::set<std::uint32_t> leaving_;                     // modules to unload when the launches that use them are through
  std::unordered_map<std::uint32_t, Function> functions_;
  std::unordered_map<std::string, std::uint32_t> kernels_;  // name -> function, for launches by name
};

}  // namespace softtpu
