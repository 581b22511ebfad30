// SPDX-License-Identifier: Apache-2.0
#include "sampler/cost/point_work.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "study/freezing.h"

namespace frostline::sampler {
namespace {

bool IsRate(const Domain& domain) {
  return std::holds_alternative<Levels>(domain) ||
         std::holds_alternative<LogUniform>(domain);
}

bool IsFrozen(const Domain& domain, double value) {
  if (IsAbsent(value)) return true;
  const auto* const levels = std::get_if<Levels>(&domain);
  return levels == nullptr
             ? value == 0.0
             : levels->rates[static_cast<std::size_t>(value)] == 0.0;
}

// What a searched number is; 1 where it is none.
double NumberOf(const Domain& domain, double value) {
  if (const auto* const choice = std::get_if<Categorical>(&domain)) {
    const bool is_one =
        !IsAbsent(value) &&
        absl::SimpleAtod(choice->choices[static_cast<std::size_t>(value)],
                         &value);
    return is_one && value > 0.0 ? value : 1.0;
  }
  return !IsRate(domain) && value > 0.0 ? value : 1.0;
}

}  // namespace

WorkCounter::WorkCounter(const Space& space)
    : space_(space),
      epochs_(space.IndexOf("epochs")),
      batch_size_(space.IndexOf("batch_size")),
      max_length_(space.IndexOf("max_length")) {
  for (std::size_t m = 0; m < space.modules().size(); ++m) {
    const std::string& module = space.modules()[m].module;
    if (module == "embeddings") embeddings_ = m;
    layer_of_.push_back(LayerOf(module));
    if (layer_of_.back() < 0) continue;
    const auto layer = static_cast<std::size_t>(layer_of_.back());
    parts_.resize(std::max(parts_.size(), layer + 1));
    parts_[layer] += 1.0;
  }
}

double WorkCounter::Searched(const std::optional<int>& parameter,
                             const Point& point) const {
  if (!parameter.has_value()) return 1.0;
  const auto i = static_cast<std::size_t>(*parameter);
  return NumberOf(space_.parameters()[i].domain, point[i]);
}

std::vector<double> WorkCounter::TrainedShares(const Point& point) const {
  std::vector<double> trained;
  if (space_.modules().empty()) {
    for (std::size_t i = 0; i < point.size(); ++i) {
      const Domain& domain = space_.parameters()[i].domain;
      if (!IsRate(domain)) continue;
      trained.push_back(IsFrozen(domain, point[i]) ? 0.0 : 1.0);
    }
    return trained;
  }
  trained.resize(parts_.size());
  for (std::size_t m = 0; m < layer_of_.size(); ++m) {
    if (layer_of_[m] < 0 || space_.IsFrozen(m, point)) continue;
    const auto layer = static_cast<std::size_t>(layer_of_[m]);
    trained[layer] += 1.0 / parts_[layer];
  }
  return trained;
}

PointWork WorkCounter::CountOf(const Point& point) const {
  PointWork work;
  work.epochs = Searched(epochs_, point);
  work.batch_size = Searched(batch_size_, point);
  work.max_length = Searched(max_length_, point);
  work.prefix = std::max(FrozenPrefixOf(space_, point), 0);
  bool below = embeddings_.has_value() && !space_.IsFrozen(*embeddings_, point);
  work.embeddings = below ? 1.0 : 0.0;
  const std::vector<double> trained = TrainedShares(point);
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const double forward = static_cast<double>(i) < work.prefix ? 0.0 : 1.0;
    const double backward = below ? 1.0 : 0.0;
    if (i + 1 == trained.size()) {
      work.top = forward + backward + trained[i];
    } else {
      work.forward += forward;
      work.backward += backward;
      work.weights += trained[i];
    }
    below = below || trained[i] > 0.0;
  }
  return work;
}

}  // namespace frostline::sampler
