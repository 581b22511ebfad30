// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/snapshot.h"

#include <cstddef>

namespace frostline::trainer {
namespace {

std::vector<Weight> Marked(const Model& model,
                           const std::vector<bool>& trains) {
  std::vector<Weight> marked;
  for (std::size_t i = 0; i < trains.size(); ++i) {
    if (trains[i]) marked.push_back(model.weights()[i]);
  }
  return marked;
}

}  // namespace

WeightCopies CopyWeights(const Model& model, const std::vector<bool>& trains) {
  WeightCopies copies;
  for (const Weight& each : Marked(model, trains)) {
    copies[each.spec.name] =
        each.value.detach().to(at::kCPU, at::kFloat, /*non_blocking=*/false,
                               /*copy=*/true);
  }
  return copies;
}

Expected<Done> PutBack(const WeightCopies& copies,
                       const std::vector<bool>& trains, Model& model) {
  const std::vector<Weight> marked = Marked(model, trains);
  bool fits = copies.size() == marked.size();
  for (const Weight& each : marked) {
    const auto found = copies.find(each.spec.name);
    fits = fits && found != copies.end() &&
           found->second.sizes() == each.value.sizes();
  }
  if (!fits) {
    return Fault{FaultKind::kInconsistent,
                 "the best evaluation's weights are of another plan",
                 "begin this trial anew"};
  }
  const at::NoGradGuard no_graph;
  for (const Weight& each : marked) {
    each.value.copy_(copies.at(each.spec.name));
  }
  return Done{};
}

}  // namespace frostline::trainer
