#include "device/stream/format.hpp"

#include <array>
#include <charconv>
#include <cstdlib>

namespace softtpu::stream {
namespace {

constexpr std::array<std::string_view, kFields> kFieldNames{
#define FIELD(name) #name,
#include "device/stream/formats/fields.def"
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
#include "device/stream/formats/bm1684x.def"
};

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
  Format format{row.unit, short_form ? row.short_name : row.long_name, row.operation, 0, short_form, {}, {}};
  for_each_pair(row.functions, [&](std::string_view code, std::string_view name) {
    format.functions.push_back({static_cast<std::uint8_t>(number(code)), name});
  });
  unsigned bit = 0;
  for_each_pair(short_form ? row.short_fields : row.long_fields, [&](std::string_view name, std::string_view width) {
    FieldPlace place{Field::kCount, static_cast<std::uint16_t>(bit), static_cast<std::uint8_t>(number(width))};
    if (name != "-") place.field = field_named(name);
    bit += place.width;
    format.places.push_back(place);
  });
  format.bytes = static_cast<std::uint16_t>(bit / 8);
  return format;
}

}  // namespace

std::string_view to_text(Unit unit) { return unit == Unit::kTiu ? "TIU" : "DMA"; }
std::string_view to_text(Field field) { return kFieldNames[static_cast<std::size_t>(field)]; }

const FieldPlace* Format::find(Field field) const {
  for (const FieldPlace& place : places) {
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

InstructionSet::InstructionSet(std::span<const Row> rows) {
  for (const Row& row : rows) {
    if (!row.long_fields.empty()) formats_.push_back(make_format(row, false));
    if (!row.short_fields.empty()) formats_.push_back(make_format(row, true));
  }
}

const InstructionSet& InstructionSet::bm1684x() {
  static const InstructionSet set{kBm1684x};
  return set;
}

const Format* InstructionSet::find(Unit unit, bool short_form, unsigned operation, unsigned function) const {
  for (const Format& format : formats_) {
    if (format.unit == unit && format.short_form == short_form && format.operation == operation &&
        !format.function_name(function).empty()) {
      return &format;
    }
  }
  return nullptr;
}

const Format* InstructionSet::find(std::string_view name) const {
  for (const Format& format : formats_) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

}  // namespace softtpu::stream
