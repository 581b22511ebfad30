// SPDX-License-Identifier: Apache-2.0
//
// File: tree_prediction.h
//
// What trees predict at a point of fine axes.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_TREE_PREDICTION_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_TREE_PREDICTION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "importance/forest/tree.h"
#include "importance/mixture/fine_axis.h"

namespace frostline::importance {

// An index into the codes of every fine axis.
using FinePoint = std::vector<std::uint16_t>;

// The prediction of a tree; to `way`, where there is one, the axes that were
// split on the way to it, each once.
double PredictAt(const std::vector<FineAxis>& axes, const Tree& tree,
                 const FinePoint& point,
                 std::vector<std::size_t>* way = nullptr);

// The mean prediction of the trees.
double PredictAt(const std::vector<FineAxis>& axes, std::span<const Tree> trees,
                 const FinePoint& point);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_TREE_PREDICTION_H_
