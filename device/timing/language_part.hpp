// What a network of a language model does: its name says so, as the compiler's scripts give it.
#pragma once

#include <cstdint>
#include <string_view>

namespace softtpu {

enum class LanguagePart : std::uint8_t { kNone, kBlock, kCachedBlock, kEmbedding, kCachedEmbedding, kHead };

// Of the network of this name; kNone: it is of no language model.
inline LanguagePart language_part(std::string_view name) {
  if (name.find("block_cache") != std::string_view::npos) return LanguagePart::kCachedBlock;
  if (name.starts_with("block_")) return LanguagePart::kBlock;
  if (name == "embedding_cache") return LanguagePart::kCachedEmbedding;
  if (name == "embedding") return LanguagePart::kEmbedding;
  return name.starts_with("lm_head") || name.starts_with("greedy_head") ? LanguagePart::kHead : LanguagePart::kNone;
}

}  // namespace softtpu
