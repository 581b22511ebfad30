// SPDX-License-Identifier: Apache-2.0
//
// File: freezing.h
//
// Selectors name the modules of a model, which are in depth order:
//
//   embeddings | layer.3 | layer.* | layer.0-3 | pooler | head
//   layer.3.attention | layer.*.ffn | layer.3.head.7 | layer.3.head.*
//   head.sst, of several tasks; "head" selects the heads of all then
//
// A module has one learning rate. A layer is one module or is cut finer
// (attention and ffn; attention heads), never both.
#ifndef FROSTLINE_STUDY_FREEZING_H_
#define FROSTLINE_STUDY_FREEZING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace frostline {

inline constexpr int kMaxLayers = 256;
inline constexpr int kMaxHeads = 256;

struct ModelShape {
  int num_layers = 0;       // 0: no layers (general HPO)
  int heads_per_layer = 0;  // 0: heads are not addressable
  bool has_pooler = true;
  std::vector<std::string> tasks = {};  // with a head of its own each
};

// Returns "embeddings", "layer.0" …, "pooler" where there is one, "head" or
// those of the tasks.
std::vector<std::string> TopModules(const ModelShape& shape);

// They are in depth order; none is MODULE_UNKNOWN, which lists those there are.
absl::StatusOr<std::vector<std::string>> SelectModules(
    const ModelShape& shape, const std::string& selector,
    const std::string& field);

// Returns 3 for "layer.3.ffn"; outside of the layers it is -1.
int LayerOf(const std::string& module);

// Holds for layer.3 and layer.3.ffn, or layer.3.attention and layer.3.head.7.
bool Overlap(const std::string& a, const std::string& b);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_FREEZING_H_
