// SPDX-License-Identifier: Apache-2.0
//
// File: split.h
//
// Chooses by seed which rows are trained on and which are held out, in the
// order of the file.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_SPLIT_H_
#define FROSTLINE_WORKER_TRAINER_DATA_SPLIT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/dataset.h"

namespace frostline::trainer {

struct HeldOut {
  std::vector<std::uint32_t> training;
  std::vector<std::uint32_t> validation;
};

// Holds out `share` of the rows, to the nearest row, and of each class as near
// as whole rows allow, never all of one. Returns kMisuse when share is not
// within (0, 1) or leaves one side empty.
Expected<HeldOut> HoldOut(const Dataset& data, double share,
                          std::uint64_t seed);

// Takes at most `count` rows: equally many of each class, and more of the
// others where one has too few; without classes (regression, tagging) by chance
// alone. A smaller sample is part of a greater one.
std::vector<std::uint32_t> BalancedSubset(const Dataset& data,
                                          std::span<const std::uint32_t> rows,
                                          std::size_t count,
                                          std::uint64_t seed);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_SPLIT_H_
