// SPDX-License-Identifier: Apache-2.0
//
// File: bert_normalizer.h
//
// BERT cleans so: control characters go, white space becomes a blank,
// ideographs stand alone, accents go, capitals become small.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_BERT_NORMALIZER_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_BERT_NORMALIZER_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "worker/trainer/text/normalizer.h"

namespace frostline::trainer {

struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

class BertNormalizer : public Normalizer {
 public:
  explicit BertNormalizer(const BertNormalizerOptions& options);

  void Run(std::string_view raw, std::uint32_t base,
           NormalizedText& out) const override;

 private:
  // Takes an ASCII `raw`, as most is. It is false when a byte goes: Run begins
  // anew.
  bool RunAscii(std::string_view raw, std::uint32_t base,
                NormalizedText& out) const;

  BertNormalizerOptions options_;
  std::array<char, 128> ascii_;  // what each becomes; 0: it goes
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_BERT_NORMALIZER_H_
