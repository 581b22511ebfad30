// SPDX-License-Identifier: Apache-2.0
#include "importance/cube/cube_evaluator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "importance/cube/cube_fanova.h"
#include "importance/cube/cube_forest.h"
#include "importance/measure/dataset.h"
#include "importance/measure/numbers.h"
#include "importance/measure/parallel.h"
#include "importance/measure/tree_work.h"
#include "importance/report/plain_report.h"
#include "importance/report/warnings.h"

namespace frostline::importance {
namespace {

constexpr int kTreesPerDraw = 8;
constexpr int kCubeShuffles = 16;

// Streams of one seed, far apart; the forest itself has those from 0.
constexpr std::uint64_t kCubeDrawStream = std::uint64_t{1} << 32;
constexpr std::uint64_t kCubeShuffleStream = std::uint64_t{2} << 32;
// Of one draw or shuffle: its own, then its trees.
constexpr std::uint64_t kCubeStreamsEach = 1 + kTreesPerDraw;

using ShareFinder = std::vector<double> (*)(const CubeData& data,
                                            const CubeForest& forest,
                                            int threads,
                                            const std::stop_token& stop);

std::vector<double> CubeSharesOf(const CubeData& data, const CubeForest& forest,
                                 int threads, const std::stop_token& stop) {
  return CubeShares(forest.trees, data.columns, data.groups, threads, stop);
}

std::vector<double> ImpuritySharesOf(const CubeData& data,
                                     const CubeForest& forest, int,
                                     const std::stop_token&) {
  return ImpurityShares(forest.trees, data.groups);
}

// The largest share that each parameter had when the targets were dealt out
// anew.
std::vector<double> ChanceShares(const CubeData& data, ShareFinder shares_of,
                                 std::uint64_t seed, int threads,
                                 const std::stop_token& stop) {
  std::vector<std::vector<double>> shares(kCubeShuffles);
  ParallelFor(
      threads, shares.size(),
      [&](std::size_t s) {
        const std::uint64_t stream = kCubeShuffleStream + s * kCubeStreamsEach;
        Rng rng(seed, stream);
        std::vector<double> targets = data.targets;
        Shuffle(targets, rng);
        shares[s] =
            shares_of(data,
                      GrowCubeForest(data, targets, CubeWeights(data.rows(), 1),
                                     kTreesPerDraw, seed, stream + 1, 1, stop),
                      1, stop);
      },
      stop);
  if (stop.stop_requested()) return {};
  std::vector<double> most(data.groups.size(), 0.0);
  for (const std::vector<double>& shuffle : shares) {
    for (std::size_t i = 0; i < most.size(); ++i) {
      most[i] = std::max(most[i], shuffle[i]);
    }
  }
  return most;
}

// What each parameter has on trials drawn anew.
std::vector<std::vector<double>> DrawCubeShares(
    const CubeData& data, ShareFinder shares_of,
    const EvaluateOptions& options) {
  const CubeWeights all(data.rows(), 1);
  std::vector<std::vector<double>> draws(
      static_cast<std::size_t>(options.bootstraps));
  ParallelFor(
      options.threads, draws.size(),
      [&](std::size_t b) {
        const std::uint64_t stream = kCubeDrawStream + b * kCubeStreamsEach;
        Rng rng(options.seed, stream);
        draws[b] =
            shares_of(data,
                      GrowCubeForest(data, data.targets, DrawCubeRows(all, rng),
                                     kTreesPerDraw, options.seed, stream + 1, 1,
                                     options.stop),
                      1, options.stop);
      },
      options.stop);
  return draws;
}

absl::StatusOr<Report> EvaluateCube(const Space& space,
                                    const Selection& selection,
                                    const EvaluateOptions& options,
                                    ShareFinder shares_of) {
  const std::size_t rows = selection.points.size();
  const std::size_t axes = space.parameters().size();
  RETURN_IF_ERROR(CheckTreeWork(rows, axes, options.trees));
  const bool draws = CanGrowForIntervals(
      rows, axes, (options.bootstraps + kCubeShuffles) * kTreesPerDraw);
  const CubeData data = MakeCubeData(space, selection);
  const CubeForest forest = GrowCubeForest(
      data, data.targets, CubeWeights(data.rows(), 1), options.trees,
      options.seed, 0, options.threads, options.stop);
  PlainShares shares;
  shares.shares = shares_of(data, forest, options.threads, options.stop);
  if (draws) shares.replicates = DrawCubeShares(data, shares_of, options);
  if (draws && options.chance) {
    shares.chance = ChanceShares(data, shares_of, options.seed, options.threads,
                                 options.stop);
  } else {
    shares.chance.assign(shares.shares.size(),
                         std::numeric_limits<double>::infinity());
  }
  RETURN_IF_ERROR(CheckStop(options.stop));
  Report report = MakePlainReport(shares);
  report.trials_used = static_cast<std::int64_t>(data.rows());
  report.trials_left_out = selection.left_out;
  report.out_of_bag_r2 = OutOfBagR2(data, forest);
  report.warnings = FindWarnings(
      space,
      MakeDataset(MeasureSpace(space), selection.points, selection.losses));
  for (ReportWarning& warning : WarnOfLeftOut(data.partial)) {
    report.warnings.push_back(std::move(warning));
  }
  if (!draws) report.warnings.push_back(WarnOfNoIntervals(rows, axes));
  return report;
}

}  // namespace

absl::StatusOr<Report> EvaluateFanovaOptuna(const Space& space,
                                            const Selection& selection,
                                            const EvaluateOptions& options) {
  return EvaluateCube(space, selection, options, CubeSharesOf);
}

absl::StatusOr<Report> EvaluateMdi(const Space& space,
                                   const Selection& selection,
                                   const EvaluateOptions& options) {
  return EvaluateCube(space, selection, options, ImpuritySharesOf);
}

}  // namespace frostline::importance
