// SPDX-License-Identifier: Apache-2.0
//
// File: text_form.h
//
// Makes capitals small and takes accents away, as BERT's normalizer does: for a
// cased model whose study is of uncased text.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_TEXT_FORM_H_
#define FROSTLINE_WORKER_TRAINER_DATA_TEXT_FORM_H_

#include <string>
#include <string_view>

#include "worker/trainer/text/bert_normalizer.h"
#include "worker/trainer/text/normalized_text.h"

namespace frostline::trainer {

struct TextForm {
  bool lowercase = false;
  bool strip_accents = false;

  bool any() const { return lowercase || strip_accents; }

  friend bool operator==(const TextForm&, const TextForm&) = default;
};

// One thread uses it.
class TextShaper {
 public:
  explicit TextShaper(const TextForm& form);

  // The answer lives until the next call. Text that is no UTF-8 is repaired.
  std::string_view Shape(std::string_view text);

 private:
  const bool shapes_;
  BertNormalizer normalizer_;
  NormalizedText shaped_;
  std::string repaired_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_TEXT_FORM_H_
