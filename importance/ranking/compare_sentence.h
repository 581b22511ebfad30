// SPDX-License-Identifier: Apache-2.0
//
// File: compare_sentence.h
//
// A comparison of two studies in one sentence.
#ifndef FROSTLINE_IMPORTANCE_RANKING_COMPARE_SENTENCE_H_
#define FROSTLINE_IMPORTANCE_RANKING_COMPARE_SENTENCE_H_

#include <string>

#include "importance/ranking/compare.h"

namespace frostline {

// From its shifts and its rank agreement.
std::string DescribeComparison(const Comparison& comparison,
                               bool has_intervals);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_RANKING_COMPARE_SENTENCE_H_
