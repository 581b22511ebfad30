// SPDX-License-Identifier: Apache-2.0
#include "study/frozen_prefix.h"

#include <cstddef>
#include <string>

#include "study/model_shape.h"

namespace frostline {

int FrozenPrefixOf(const Space& space, const Point& point) {
  int depth = 0;
  for (std::size_t m = 0; m < space.modules().size(); ++m) {
    const std::string& module = space.modules()[m].module;
    const int layer = LayerOf(module);
    if (space.IsFrozen(m, point)) {
      if (layer >= 0) depth = layer + 1;
      continue;
    }
    if (layer < 0) return module == "embeddings" ? -1 : depth;
    return layer;
  }
  return depth;
}

}  // namespace frostline
