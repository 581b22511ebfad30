// SPDX-License-Identifier: Apache-2.0
//
// File: shared_texts.h
//
// The batch's texts as a trial has them, with a node's store of boundaries in a
// folder of the benchmark's own.
#ifndef FROSTLINE_TESTS_BENCH_STEP_SHARED_TEXTS_H_
#define FROSTLINE_TESTS_BENCH_STEP_SHARED_TEXTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/step/shape.h"
#include "tests/support/temp_folder.h"
#include "worker/trainer/prefix/boundaries.h"

namespace frostline::bench {

// One thread uses it. Ends the program with a word when something fails.
class SharedTexts {
 public:
  // As many texts as a batch has, each of its length.
  explicit SharedTexts(const Shape& shape);

  // Computes and stores the texts' boundaries behind `blocks`.
  void Fill(const trainer::Model& model, std::int64_t blocks,
            trainer::Precision precision);
  // As a trial reads it for a batch.
  at::Tensor Boundary();

 private:
  TempFolder folder_;
  trainer::TokenStore tokens_;
  trainer::PrefixStore store_;
  std::vector<std::uint32_t> rows_;
  std::int64_t width_;
  std::optional<trainer::Boundaries> boundaries_;
};

// Texts of nonsense words, each as long as the shape says, always the same.
// Knows no LibTorch.

// A vocab.txt: words "w5" and on have the ids 5 and on.
std::string DrawnVocabulary(const Shape& shape);

// Tab-separated rows of a text and a label, below a line of their names.
std::string DrawnTexts(const Shape& shape, std::int64_t count,
                       std::uint64_t seed);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STEP_SHARED_TEXTS_H_
