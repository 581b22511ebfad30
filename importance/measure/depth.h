// SPDX-License-Identifier: Apache-2.0
//
// File: depth.h
//
// The order of depth: embeddings, layers upwards, pooler, head, then parameters
// of no module.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_DEPTH_H_
#define FROSTLINE_IMPORTANCE_MEASURE_DEPTH_H_

#include <string>
#include <vector>

#include "study/space.h"

namespace frostline::importance {

// Parameters; one of several modules stands at the lowest.
std::vector<int> DepthOrder(const Space& space);

struct LayerGroup {
  std::string name;             // "embeddings", "lower", "middle", "upper",
                                // "head"; these five in this order
  std::vector<int> parameters;  // in depth order
};

// Layers are cut into thirds; "pooler" goes with "head". A parameter in several
// groups is in none.
std::vector<LayerGroup> LayerGroups(const Space& space);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_DEPTH_H_
