// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/text_form.h"

#include "base/plain/text.h"

namespace frostline::trainer {

TextShaper::TextShaper(const TextForm& form)
    : shapes_(form.any()),
      normalizer_({.clean_text = false,
                   .handle_chinese_chars = false,
                   .strip_accents = form.strip_accents,
                   .lowercase = form.lowercase}) {}

std::string_view TextShaper::Shape(std::string_view text) {
  if (!shapes_) return text;
  repaired_ = RepairUtf8(text);
  normalizer_.Run(repaired_, 0, shaped_);
  return shaped_.bytes();
}

}  // namespace frostline::trainer
