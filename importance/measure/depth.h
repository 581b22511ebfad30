// SPDX-License-Identifier: Apache-2.0
//
// File: depth.h
//
// The order of a model's depth: embeddings, layers from the lowest to the
// highest, pooler, head. Parameters that no module takes its rate from come
// after all modules, in the space's order.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_DEPTH_H_
#define FROSTLINE_IMPORTANCE_MEASURE_DEPTH_H_

#include <string>
#include <vector>

#include "study/space.h"

namespace frostline::importance {

// Indices of parameters; one that drives several modules stands where the
// lowest of them does.
std::vector<int> DepthOrder(const Space& space);

struct LayerGroup {
  std::string name;             // "embeddings", "lower", "middle", "upper",
                                // "head"; these five in this order
  std::vector<int> parameters;  // in depth order; never empty
};

// Layers are cut into thirds by their number, "pooler" goes with "head". A
// parameter whose modules lie in several groups belongs to none.
std::vector<LayerGroup> LayerGroups(const Space& space);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_DEPTH_H_
