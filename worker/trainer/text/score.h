// SPDX-License-Identifier: Apache-2.0
//
// File: score.h
//
// A number of JSON as the reference reads it: all digits as one whole number,
// rounded, then one division or multiplication by a power of ten, rounded
// again. That may be a unit in the last place off the nearest double, and
// decides between cuts of a word whose sums are equal.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_SCORE_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_SCORE_H_

#include <string_view>

namespace frostline::trainer {

// `number` is valid JSON. Infinite where the reference refuses it.
double ScoreOf(std::string_view number);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_SCORE_H_
