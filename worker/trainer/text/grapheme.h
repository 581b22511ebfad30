// SPDX-License-Identifier: Apache-2.0
//
// File: grapheme.h
//
// Grapheme clusters (UAX 29) as far as a character map can notice them: it
// looks up clusters of at most five bytes, so the rules for Hangul, flags,
// emoji sequences and Indic conjuncts, whose clusters are longer, are left out.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_GRAPHEME_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_GRAPHEME_H_

#include <cstddef>
#include <string_view>

namespace frostline::trainer {

// Where the cluster that begins at `begin` ends, for well-formed text.
// REQUIRES: begin < text.size().
std::size_t GraphemeEnd(std::string_view text, std::size_t begin);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_GRAPHEME_H_
