// SPDX-License-Identifier: Apache-2.0
//
// File: template.h
//
// In the last step the tokens of one or two texts are cut to what fits and get
// special tokens around them.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_TEMPLATE_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_TEMPLATE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/text/encoding.h"

namespace frostline::trainer {

struct TokenRun {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> words;
  std::vector<Span> spans;

  void Clear() {
    ids.clear();
    words.clear();
    spans.clear();
  }
};

struct TemplateItem {
  enum class Kind : std::uint8_t { kSpecial, kFirst, kSecond };
  Kind kind;
  std::int32_t id;  // of a special token
  std::int32_t type_id;
};

struct Template {
  std::vector<TemplateItem> single;
  std::vector<TemplateItem> pair;
  // RoBERTa trims spans (span_trim.h), but for the blank put before a text.
  bool trim_spans = false;
  bool keep_prefix_space = false;

  // [CLS] A [SEP] B [SEP] has types 0 and 1.
  static Template Bert(std::int32_t cls, std::int32_t sep);
  // <s> A </s></s> B </s> has type 0.
  static Template Roberta(std::int32_t cls, std::int32_t sep);
  // A B has types 0 and 1.
  static Template Plain();
};

struct Lengths {
  std::size_t first;
  std::size_t second;
};
Expected<Lengths> Truncate(Lengths have, bool has_second, std::size_t budget,
                           Truncation strategy);

// Replaces `encoding`; `second` is null for a single text. Returns kMisuse when
// max_length has no room for the special tokens, or the text to be cut is too
// short to make the others fit.
Expected<Done> Assemble(const Template& form, const TokenRun& first,
                        const TokenRun* second, const EncodeOptions& options,
                        Encoding& encoding);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_TEMPLATE_H_
