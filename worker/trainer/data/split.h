// SPDX-License-Identifier: Apache-2.0
//
// File: split.h
//
// Which rows are trained on, and which are held out. Deterministic by seed;
// classes keep their shares. Rows come back in the order of the file. Pure
// functions.
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

// Holds out `share` of the rows, to the nearest row: of each class as near to
// its share as whole rows allow, and never all of a class. kMisuse when share
// is not within (0, 1) or leaves one side empty.
Expected<HeldOut> HoldOut(const Dataset& data, double share,
                          std::uint64_t seed);

// Takes `count` of `rows`: equally many of each class, and where a class has
// too few, all of it and more of the others. Without classes (regression,
// tagging) by chance alone. The sample of a smaller count is part of that of
// a greater one. At most all rows.
std::vector<std::uint32_t> BalancedSubset(const Dataset& data,
                                          std::span<const std::uint32_t> rows,
                                          std::size_t count,
                                          std::uint64_t seed);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_SPLIT_H_
