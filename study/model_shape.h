// SPDX-License-Identifier: Apache-2.0
//
// File: model_shape.h
//
// The modules of a model, in depth order, and the selectors that name them:
//
//   embeddings | layer.3 | layer.* | layer.0-3 | pooler | head
//   layer.3.attention | layer.*.ffn | layer.3.head.7 | layer.3.head.*
//
// A module is a group of weights with one learning rate. A layer is either one
// module or is cut finer (attention and ffn; attention heads), never both.
#ifndef FROSTLINE_STUDY_MODEL_SHAPE_H_
#define FROSTLINE_STUDY_MODEL_SHAPE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace frostline {

inline constexpr int kMaxLayers = 256;
inline constexpr int kMaxHeads = 256;

struct ModelShape {
  int num_layers = 0;       // 0: a space without layers (general HPO)
  int heads_per_layer = 0;  // 0: attention heads are not addressable
  bool has_pooler = true;
};

// "embeddings", "layer.0" … "layer.{L-1}", "pooler" where there is one, "head".
std::vector<std::string> TopModules(const ModelShape& shape);

// The modules a selector names, in depth order; MODULE_UNKNOWN when it names
// none, saying which modules there are.
absl::StatusOr<std::vector<std::string>> SelectModules(
    const ModelShape& shape, const std::string& selector,
    const std::string& field);

// 3 for "layer.3" and for "layer.3.ffn"; -1 for modules outside the layers.
int LayerOf(const std::string& module);

// Whether one of the two modules is part of the other, or both are the same:
// layer.3 and layer.3.ffn; layer.3.attention and layer.3.head.7.
bool Overlap(const std::string& a, const std::string& b);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_MODEL_SHAPE_H_
