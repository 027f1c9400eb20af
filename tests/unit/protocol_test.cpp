// Every message survives the wire, and no prefix of one is taken for a message.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/protocol/core_messages.hpp"
#include "runtime/protocol/frame.hpp"

namespace softtpu::protocol_test {
namespace {

// Gives every member a value that differs from its default and from its neighbours'. Of alternatives: number
// `alternative`, or the last one where there are fewer.
class Filler {
 public:
  explicit Filler(std::size_t alternative) : alternative_(alternative) {}

  template <wire::Number T>
  void operator()(std::string_view, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = !value;
    } else {
      value = static_cast<T>(next_ += 3);
    }
  }
  void operator()(std::string_view, double& value) { value = next_ += 3; }
  void operator()(std::string_view name, std::string& text) { text = std::string(name) + std::to_string(next_ += 3); }
  void operator()(std::string_view, Bytes& bytes) { bytes = {1, 2, static_cast<std::uint8_t>(next_ += 3)}; }
  template <wire::Record T>
  void operator()(std::string_view, T& message) {
    members::visit(message, *this);
  }
  template <wire::List T>
  void operator()(std::string_view name, T& list) {
    list.resize(2);
    for (auto& item : list) (*this)(name, item);
  }
  template <class T>
  void operator()(std::string_view name, std::optional<T>& value) {
    (*this)(name, value.emplace());
  }
  template <class... T>
  void operator()(std::string_view name, std::variant<T...>& value) {
    const std::size_t wanted = std::min(alternative_, sizeof...(T) - 1);
    std::size_t index = 0;
    ((index++ == wanted ? static_cast<void>(value.template emplace<T>()) : void()), ...);
    std::visit([&](auto& alternative) { (*this)(name, alternative); }, value);
  }

