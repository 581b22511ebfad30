// SPDX-License-Identifier: Apache-2.0
//
// File: depth.h
//
// Orders parameters by depth, which rises from embeddings over layers to pooler
// and head. A parameter of no module is placed by its own name, else last.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_DEPTH_H_
#define FROSTLINE_IMPORTANCE_MEASURE_DEPTH_H_

#include <string>
#include <vector>

#include "study/space.h"

namespace frostline::importance {

// Returns parameters by depth; one of several modules counts for the lowest.
std::vector<int> DepthOrder(const Space& space);

struct LayerGroup {
  // They come as "embeddings", "lower", "middle", "upper", "head".
  std::string name;
  std::vector<int> parameters;  // in depth order
};

// Cuts layers into thirds; "pooler" goes with "head". A parameter in several
// groups is in none.
std::vector<LayerGroup> LayerGroups(const Space& space);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_DEPTH_H_
