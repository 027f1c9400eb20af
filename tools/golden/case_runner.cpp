#include "tools/golden/case_runner.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <span>

#include "device/numeric/formats.hpp"
#include "tools/golden/kernel/script.hpp"
#include "tools/golden/script_builder.hpp"

namespace softtpu::golden {
namespace {

constexpr int kShownDifferences = 4;

std::uint64_t element_bytes(const std::string& dtype) {
  if (dtype == "f32" || dtype == "i32" || dtype == "u32") return 4;
  if (dtype == "f16" || dtype == "bf16" || dtype == "i16" || dtype == "u16") return 2;
  return 1;
}

std::string to_text(const std::string& dtype, std::uint32_t bits) {
  if (dtype == "f32") return fmt::format("{:08x} ({})", bits, std::bit_cast<float>(bits));
  if (dtype == "f16") return fmt::format("{:04x} ({})", bits, widen_f16(static_cast<std::uint16_t>(bits)));
  if (dtype == "bf16") return fmt::format("{:04x} ({})", bits, widen_bf16(static_cast<std::uint16_t>(bits)));
  if (dtype == "i8") return fmt::format("{:02x} ({})", bits, static_cast<int>(static_cast<std::int8_t>(bits)));
  if (dtype == "i16") return fmt::format("{:04x} ({})", bits, static_cast<std::int16_t>(bits));
  if (dtype == "i32") return fmt::format("{:08x} ({})", bits, static_cast<std::int32_t>(bits));
  return fmt::format("{:x} ({})", bits, bits);
}

bool equal_element(std::uint32_t want, std::uint32_t got, const Region& region, bool nan_is_nan) {
  return want == got || (nan_is_nan && region.dtype == "f32" && is_nan_bits(want) && is_nan_bits(got));
}

// The first differing elements of a region as text; empty when it is equal.
std::string differences(const Region& region, std::span<const std::uint8_t> want, std::span<const std::uint8_t> got,
                        bool nan_is_nan) {
  if (std::memcmp(want.data(), got.data(), want.size()) == 0) return {};
  const std::uint64_t size = region.size % element_bytes(region.dtype) == 0 ? element_bytes(region.dtype) : 1;
  static const char* const kSpaces[] = {"local", "global", "L2", "DTCM"};
  std::string text;
  std::uint64_t count = 0;
  for (std::uint64_t at = 0; at < want.size(); at += size) {
    std::uint32_t expected = 0;
    std::uint32_t found = 0;
    std::memcpy(&expected, want.data() + at, size);
    std::memcpy(&found, got.data() + at, size);
    if (equal_element(expected, found, region, nan_is_nan)) continue;
    if (count++ >= kShownDifferences) continue;
    const std::uint64_t npu = region.first_npu + at / region.size;
    text += fmt::format(
        "\n    {} {}offset 0x{:x}, element {}: expected {}, got {}", kSpaces[static_cast<unsigned>(region.space)],
        region.space == Space::kLocal ? fmt::format("NPU {} ", npu) : "", region.addr + at % region.size,
        at % region.size / size, to_text(region.dtype, expected), to_text(region.dtype, found));
  }
  return count == 0 ? std::string() : fmt::format("{} of {} elements differ{}", count, want.size() / size, text);
}

// Compares return values and out-parameters.
std::string call_differences(const Case& recorded, const AnswerHeader& header, const AnswerCall* answers) {
  for (std::size_t i = 0; i < recorded.calls.size(); ++i) {
    const Call& call = recorded.calls[i];
    if (answers[i].status == kMissingFunction) return call.function + " is not there";
    std::uint64_t value = answers[i].value;
    if (call.return_base == Base::kLocal) value -= header.local_base;
    if (call.return_base == Base::kGlobal) value -= header.global_base;
    if (call.return_base == Base::kL2) value -= header.l2_base;
    value &= call.return_mask;
    if (call.returns && *call.returns != value) {
      return fmt::format("{} returns 0x{:x}, expected 0x{:x}", call.function, value, *call.returns);
    }
    int out = 0;
    for (const Argument& argument : call.arguments) {
      if (!argument.out) continue;
      const std::uint8_t* got = answers[i].out[out++];
      if (std::memcmp(got, argument.out->data(), argument.out->size()) == 0) continue;
      std::string text = call.function + " gives an out-parameter of";
      for (std::size_t at = 0; at < argument.out->size(); at += 4) {
        std::int32_t want = 0;
        std::int32_t have = 0;
        std::memcpy(&want, argument.out->data() + at, 4);
        std::memcpy(&have, got + at, 4);
        text += fmt::format(" {} (expected {})", have, want);
      }
      return text;
    }
  }
  return {};
}

std::string region_differences(const Case& recorded, const Script& script, const std::uint8_t* packed) {
  std::uint64_t total = 0;
  for (const Region& region : script.reads) total += region.bytes();
  for (const Region& region : script.reads) {
    const std::span<const std::uint8_t> first(packed, region.bytes());
    const std::string text = script.snapshot ? differences(region, first, {packed + total, region.bytes()}, false)
                                             : differences(region, region.data, first, recorded.nan_is_nan);
    if (!text.empty()) return script.snapshot ? "the refused call changed memory: " + text : text;
    packed += region.bytes();
  }
  return {};
}

// Lanes of the chip cannot read each other's memory: element-wise functions refuse operands that start on another NPU
// than dst, which some of the recorded emulators take (docs/deviations.md).
bool is_on_other_npu(const std::string& fault) {
  return fault.find(": start NPU of ") != std::string::npos &&
         fault.find(" differs from start NPU of dst") != std::string::npos;
}

}  // namespace

CaseResult CaseRunner::run(const Case& recorded) {
  const auto judged = [&](const std::string& failure) -> CaseResult {
    if (failure.empty()) return {Verdict::kPassed, {}};
    if (!recorded.deviation.empty()) return {Verdict::kSkipped, "deviation: " + recorded.deviation};
    return {Verdict::kFailed, failure};
  };
  const Script script = build_script(recorded);
  const std::uint64_t answer_offset = (script.bytes.size() + 63) / 64 * 64;
  const auto buffer = target_.buffer(answer_offset + script.answer_bytes);
  if (!buffer) return judged(buffer.error().text);
  const ReplayArguments arguments{target_.chip() == "bm1684" ? 1U : 0U, *buffer, *buffer + answer_offset,
                                  target_.bases().scratch};
  const AnswerHeader unfinished{};
  for (const auto& done : {target_.write(*buffer, script.bytes.data(), script.bytes.size()),
                           target_.write(arguments.answer_addr, &unfinished, sizeof(unfinished))}) {
    if (!done) return judged(done.error().text);
  }
  const auto launched = target_.launch(&arguments, sizeof(arguments), recorded.cores());
  Bytes answer(script.answer_bytes);
  if (const auto done = target_.read(arguments.answer_addr, answer.data(), answer.size()); !done)
    return judged(done.error().text);
  const auto& header = *reinterpret_cast<const AnswerHeader*>(answer.data());
  const auto* answers = reinterpret_cast<const AnswerCall*>(answer.data() + sizeof(AnswerHeader));
  // A function that the chip refuses as a whole ends its launch at once.
  if (header.finished != recorded.cores() && recorded.abort && !launched) return judged({});
  if (header.finished != recorded.cores())
    return judged("the launch did not reach its end: " + (launched ? std::string("no fault") : launched.error().text));
  if (!recorded.abort && !launched && recorded.deviation.empty() && is_on_other_npu(launched.error().text))
    return {Verdict::kOtherNpu, "operands on different start NPUs: " + launched.error().text};
  if (!recorded.abort && !launched) return judged(launched.error().text);
  if (recorded.abort && launched) return judged("the call was accepted; it has to be refused");
  std::string failure = call_differences(recorded, header, answers);
  if (recorded.abort && !failure.ends_with(" is not there")) failure.clear();
  const std::uint8_t* packed = reinterpret_cast<const std::uint8_t*>(answers + recorded.calls.size());
  if (failure.empty()) failure = region_differences(recorded, script, packed);
  return judged(failure);
}

}  // namespace softtpu::golden
