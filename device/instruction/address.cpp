#include "device/instruction/address.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace softtpu::stream {
namespace {

std::uint64_t mask_of(int count) { return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }

// The memory that an offset lies in. Memories may have a tag in their own addresses; offsets have none.
std::optional<std::uint64_t> find_memory(const Chip& chip, const InstructionCodes& codes, std::uint64_t offset,
                                         bool with_global) {
  for (const MemoryRange* memory : {&chip.local_mem, &chip.static_mem, &chip.l2_sram, &chip.global_mem}) {
    if (memory == &chip.global_mem && !with_global) continue;
    const std::uint64_t inside = offset - (memory->start & mask_of(codes.offset_bits));
    if (inside < memory->bytes) return memory->start + inside;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> in_local(const Chip& chip, std::uint64_t offset) {
  if (chip.local_mem.contains(offset)) return offset;
  if (offset >= chip.local_mem.bytes) return std::nullopt;
  return chip.local_mem.start + offset;
}

}  // namespace

InstructionCodes codes_of(const Chip& chip) {
  const InstructionSet* set = InstructionSet::find_chip(chip.name);
  return set == nullptr ? InstructionCodes() : set->codes();
}

std::optional<std::uint64_t> find_address(const Chip& chip, std::uint64_t written, std::span<const Area> areas) {
  const InstructionCodes codes = codes_of(chip);
  const auto find_area = [&](std::uint64_t address) {
    return std::find_if(areas.begin(), areas.end(),
                        [&](const Area& a) { return address >= a.begin && address < a.end; });
  };
  auto area = find_area(written);
  // An area of addresses of the system map is written with the mark of those.
  if (area == areas.end() && codes.system_bit >= 0) {
    const std::uint64_t mark = std::uint64_t{1} << codes.system_bit;
    if ((written & mark) != 0 && find_area(written - mark) != areas.end()) {
      written -= mark;
      area = find_area(written);
    }
  }
  if (area != areas.end()) return area->at + (written - area->begin);
  if (codes.offset_bits == 0) {
    if (!areas.empty() && written >= chip.global_mem.start) return std::nullopt;
    return written;
  }
  if (codes.system_bit >= 0 && (written >> codes.system_bit & 1) == 0) return in_local(chip, written);
  const auto tag = static_cast<int>(written >> codes.tag_bit & mask_of(codes.tag_bits));
  const std::uint64_t offset = written & mask_of(codes.offset_bits);
  if (tag == codes.local_tag) return in_local(chip, offset);
  if (!areas.empty() && (codes.plain_tags >> tag & 1) == 0) return std::nullopt;
  return find_memory(chip, codes, offset, areas.empty());
}

Result<void> resolve_addresses(const Chip& chip, Instruction& instruction, std::span<const Area> areas) {
  struct AddressFields {
    Field low, high;
  };
  for (const auto& [low, high] :
       {AddressFields{Field::src_addr, Field::src_addr_high}, AddressFields{Field::dst_addr, Field::dst_addr_high},
        AddressFields{Field::mask_addr, Field::kCount}, AddressFields{Field::index_addr, Field::kCount},
        AddressFields{Field::racu_addr, Field::kCount}, AddressFields{Field::meta_addr, Field::kCount}}) {
    if (!instruction.format->has(low)) continue;
    // A fill has no source, whatever its bits say.
    if (low == Field::src_addr && is_fill(instruction)) continue;
    std::uint64_t& address = instruction[low];
    if (high != Field::kCount && instruction.format->has(high)) address |= instruction[high] << 32;
    const auto found = find_address(chip, address, areas);
    if (!found) {
      return Error{
          ErrorKind::kUsage,
          fmt::format("{} {:#x} lies outside the network's areas and the core's own memories", to_text(low), address)};
    }
    address = *found;
  }
  return {};
}

}  // namespace softtpu::stream
