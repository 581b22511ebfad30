// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/step/drawn_texts.h"

namespace frostline::bench {
namespace {

constexpr std::int64_t kSpecial = 5;  // tokens before the words

}  // namespace

std::string DrawnVocabulary(const Shape& shape) {
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (std::int64_t i = kSpecial; i < shape.vocabulary; ++i) {
    vocabulary += "w" + std::to_string(i) + "\n";
  }
  return vocabulary;
}

std::string DrawnTexts(const Shape& shape, std::int64_t count,
                       std::uint64_t seed) {
  std::string text = "text\tlabel\n";
  std::uint64_t draw = seed;
  const auto words = static_cast<std::uint64_t>(shape.vocabulary - kSpecial);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j + 2 < shape.tokens; ++j) {
      draw = draw * 6364136223846793005U + 1442695040888963407U;
      const auto word = static_cast<std::int64_t>((draw >> 33U) % words);
      text += "w" + std::to_string(kSpecial + word) + " ";
    }
    text += i % 2 == 0 ? "\tno\n" : "\tyes\n";
  }
  return text;
}

}  // namespace frostline::bench
