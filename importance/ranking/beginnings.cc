// SPDX-License-Identifier: Apache-2.0
#include "importance/ranking/beginnings.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "importance/measure/numbers.h"
#include "importance/measure/parallel.h"

namespace frostline::importance {
namespace {

using Trials = std::vector<const Observation*>;
// Nothing: these trials say nothing, which is no fault of the request.
using Part = absl::StatusOr<std::optional<Report>>;

Part EvaluatePart(const StudyParts& parts,
                  std::span<const Observation* const> trials, bool chance) {
  History history;
  for (const Observation* const trial : trials) history.Put(*trial);
  EvaluateOptions options = parts.options;
  options.bootstraps = 0;
  options.pairs = false;
  options.chance = chance;
  options.trees = parts.counts.trees;
  options.threads = 1;  // parts are what is done at the same time
  absl::StatusOr<Report> report =
      Evaluate(parts.space, parts.objectives, history, options);
  if (report.ok()) return std::optional<Report>(*std::move(report));
  if (HasErrorId(report.status(), ErrorId::kTrialsTooFew) ||
      HasErrorId(report.status(), ErrorId::kTargetConstant)) {
    return std::optional<Report>();
  }
  return report.status();
}

// Evenly from kMinTrials up to, and without, all trials; each once.
std::vector<std::size_t> BeginningSizes(std::size_t trials, int points) {
  std::vector<std::size_t> sizes;
  if (trials <= kMinTrials) return sizes;
  for (int k = 0; k + 1 < points; ++k) {
    const double share = static_cast<double>(k) / (points - 1);
    const auto size = static_cast<std::size_t>(std::lround(
        kMinTrials + share * static_cast<double>(trials - kMinTrials)));
    if (size == trials) break;
    if (sizes.empty() || size > sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

std::vector<double> MainShares(
    const std::vector<ParameterImportance>& parameters) {
  std::vector<double> shares;
  shares.reserve(parameters.size());
  for (const ParameterImportance& one : parameters) {
    shares.push_back(one.main.value);
  }
  return shares;
}

absl::StatusOr<std::vector<StabilityPoint>> EvaluateBeginnings(
    const StudyParts& parts) {
  const std::vector<std::size_t> sizes =
      BeginningSizes(parts.trials.size(), parts.counts.points);
  std::vector<Part> found(sizes.size(), std::optional<Report>());
  const std::span<const Observation* const> trials(parts.trials);
  ParallelFor(parts.options.threads, sizes.size(), [&](std::size_t i) {
    found[i] = EvaluatePart(parts, trials.first(sizes[i]), /*chance=*/true);
  });
  RETURN_IF_ERROR(CheckStop(parts.options.stop));
  std::vector<StabilityPoint> beginnings;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    RETURN_IF_ERROR(found[i].status());
    if (!found[i]->has_value()) continue;
    beginnings.push_back({static_cast<std::int64_t>(sizes[i]),
                          std::move((*found[i])->parameters)});
  }
  return beginnings;
}

absl::StatusOr<std::vector<Halving>> EvaluateHalvings(const StudyParts& parts) {
  const std::size_t half = parts.trials.size() / 2;
  std::vector<Halving> halvings;
  if (half < kMinTrials) return halvings;
  std::vector<Part> found(2 * static_cast<std::size_t>(parts.counts.halvings),
                          std::optional<Report>());
  ParallelFor(parts.options.threads, found.size(), [&](std::size_t i) {
    Trials trials = parts.trials;
    Rng rng(parts.options.seed, i / 2);
    Shuffle(trials, rng);
    const std::span<const Observation* const> shuffled(trials);
    found[i] = EvaluatePart(
        parts, i % 2 == 0 ? shuffled.first(half) : shuffled.subspan(half),
        /*chance=*/false);
  });
  RETURN_IF_ERROR(CheckStop(parts.options.stop));
  for (std::size_t i = 0; i < found.size(); i += 2) {
    RETURN_IF_ERROR(found[i].status());
    RETURN_IF_ERROR(found[i + 1].status());
    if (!found[i]->has_value() || !found[i + 1]->has_value()) continue;
    halvings.push_back({MainShares((*found[i])->parameters),
                        MainShares((*found[i + 1])->parameters)});
  }
  return halvings;
}

std::vector<std::vector<double>> HalfSampleDraws(
    const std::vector<double>& values, const std::vector<Halving>& halvings) {
  std::vector<std::vector<double>> draws;
  for (const Halving& halving : halvings) {
    for (const double sign : {0.5, -0.5}) {
      std::vector<double> draw = values;
      for (std::size_t i = 0; i < draw.size(); ++i) {
        draw[i] += sign * (halving.first[i] - halving.second[i]);
      }
      draws.push_back(std::move(draw));
    }
  }
  return draws;
}

}  // namespace frostline::importance
