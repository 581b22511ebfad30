// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/brute_force.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sampler/draw/finite_tree.h"
#include "sampler/draw/taken_paths.h"

namespace frostline::sampler {
namespace {

class BruteForceSampler final : public Sampler {
 public:
  explicit BruteForceSampler(const Space& space)
      : tree_(space), total_(tree_.CountPoints()) {}

 private:
  absl::StatusOr<Point> ProposeUntil(const std::stop_token& /*stop*/,
                                     const History& history,
                                     std::int64_t number, Rng& rng) override {
    CatchUp(history);
    const Observation* const own = history.Find(number);
    if (own == nullptr) return Draw(rng);
    // A trial does not stand in its own way.
    const auto i = static_cast<std::size_t>(own - history.trials().data());
    const Path path = taken_.LeafOf(i);
    taken_.Put(i, {});
    auto point = Draw(rng);
    taken_.Put(i, path);
    return point;
  }

  void CatchUp(const History& history) {
    if (history.revision() < revision_) {
      taken_ = TakenPaths();
      revision_ = 0;
    }
    for (; revision_ < history.revision(); ++revision_) {
      const auto i = history.changes()[static_cast<std::size_t>(revision_)];
      const Point& point = history.trials()[i].point;
      taken_.Put(
          i, tree_.space().Check(point).ok() ? tree_.PathOf(point) : Path());
    }
  }

  absl::StatusOr<Point> Draw(Rng& rng) const {
    TakenPaths::Range taken = taken_.All();
    if (static_cast<double>(taken.size()) >= total_) {
      return MakeError(ErrorId::kSpaceExhausted,
                       absl::StrCat("all ", total_,
                                    " points of the space have been proposed"),
                       "the study is complete: lower the budget, or add levels "
                       "to search on");
    }
    Point point(static_cast<std::size_t>(tree_.space().size()), kAbsent);
    for (int i = 0; i < tree_.space().size(); ++i) {
      if (!tree_.space().IsActive(i, point)) continue;
      const auto index = static_cast<std::size_t>(i);
      const std::int32_t branch =
          DrawBranch(index, tree_.CountPending(i, point), taken, rng);
      taken = taken_.Below(taken, index, branch);
      point[index] = tree_.ValueOf(index, branch);
    }
    return point;
  }

  // In proportion to the leaves that are left below each branch.
  std::int32_t DrawBranch(std::size_t parameter, double pending,
                          const TakenPaths::Range& taken, Rng& rng) const {
    // So many cannot be used up; and so large a number has lost its ones.
    constexpr double kPlenty = 1e15;
    const bool count_taken = pending < kPlenty;
    std::vector<double> left;
    double sum = 0.0;
    TakenPaths::Range rest = taken;
    for (std::int32_t b = 0; b < tree_.CountBranches(parameter); ++b) {
      const auto used =
          static_cast<double>(taken_.SplitFront(rest, parameter, b).size());
      const double own = tree_.CountOwn(parameter, b);
      left.push_back(count_taken ? own * pending - used : own);
      sum += left.back();
    }
    double place = rng.Uniform() * sum;
    std::int32_t last = 0;  // rounding must not end on a branch used up
    for (std::size_t b = 0; b < left.size(); ++b) {
      if (left[b] <= 0.0) continue;
      last = static_cast<std::int32_t>(b);
      if (place < left[b]) break;
      place -= left[b];
    }
    return last;
  }

  FiniteTree tree_;
  double total_;
  TakenPaths taken_;
  std::int64_t revision_ = 0;
};

absl::Status CheckFits(const Space& space) {
  if (space.size() == 0) {
    return MakeError(ErrorId::kSamplerInvalid,
                     "the space has no parameter, so there is one point only",
                     "give a module levels, or use the sampler random to "
                     "repeat one point",
                     "sampler.name");
  }
  for (const Parameter& parameter : space.parameters()) {
    const double values = CountValues(parameter.domain);
    if (!std::isfinite(values)) {
      return MakeError(
          ErrorId::kSamplerInvalid,
          absl::StrCat("sampler brute cannot count the values of ",
                       parameter.name, ", which is continuous"),
          "give it levels or a step, or use the sampler qmc, tpe or random",
          "sampler.name");
    }
    if (values > static_cast<double>(kMaxBranches)) {
      return MakeError(
          ErrorId::kSpaceTooLarge,
          absl::StrCat("parameter ", parameter.name, " has more than ",
                       kMaxBranches, " values, too many for sampler brute"),
          "give it a coarser step, or use the sampler qmc, tpe or random",
          "sampler.name");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> MakeBruteForceSampler(
    const SamplerInput& input) {
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler brute",
                      "sampler.options", input.options);
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(CheckFits(input.space));
  return std::make_unique<BruteForceSampler>(input.space);
}

}  // namespace frostline::sampler