 private:
  const std::size_t alternative_;
  int next_ = 0;
};
constexpr std::size_t kMostAlternatives = 4;

template <class M>
struct Messages : testing::Test {};
using All = testing::Types<msg::Hello, msg::HelloReply, msg::Authenticate, msg::Remote, msg::Failure, msg::Done,
                           msg::Open, msg::OpenReply, msg::Allocate, msg::AllocateReply, msg::Release, msg::Write,
                           msg::Read, msg::ReadReply, msg::Fill, msg::Copy, msg::HostNote, msg::LoadModule,
                           msg::LoadModuleReply, msg::UnloadModule, msg::FindFunction, msg::FindFunctionReply,
                           msg::Launch, msg::Sync, msg::SetTimeout, msg::CloseStream, msg::Cancel, msg::Stat,
                           msg::StatReply, msg::StreamTime, msg::StreamTimeReply, msg::FindingNote, msg::FindingCount,
                           msg::AllowedNote, msg::CoreLoad, msg::CoreLoadReply, msg::CoreUnload, msg::CoreDefine,
                           msg::CoreLaunch, msg::CoreDone, msg::CoreExplain, msg::CoreExplainReply, msg::CoreWakeup>;
TYPED_TEST_SUITE(Messages, All);

template <class M>
std::vector<M> filled() {
  std::vector<M> all;
  for (std::size_t alternative = 0; alternative < kMostAlternatives; ++alternative) {
    Filler filler(alternative);
    filler("", all.emplace_back());
  }
  return all;
}

template <class M>
Bytes payload_of(const M& message) {
  Bytes frame;
  append_frame(frame, 7, message);
  return Bytes(frame.begin() + kFrameHeaderBytes, frame.end());
}

TYPED_TEST(Messages, SurviveTheWire) {
  for (const TypeParam& message : filled<TypeParam>()) {
    Bytes bytes;
    append_frame(bytes, 7, message, 0);
    FrameBuffer buffer;
    const auto space = buffer.space(bytes.size());
    std::copy(bytes.begin(), bytes.end(), space.begin());
    buffer.received(bytes.size());
    auto frame = buffer.next();
    ASSERT_TRUE(frame && *frame);
    EXPECT_EQ((*frame)->type, TypeParam::kType);
    EXPECT_EQ((*frame)->request, 7U);
    const auto again = find_message<TypeParam>((*frame)->payload);
    ASSERT_TRUE(again);
    EXPECT_EQ(to_text(*again), to_text(message));
    EXPECT_EQ(payload_of(*again), payload_of(message));
  }
}

TYPED_TEST(Messages, RefuseEveryTruncationAndAnExtraByte) {
  for (const TypeParam& message : filled<TypeParam>()) {
    Bytes payload = payload_of(message);
    for (std::size_t bytes = 0; bytes < payload.size(); ++bytes) {
      EXPECT_FALSE(find_message<TypeParam>(std::span(payload).first(bytes)))
          << bytes << " of " << payload.size() << " bytes";
    }
    payload.push_back(0);
    EXPECT_FALSE(find_message<TypeParam>(payload));
  }
}

TYPED_TEST(Messages, RefuseCountsBeyondTheBytesLeft) {
  for (const TypeParam& message : filled<TypeParam>()) {
    const Bytes payload = payload_of(message);
    for (std::size_t at = 0; at + 4 <= payload.size(); ++at) {
      Bytes wrong = payload;
      std::fill_n(wrong.begin() + static_cast<std::ptrdiff_t>(at), 4, std::uint8_t{0xFF});
      static_cast<void>(find_message<TypeParam>(wrong));  // must neither crash nor allocate what the count says
    }
  }
}

TEST(Wire, RefusesAnAlternativeThatDoesNotExist) {
  for (const int index : {2, 3, 255}) {
    const Bytes bytes = {1, 0, 0, 0, static_cast<std::uint8_t>(index), 0, 0, 0, 0, 0, 0, 0, 0};
    msg::LaunchPart part;
    Decoder decoder(bytes);
    decoder(part);
    EXPECT_FALSE(decoder.ok()) << index;
  }
}

TEST(Wire, NamesMembersInText) {
  msg::Launch launch = msg::make_launch(3, 0, "add", {1, 2});
  EXPECT_EQ(to_text(launch),
            "Launch{stream=3, wait=1, name=\"add\", parts=[{core=0, call=KernelCall{function=0, args=[2 bytes]}}], "
            "cores=1, repetitions=1}");
  launch.parts[0].call = msg::NetworkCall{"net", {msg::NetworkCopy{1, 2, 3}, msg::NetworkBarrier{}}};
  EXPECT_EQ(to_text(launch),
            "Launch{stream=3, wait=1, name=\"add\", parts=[{core=0, call=NetworkCall{name=\"net\", "
            "steps=[NetworkCopy{to=1, from=2, bytes=3}, NetworkBarrier{}]}}], cores=1, repetitions=1}");
}

// What a message declares is what it sends: no list of members can miss one.
TEST(Wire, VisitsEveryMember) {
  EXPECT_EQ(members::count<msg::Done>, 0U);
  EXPECT_EQ(members::count<msg::Hello>, 2U);
  EXPECT_EQ(members::count<msg::Launch>, 6U);
  EXPECT_EQ((members::name<msg::Launch, 2>()), "name");
  EXPECT_EQ(members::type_name<msg::HelloReply>(), "HelloReply");
}

TEST(Frames, ComeOutOfBytesInAnyPieces) {
  Bytes bytes;
  for (std::uint64_t i = 0; i < 5; ++i)
    append_frame(bytes, i, msg::Failure{ErrorKind::kUsage, std::string(i * 11, 'x')});
  for (std::size_t piece = 1; piece < 40; ++piece) {
    FrameBuffer buffer;
    std::uint64_t seen = 0;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const std::size_t count = std::min(piece, bytes.size() - at);
      const auto space = buffer.space(count);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, space.begin());
      buffer.received(count);
      while (buffer.has_frame()) {
        auto frame = buffer.next();
        ASSERT_TRUE(frame && *frame);
        EXPECT_EQ((*frame)->request, seen);
        EXPECT_EQ(find_message<msg::Failure>((*frame)->payload)->text.size(), seen * 11);
        ++seen;
      }
      auto none = buffer.next();
      ASSERT_TRUE(none);
      EXPECT_FALSE(*none);
    }
    EXPECT_EQ(seen, 5U);
  }
}

FrameBuffer buffer_with_header(std::size_t payload_bytes, std::uint16_t fds) {
  FrameBuffer buffer;
  wire::put_header(buffer.space(kFrameHeaderBytes).data(), payload_bytes, MessageType::kDone, fds, 1);
  buffer.received(kFrameHeaderBytes);
  return buffer;
}

TEST(Frames, RefuseAnAnnouncedLengthOverTheLimit) {
  auto buffer = buffer_with_header(kMaxPayloadBytes + 1U, 0);
  EXPECT_TRUE(buffer.has_frame());
  const auto frame = buffer.next();
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().text, "a frame of 67108865 bytes is over the limit of 67108864");
}

TEST(Frames, RefuseDescriptorsThatDidNotCome) {
  EXPECT_FALSE(buffer_with_header(0, 1).next());
  EXPECT_FALSE(buffer_with_header(0, kMaxFrameFds + 1).next());
}

}  // namespace
}  // namespace softtpu::protocol_test
