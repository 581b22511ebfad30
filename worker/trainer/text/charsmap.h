// SPDX-License-Identifier: Apache-2.0
//
// File: charsmap.h
//
// SentencePiece's "precompiled character map" has rules "these bytes become
// those", as a double array and a string of replacements. XLM-R's is NFKC with
// a few changes. The file's array is walked as it is, every step checked.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_CHARSMAP_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_CHARSMAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/normalizer.h"

namespace frostline::trainer {

// Follows RFC 4648 with its padding. Returns nothing for any other text.
std::optional<std::string> DecodeBase64(std::string_view text);

// A character map looks up grapheme clusters (UAX 29) of at most five bytes:
// the rules for Hangul, flags, emoji sequences and Indic conjuncts, whose
// clusters are longer, are left out.
//
// Says where the cluster at `begin` ends. The text must be well-formed and
// begin < text.size().
std::size_t GraphemeEnd(std::string_view text, std::size_t begin);

class Charsmap : public Normalizer {
 public:
  static Expected<Charsmap> Parse(std::string_view base64);

  // Returns what the shortest rule that begins `chunk` puts there, if any.
  std::optional<std::string_view> Rule(std::string_view chunk) const;

  void Run(std::string_view raw, std::uint32_t base,
           NormalizedText& out) const override;

 private:
  Charsmap() = default;

  std::vector<std::uint32_t> units_;
  std::string replacements_;       // each ends with NUL
  std::array<bool, 128> ruled_{};  // ASCII that a rule replaces
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_CHARSMAP_H_
