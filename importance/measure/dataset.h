// SPDX-License-Identifier: Apache-2.0
//
// File: dataset.h
//
// Targets are losses (lower is better), scaled to [-1, 1].
#ifndef FROSTLINE_IMPORTANCE_MEASURE_DATASET_H_
#define FROSTLINE_IMPORTANCE_MEASURE_DATASET_H_

#include <cstdint>
#include <vector>

#include "importance/measure/measured_axis.h"
#include "study/point.h"

namespace frostline::importance {

// More distinct codes share bins.
inline constexpr std::size_t kMaxBins = 256;

struct BinnedAxis {
  std::vector<double> lowest;  // codes, by bin; rising
  std::vector<double> highest;
  std::vector<std::uint16_t> bin_of_row;
  bool is_ordered = true;
};

struct Dataset {
  std::vector<MeasuredAxis> axes;
  std::vector<std::vector<double>> codes;  // by axis, then by row
  std::vector<BinnedAxis> bins;            // by axis
  std::vector<double> targets;             // by row

  std::size_t rows() const { return targets.size(); }
};

// REQUIRES: points are in the space of `axes`; losses are finite and not all
// equal.
Dataset MakeDataset(std::vector<MeasuredAxis> axes,
                    const std::vector<const Point*>& points,
                    const std::vector<double>& losses);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_DATASET_H_
