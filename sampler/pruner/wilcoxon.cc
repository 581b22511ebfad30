// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/wilcoxon.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/error.h"
#include "sampler/sampler.h"

namespace frostline::sampler {
namespace {

constexpr std::size_t kExactUpTo = 50;
constexpr std::size_t kExactWithTiesUpTo = 13;

// Ranks are doubled, so that the mean of two is a whole number.
struct Ranks {
  std::vector<std::size_t> doubled;  // as the differences
  double ties = 0.0;                 // sum of t^3 - t over groups of t
};

Ranks RankBySize(const std::vector<double>& differences) {
  const std::size_t count = differences.size();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t i) { return std::fabs(differences[i]); };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return size(a) < size(b); });
  Ranks ranks;
  ranks.doubled.resize(count);
  for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && size(order[end]) == size(order[begin])) ++end;
    for (std::size_t i = begin; i < end; ++i) {
      ranks.doubled[order[i]] = begin + 1 + end;
    }
    const auto tied = static_cast<double>(end - begin);
    ranks.ties += tied * tied * tied - tied;
  }
  return ranks;
}

// Returns the share of the sums over all choices of signs that is at least
// `sum`.
double ShareAtOrAbove(const std::vector<std::size_t>& ranks, std::size_t sum) {
  const std::size_t most =
      std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<double> probability(most + 1, 0.0);
  probability[0] = 1.0;
  for (const std::size_t rank : ranks) {
    for (std::size_t s = most + 1; s-- > 0;) {
      probability[s] =
          0.5 * (probability[s] + (s >= rank ? probability[s - rank] : 0.0));
    }
  }
  double share = 0.0;
  for (std::size_t s = most + 1; s-- > sum;) share += probability[s];
  return share;
}

}  // namespace

double SignedRankProbability(const std::vector<double>& differences) {
  const Ranks ranks = RankBySize(differences);
  std::vector<std::size_t> signed_ranks;  // of what is not zero
  std::size_t positive = 0;
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    if (differences[i] == 0.0) {
      zeros += ranks.doubled[i];
      continue;
    }
    signed_ranks.push_back(ranks.doubled[i]);
    if (differences[i] > 0.0) positive += ranks.doubled[i];
  }
  const bool plain = ranks.ties == 0.0 && zeros == 0;
  if (differences.size() <= (plain ? kExactUpTo : kExactWithTiesUpTo)) {
    return ShareAtOrAbove(signed_ranks, positive);
  }
  const auto n = static_cast<double>(differences.size());
  const double sum =
      static_cast<double>(positive) / 2.0 + static_cast<double>(zeros) / 4.0;
  const double deviation =
      std::sqrt((n * (n + 1.0) * (2.0 * n + 1.0) - ranks.ties / 2.0) / 24.0);
  const double z = (sum - n * (n + 1.0) * 0.25) / deviation;
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

namespace {

bool IsFeasibleResult(const Observation& trial) {
  return std::none_of(trial.constraints.begin(), trial.constraints.end(),
                      [](double violation) { return violation > 0.0; });
}

}  // namespace

bool BestSucceeded::Offer(const History& history, std::size_t index) {
  ++trials_read_;
  const Observation& trial = history.trials()[index];
  const bool is_best = best_.has_value() && best_->index == index;
  if (trial.state != TrialState::kSucceeded || trial.values.empty() ||
      !IsFeasibleResult(trial)) {
    return !is_best;
  }
  const double loss = AsLoss(objective_, trial.values[0]);
  if (is_best && loss > best_->loss) return false;
  if (!best_.has_value() || loss < best_->loss ||
      (loss == best_->loss && index < best_->index)) {
    best_ = Best{.index = index, .loss = loss};
  }
  return true;
}

const Observation* BestSucceeded::In(const History& history) {
  bool is_void = history.revision() < revision_;
  for (; revision_ < history.revision() && !is_void; ++revision_) {
    is_void =
        !Offer(history, history.changes()[static_cast<std::size_t>(revision_)]);
  }
  if (is_void) {
    best_.reset();
    for (std::size_t i = 0; i < history.size(); ++i) Offer(history, i);
    revision_ = history.revision();
  }
  return best_.has_value() ? &history.trials()[best_->index] : nullptr;
}

namespace {

bool AllFinite(const Observation& trial) {
  return std::all_of(trial.intermediate.begin(), trial.intermediate.end(),
                     [](const IntermediateValue& value) {
                       return std::isfinite(value.value);
                     });
}

double MeanOf(const Observation& trial) {
  double sum = 0.0;
  for (const IntermediateValue& value : trial.intermediate) sum += value.value;
  return sum / static_cast<double>(trial.intermediate.size());
}

class WilcoxonPruner final : public Pruner {
 public:
  WilcoxonPruner(double p_threshold, std::int64_t startup_steps,
                 const Objective& objective)
      : p_threshold_(p_threshold),
        min_pairs_(
            static_cast<std::size_t>(std::max<std::int64_t>(startup_steps, 2))),
        objective_(objective),
        best_(objective) {}

  PruneDecision Judge(const History& history, std::int64_t number) override {
    const Observation* const trial = history.Find(number);
    if (trial == nullptr || IsTerminal(trial->state) ||
        trial->intermediate.empty() || !AllFinite(*trial)) {
      return {};
    }
    const Observation* const best = best_.In(history);
    if (best == nullptr || best->intermediate.empty() || !AllFinite(*best)) {
      return {};
    }
    const std::vector<double> differences = Differences(*trial, *best);
    if (differences.size() < min_pairs_) return {};
    const double p = SignedRankProbability(differences);
    const bool mean_is_worse =
        AsLoss(objective_, MeanOf(*trial)) > AsLoss(objective_, MeanOf(*best));
    if (!(p < p_threshold_) || !mean_is_worse) return {};
    return {true, absl::StrFormat("worse %s than trial %d at %d equal steps, "
                                  "p is %.2g",
                                  objective_.metric, best->number,
                                  differences.size(), p)};
  }

 private:
  // Losses of `trial` above those of `best`, at steps that both have.
  std::vector<double> Differences(const Observation& trial,
                                  const Observation& best) const {
    std::vector<double> differences;
    auto other = best.intermediate.begin();
    for (const IntermediateValue& value : trial.intermediate) {
      while (other != best.intermediate.end() && other->step < value.step) {
        ++other;
      }
      if (other == best.intermediate.end()) break;
      if (other->step != value.step) continue;
      const double difference =
          AsLoss(objective_, value.value) - AsLoss(objective_, other->value);
      if (std::isfinite(difference)) differences.push_back(difference);
    }
    return differences;
  }

  double p_threshold_;
  std::size_t min_pairs_;
  Objective objective_;
  BestSucceeded best_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakeWilcoxonPruner(
    const PrunerSpec& spec, const Objective& objective) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner wilcoxon", spec.field,
                      spec.options);
  const double p_threshold = reader.Number("p_threshold", 0.1, 0.0, 1.0);
  const std::int64_t startup_steps =
      reader.Int("startup_steps", 2, 0, 1'000'000'000'000);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<WilcoxonPruner>(p_threshold, startup_steps,
                                          objective);
}

}  // namespace frostline::sampler
