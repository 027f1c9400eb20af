#include "device/checks/scalar_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "device/core/call_site.hpp"
#include "device/core/stack_paint.hpp"
#include "device/engines/command.hpp"

namespace softtpu {
namespace {

// What people write as a constant: 1, -0.5, 0.01, 1e-5. Bits that were not meant as a float have eight or nine digits.
constexpr std::ptrdiff_t kMostDigits = 5;
constexpr float kSmallest = 1e-12F, kLargest = 1e9F;
constexpr std::uint32_t kSmallestNormal = 0x0080'0000;
constexpr std::uint32_t kLargestNegativeInteger = 0xFFFF'0000;  // -65536 as an integer, a NaN as a float

bool looks_like_float(std::uint32_t bits) {
  const auto value = std::bit_cast<float>(bits);
  if (!(std::fabs(value) >= kSmallest && std::fabs(value) <= kLargest)) return false;
  std::string digits = fmt::format("{}", value);
  digits.resize(std::min(digits.find('e'), digits.size()));
  std::erase_if(digits, [](char c) { return c < '0' || c > '9'; });
  const std::size_t first = digits.find_first_not_of('0'), last = digits.find_last_not_of('0');
  return first != std::string::npos && static_cast<std::ptrdiff_t>(last - first) < kMostDigits;
}

// Whether the operation takes its operands for numbers of their type; moves and logic take them for bits.
bool takes_numbers(const Command& command) {
  const auto* arith = std::get_if<ArithCmd>(&command);
  const bool logic = arith != nullptr && (arith->mode == ArithMode::kAnd || arith->mode == ArithMode::kOr ||
                                          arith->mode == ArithMode::kXor);
  return traits_of(command).typed_result && !logic;
}

class ScalarCheck final : public Observer {
 public:
  explicit ScalarCheck(std::shared_ptr<Findings> findings) : findings_(std::move(findings)) {}

  void launch_begins(const Memories&, const std::string& kernel, int core) override { findings_->begin(kernel, core); }

  void before(Op op, const Command& command) override {
    const auto judge_one = [&](Access, const char* name, const Operand& operand) {
      if (const auto* scalar = std::get_if<Scalar>(&operand)) judge(op, command, name, *scalar);
    };
    for_each_operand(command, judge_one);
  }

  void launch_ends(const std::string&) override { findings_->report(); }

 private:
  void judge(Op op, const Command& command, const char* name, const Scalar& scalar) {
    const std::uint32_t bits = scalar.bits;
    if (bits == kPaintedWord) {
      return report("constraint/scalar-unset", op, name, scalar,
                    fmt::format("{} was never set: its bytes are what the stack held", name));
    }
    const int size = size_of(scalar.dtype);
    if (size == 1 || size == 2) return judge_short(op, name, scalar, 8 * size);
    if (scalar.dtype == Dtype::kFp32 && takes_numbers(command)) judge_float(op, name, scalar);
  }

  // Of a type of one or two bytes the rest of the bits is dropped.
  void judge_short(Op op, const char* name, const Scalar& scalar, int width) {
    const std::uint32_t above = scalar.bits >> width, low = scalar.bits & ((1U << width) - 1);
    const bool extends_sign = above == ~std::uint32_t{0} >> width;
    if (above == 0 || extends_sign || above == kPaintedWord >> width || !looks_like_float(scalar.bits)) return;
    report("constraint/scalar-bits", op, name, scalar,
           fmt::format("the bits of {}, 0x{:08x}, are {} as fp32; {} takes the low {} of them only: 0x{:0{}x}", name,
                       scalar.bits, std::bit_cast<float>(scalar.bits), to_text(scalar.dtype), width, low, width / 4));
  }

  // Small integers are subnormal floats, which the chip takes for 0; negative ones are NaNs.
  void judge_float(Op op, const char* name, const Scalar& scalar) {
    const bool small = scalar.bits > 0 && scalar.bits < kSmallestNormal;
    if (!small && scalar.bits < kLargestNegativeInteger) return;
    report("constraint/scalar-bits", op, name, scalar,
           fmt::format("the bits of {}, 0x{:08x}, are {} as an integer; as fp32 they are {}", name, scalar.bits,
                       std::bit_cast<std::int32_t>(scalar.bits),
                       small ? "a subnormal number, which counts as 0" : "a NaN"));
  }

  void report(const char* rule, Op op, const char* name, const Scalar& scalar, const std::string& what) {
    const CallStack here = capture_call_stack();
    const std::string function = call_name(op, here);
    Finding finding;
    finding.rule = rule;
    finding.what = fmt::format("{}: {}", function, what);
    finding.calls = {{function, fmt::format("{} takes {} {}", function, name, to_text(Operand(scalar))), here, {}}};
    finding.nearest = fmt::format("{} for {}", to_text(scalar.dtype), name);
    findings_->add(finding);
  }

  std::shared_ptr<Findings> findings_;
};

}  // namespace

std::shared_ptr<Observer> make_scalar_check(std::shared_ptr<Findings> findings) {
  return std::make_shared<ScalarCheck>(std::move(findings));
}

}  // namespace softtpu
