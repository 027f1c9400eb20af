#include "tools/golden/script_builder.hpp"

#include <algorithm>
#include <cstring>

#include "tools/golden/kernel/script.hpp"

namespace softtpu::golden {
namespace {

class Writer {
 public:
  std::uint64_t put(const void* data, std::uint64_t size) {
    bytes.resize((bytes.size() + 7) / 8 * 8);
    const std::uint64_t offset = bytes.size();
    bytes.resize(offset + size);
    if (size != 0) std::memcpy(bytes.data() + offset, data, size);
    return offset;
  }
  template <class T>
  std::uint64_t put_list(const std::vector<T>& list) {
    return put(list.data(), list.size() * sizeof(T));
  }
  Bytes bytes;
};

ScriptRegion to_script(const Region& region) {
  return {static_cast<std::uint64_t>(region.space),
          region.first_npu,
          region.npus,
          region.core,
          region.addr,
          region.size,
          0};
}

ScriptCall to_script(const Call& call, Writer& writer) {
  std::vector<ScriptArgument> arguments;
  for (const Argument& argument : call.arguments) {
    const std::uint64_t offset = argument.kind == kPointer ? writer.put(argument.data.data(), argument.data.size()) : 0;
    arguments.push_back({argument.kind, argument.value, offset, argument.data.size()});
  }
  ScriptCall result{};
  result.name_offset = writer.put(call.function.c_str(), call.function.size() + 1);
  result.arguments = arguments.size();
  result.argument_offset = writer.put_list(arguments);
  return result;
}

bool touches_l2(const Case& recorded) {
  const auto in_l2 = [](const Region& region) { return region.space == Space::kL2; };
  const auto gives_l2 = [](const Call& call) { return call.return_base == Base::kL2; };
  return std::any_of(recorded.setup.begin(), recorded.setup.end(), in_l2) ||
         std::any_of(recorded.expect.begin(), recorded.expect.end(), in_l2) ||
         std::any_of(recorded.calls.begin(), recorded.calls.end(), gives_l2);
}

std::uint64_t polls_of(const Case& recorded) {
  std::uint64_t polls = touches_l2(recorded) ? 0 : kWithoutL2;
  for (const Call& call : recorded.calls) {
    if (call.function.find("_hau_") != std::string::npos) polls |= kHauPoll;
    if (call.function.find("_sdma_") != std::string::npos) polls |= kSdmaPoll;
  }
  return polls;
}

}  // namespace

Script build_script(const Case& recorded) {
  Script script;
  Writer writer;
  ScriptHeader header{};
  writer.put(&header, sizeof(header));
  std::vector<ScriptRegion> setups;
  for (const Region& region : recorded.setup) {
    setups.push_back(to_script(region));
    setups.back().data_offset = writer.put(region.data.data(), region.data.size());
  }
  std::vector<ScriptCall> calls;
  for (const Call& call : recorded.calls) calls.push_back(to_script(call, writer));
  script.snapshot = recorded.abort;
  script.reads = recorded.abort ? recorded.setup : recorded.expect;
  std::vector<ScriptRegion> reads;
  std::uint64_t read_bytes = 0;
  for (const Region& region : script.reads) {
    reads.push_back(to_script(region));
    read_bytes += region.bytes();
  }
  const std::vector<std::uint64_t> own(recorded.core_calls.begin(), recorded.core_calls.end());
  header = {
      setups.size(),          writer.put_list(setups),   calls.size(), writer.put_list(calls), reads.size(),
      writer.put_list(reads), script.snapshot ? 1U : 0U, own.size(),   writer.put_list(own),   polls_of(recorded)};
  std::memcpy(writer.bytes.data(), &header, sizeof(header));
  script.bytes = std::move(writer.bytes);
  script.answer_bytes =
      sizeof(AnswerHeader) + calls.size() * sizeof(AnswerCall) + read_bytes * (script.snapshot ? 2 : 1);
  return script;
}

}  // namespace softtpu::golden
