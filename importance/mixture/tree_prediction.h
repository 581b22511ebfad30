// SPDX-License-Identifier: Apache-2.0
//
// File: tree_prediction.h
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_TREE_PREDICTION_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_TREE_PREDICTION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/mixture/fine_axis.h"

namespace frostline::importance {

using FinePoint = std::vector<std::uint16_t>;  // by axis an index into codes

// `way` gets the axes split on the way, each once.
double PredictAt(const std::vector<FineAxis>& axes, const Tree& tree,
                 const FinePoint& point,
                 std::vector<std::size_t>* way = nullptr);

double PredictAt(const std::vector<FineAxis>& axes, std::span<const Tree> trees,
                 const FinePoint& point);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_TREE_PREDICTION_H_
