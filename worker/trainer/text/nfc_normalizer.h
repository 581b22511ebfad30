// SPDX-License-Identifier: Apache-2.0
//
// File: nfc_normalizer.h
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_NFC_NORMALIZER_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_NFC_NORMALIZER_H_

#include "worker/trainer/text/normalizer.h"

namespace frostline::trainer {

struct NfcOptions {
  // White space of two and more, a tab and an end of a line become one blank;
  // at the end of a text it goes.
  bool collapse_white_space = false;
};

// Unicode's canonical composition (ModernBERT), and what DeBERTa does besides.
class NfcNormalizer : public Normalizer {
 public:
  explicit NfcNormalizer(const NfcOptions& options) : options_(options) {}

  void Run(std::string_view raw, std::uint32_t base,
           NormalizedText& out) const override;

 private:
  NfcOptions options_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_NFC_NORMALIZER_H_
