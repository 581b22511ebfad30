// SPDX-License-Identifier: Apache-2.0
//
// File: drawn_texts.h
//
// Texts of nonsense words, each as long as the shape says, always the same.
// Knows no LibTorch.
#ifndef FROSTLINE_TESTS_BENCH_STEP_DRAWN_TEXTS_H_
#define FROSTLINE_TESTS_BENCH_STEP_DRAWN_TEXTS_H_

#include <cstdint>
#include <string>

#include "tests/bench/step/shape.h"

namespace frostline::bench {

// A vocab.txt: words "w5" and on have the ids 5 and on.
std::string DrawnVocabulary(const Shape& shape);

// Tab-separated rows of a text and a label, below a line of their names.
std::string DrawnTexts(const Shape& shape, std::int64_t count,
                       std::uint64_t seed);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STEP_DRAWN_TEXTS_H_
