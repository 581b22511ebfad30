// SPDX-License-Identifier: Apache-2.0
//
// File: score.h
//
// The reference reads a number of JSON so: all digits as one whole number,
// rounded, then one division or multiplication by a power of ten, rounded
// again. That may be a unit in the last place off the nearest double, and
// decides between cuts of equal sums.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_SCORE_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_SCORE_H_

#include <string_view>

namespace frostline::trainer {

// `number` is valid JSON. Where the reference refuses it, it is infinite.
double ScoreOf(std::string_view number);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_SCORE_H_
