#include "device/instruction/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iterator>

namespace softtpu::stream {
namespace {

constexpr std::array<std::string_view, kFields> kFieldNames{
#define FIELD(name) #name,
#include "device/instruction/formats/fields.def"
};

constexpr std::string_view kSame = "same as the long form";

constexpr InstructionSet::Row row(Unit unit, int operation, std::string_view long_name, std::string_view short_name,
                                  std::string_view functions, std::string_view long_fields,
                                  std::string_view short_fields) {
  return {unit,
          static_cast<std::uint8_t>(operation),
          long_name,
          short_name,
          functions,
          long_fields,
          short_fields == kSame ? long_fields : short_fields};
}

constexpr std::string_view kNone;
constexpr Unit kTiu = Unit::kTiu;
constexpr Unit kDma = Unit::kDma;

#define INSTRUCTION(unit, operation, long_name, short_name, functions, long_fields, short_fields) \
  row(unit, operation, long_name, short_name, functions, long_fields, short_fields),
constexpr InstructionSet::Row kBm1684x[] = {
#include "device/instruction/formats/bm1684x.def"
};
#define INSTRUCTION(unit, operation, long_name, short_name, functions, long_fields, short_fields) \
  row(unit, operation, long_name, short_name, functions, long_fields, short_fields),
constexpr InstructionSet::Row kBm1684[] = {
#include "device/instruction/formats/bm1684.def"
};
#define INSTRUCTION(unit, operation, long_name, short_name, functions, long_fields, short_fields) \
  row(unit, operation, long_name, short_name, functions, long_fields, short_fields),
constexpr InstructionSet::Row kBm1688[] = {
#include "device/instruction/formats/bm1688.def"
};
#define INSTRUCTION(unit, operation, long_name, short_name, functions, long_fields, short_fields) \
  row(unit, operation, long_name, short_name, functions, long_fields, short_fields),
constexpr InstructionSet::Row kBm1690[] = {
#include "device/instruction/formats/bm1690.def"
};
#define INSTRUCTION(unit, operation, long_name, short_name, functions, long_fields, short_fields) \
  row(unit, operation, long_name, short_name, functions, long_fields, short_fields),
constexpr InstructionSet::Row kBm1684x2[] = {
#include "device/instruction/formats/bm1684x2.def"
};
#define INSTRUCTION(unit, operation, long_name, short_name, functions, long_fields, short_fields) \
  row(unit, operation, long_name, short_name, functions, long_fields, short_fields),
constexpr InstructionSet::Row kBm1690e[] = {
#include "device/instruction/formats/bm1690e.def"
};
#define INSTRUCTION(unit, operation, long_name, short_name, functions, long_fields, short_fields) \
  row(unit, operation, long_name, short_name, functions, long_fields, short_fields),
constexpr InstructionSet::Row kCv184x[] = {
#include "device/instruction/formats/cv184x.def"
};
#define INSTRUCTION(unit, operation, long_name, short_name, functions, long_fields, short_fields) \
  row(unit, operation, long_name, short_name, functions, long_fields, short_fields),
constexpr InstructionSet::Row kSgtpuv8[] = {
#include "device/instruction/formats/sgtpuv8.def"
};
#define INSTRUCTION(unit, operation, long_name, short_name, functions, long_fields, short_fields) \
  row(unit, operation, long_name, short_name, functions, long_fields, short_fields),
constexpr InstructionSet::Row kSg2380[] = {
#include "device/instruction/formats/sg2380.def"
};

// Measured with copies of one instruction (golden-bmodel/bm1688/README.md, bm1690/README.md).
constexpr InstructionCodes kBm1688Codes{.offset_bits = 35,
                                        .tag_bit = 36,
                                        .tag_bits = 3,
                                        .system_bit = 39,
                                        .plain_tags = 1,
                                        .message_bits = 7,
                                        .tiu_count_bit = 16,
                                        .dma_count_bit = 8};
constexpr InstructionCodes kBm1690Codes{.offset_bits = 40,
                                        .tag_bit = 40,
                                        .tag_bits = 5,
                                        .local_tag = 31,
                                        .plain_tags = 1 | std::uint64_t{1} << 30,
                                        .message_bits = 9,
                                        .alignment = 16,
                                        .tiu_count_bit = 16,
                                        .dma_count_bit = 9};

// Calls f(before the colon, number after it) for each word of "a:1 b:2".
template <class F>
void for_each_pair(std::string_view text, F f) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t colon = word.find(':');
    f(word.substr(0, colon), word.substr(colon + 1));
  }
}

