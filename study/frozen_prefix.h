// SPDX-License-Identifier: Apache-2.0
//
// File: frozen_prefix.h
//
// How much of a model's beginning a point or a space freezes. A frozen prefix
// is what trials can share: embeddings and the layers behind them, up to the
// first module that trains.
//
// Of points that are drawn evenly, a leading module with n independent levels,
// one of them frozen, ends the prefix with the chance 1 - 1/n; so of many such
// modules 1/n + 1/n^2 + ... = 1/(n - 1) are frozen on average: .17 of n = 7.
#ifndef FROSTLINE_STUDY_FROZEN_PREFIX_H_
#define FROSTLINE_STUDY_FROZEN_PREFIX_H_

#include <vector>

#include "study/point.h"
#include "study/space.h"

namespace frostline {

// Returns the depth of a point's prefix: embeddings and all layers below it are
// frozen. It is -1 when the embeddings train.
int FrozenPrefixOf(const Space& space, const Point& point);

// Returns for each number of leading modules (embeddings, layer.0, ...), from
// none to all, the chance that just so many are frozen; all add up to 1.
// `frozen_share` is that of a log-uniform rate with `freeze`. It is exact,
// since rates depend on no parameter but the prefix depth.
std::vector<double> FrozenPrefixChances(const Space& space, int layers,
                                        double frozen_share);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_FROZEN_PREFIX_H_
