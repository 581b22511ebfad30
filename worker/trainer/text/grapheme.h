// SPDX-License-Identifier: Apache-2.0
//
// File: grapheme.h
//
// A character map looks up grapheme clusters (UAX 29) of at most five bytes:
// the rules for Hangul, flags, emoji sequences and Indic conjuncts, whose
// clusters are longer, are left out.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_GRAPHEME_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_GRAPHEME_H_

#include <cstddef>
#include <string_view>

namespace frostline::trainer {

// Says where the cluster at `begin` ends. The text must be well-formed and
// begin < text.size().
std::size_t GraphemeEnd(std::string_view text, std::size_t begin);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_GRAPHEME_H_