unsigned number(std::string_view digits) {
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

Field field_named(std::string_view name) {
  for (std::size_t i = 0; i < kFields; ++i) {
    if (kFieldNames[i] == name) return static_cast<Field>(i);
  }
  std::abort();  // a table names a field that fields.def lacks
}

Format make_format(const InstructionSet::Row& row, bool short_form) {
  Format format;
  format.unit = row.unit;
  format.name = short_form ? row.short_name : row.long_name;
  format.operation = row.operation;
  format.short_form = short_form;
  format.slots.fill(Format::kNoSlot);
  std::uint8_t fields = 0;
  for_each_pair(row.functions, [&](std::string_view code, std::string_view name) {
    format.functions.push_back({static_cast<std::uint8_t>(number(code)), name});
  });
  unsigned bit = 0;
  for_each_pair(short_form ? row.short_fields : row.long_fields, [&](std::string_view name, std::string_view width) {
    BitField place{Field::kCount, static_cast<std::uint16_t>(bit), static_cast<std::uint8_t>(number(width))};
    if (name != "-") {
      place.field = field_named(name);
      // Each field once, and no more than an instruction has room for.
      auto& slot = format.slots[static_cast<std::size_t>(place.field)];
      if (slot != Format::kNoSlot || std::size_t{fields} == kMostFields) std::abort();
      slot = fields++;
    }
    bit += place.width;
    format.places.push_back(place);
  });
  format.bytes = static_cast<std::uint16_t>(bit / 8);
  return format;
}

}  // namespace

std::string_view to_text(Unit unit) { return unit == Unit::kTiu ? "TIU" : unit == Unit::kDma ? "DMA" : "SDMA"; }
std::string_view to_text(Field field) { return kFieldNames[static_cast<std::size_t>(field)]; }

const BitField* Format::find(Field field) const {
  for (const BitField& place : places) {
    if (place.field == field) return &place;
  }
  return nullptr;
}

std::string_view Format::function_name(unsigned code) const {
  for (const FunctionName& function : functions) {
    if (function.code == code) return function.name;
  }
  return {};
}

InstructionSet::InstructionSet(std::span<const Row> rows, const InstructionCodes& codes) : codes_(codes) {
  for (const Row& row : rows) {
    if (!row.long_fields.empty()) formats_.push_back(make_format(row, false));
    if (!row.short_fields.empty()) formats_.push_back(make_format(row, true));
  }
  index();
}

void InstructionSet::index() {
  const auto place = [](const Format& format, Field field) {
    const BitField* found = format.find(field);
    return found == nullptr ? BitField{} : *found;
  };
  for (Format& format : formats_) {
    format.room =
        static_cast<std::uint16_t>((format.bytes + codes_.alignment - 1) / codes_.alignment * codes_.alignment);
    const bool tiu = format.unit == Unit::kTiu;
    HeadFields& head = heads_[tiu ? 0 : 1];
    // Where an instruction has data in place of its mark, or of a part of its function, others have them.
    if (const BitField mark = place(format, Field::cmd_short); mark.width != 0) head.short_form = mark;
    if (head.operation.width == 0) head.operation = place(format, tiu ? Field::tsk_typ : Field::cmd_type);
    const BitField function = place(format, tiu ? Field::tsk_eu_typ : Field::cmd_special_function);
    if (function.width > head.function.width) head.function = function;
    has_end_ = has_end_ || format.name.starts_with("SYS");
    for (const FunctionName& one : format.functions) {
      const std::size_t at = ((tiu ? 0U : 2U) + (format.short_form ? 1U : 0U)) * kOperations * kFunctions +
                             format.operation * kFunctions + one.code;
      if (by_head_[at] == nullptr) by_head_[at] = &format;
    }
  }
}

const InstructionSet& InstructionSet::bm1684x() {
  static const InstructionSet set{kBm1684x};
  return set;
}

const InstructionSet* InstructionSet::find_chip(std::string_view chip) {
  // By the names that files of networks have; a set is made when it is first asked for.
  struct Named {
    std::string_view name;
    const InstructionSet& (*set)();
  };
  constexpr auto kOfBm1688 = []() -> const InstructionSet& {
    static const InstructionSet set{kBm1688, kBm1688Codes};
    return set;
  };
#define SOFTTPU_SET(name, ...)                      \
  Named {                                           \
    name, []() -> const InstructionSet& {           \
      static const InstructionSet set{__VA_ARGS__}; \
      return set;                                   \
    }                                               \
  }
  static constexpr Named kSets[] = {
      {"bm1684x", &InstructionSet::bm1684x},
      {"bm1688", kOfBm1688},
      {"cv186x", kOfBm1688},
      SOFTTPU_SET("bm1684", kBm1684),
      SOFTTPU_SET("bm1684x2", kBm1684x2),
      SOFTTPU_SET("bm1690", kBm1690, kBm1690Codes),
      SOFTTPU_SET("bm1690e", kBm1690e),
      SOFTTPU_SET("cv184x", kCv184x),
      SOFTTPU_SET("sgtpuv8", kSgtpuv8),
      SOFTTPU_SET("sg2380", kSg2380),
  };
#undef SOFTTPU_SET
  const auto* const found =
      std::find_if(std::begin(kSets), std::end(kSets), [&](const Named& one) { return one.name == chip; });
  return found == std::end(kSets) ? nullptr : &found->set();
}

const Format* InstructionSet::find(Unit unit, bool short_form, unsigned operation, unsigned function) const {
  if (operation >= kOperations || function >= kFunctions) return nullptr;
  const unsigned kind = (unit == Unit::kTiu ? 0U : 2U) + (short_form ? 1U : 0U);
  return by_head_[kind * kOperations * kFunctions + operation * kFunctions + function];
}

const Format* InstructionSet::find(std::string_view name) const {
  for (const Format& format : formats_) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

}  // namespace softtpu::stream
