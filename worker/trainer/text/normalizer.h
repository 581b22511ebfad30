// SPDX-License-Identifier: Apache-2.0
//
// File: normalizer.h
//
// First a text becomes a simpler one. Implementations are immutable and shared
// by threads.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_NORMALIZER_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_NORMALIZER_H_

#include <cstdint>
#include <string_view>

#include "worker/trainer/text/normalized_text.h"

namespace frostline::trainer {

class Normalizer {
 public:
  virtual ~Normalizer() = default;

  // `raw` is well-formed UTF-8 and begins at code point `base` of its text. It
  // replaces `out`, in time linear in `raw`.
  virtual void Run(std::string_view raw, std::uint32_t base,
                   NormalizedText& out) const = 0;
};

class NoNormalizer : public Normalizer {
 public:
  void Run(std::string_view raw, std::uint32_t base,
           NormalizedText& out) const override {
    out.Assign(raw, base);
  }
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_NORMALIZER_H_
