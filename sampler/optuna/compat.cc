// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>

#include "base/error.h"
#include "sampler/draw/random.h"
#include "sampler/sampler.h"
#include "sampler/split.h"

namespace frostline::sampler {
namespace {

Categorical Choices(std::size_t count) {
  Categorical choices;
  for (std::size_t i = 0; i < count; ++i) {
    choices.choices.push_back(std::to_string(i));
  }
  return choices;
}

Domain AsInOptuna(const Domain& domain, bool levels_are_integers) {
  if (const auto* d = std::get_if<Levels>(&domain)) {
    if (!levels_are_integers) return Choices(d->rates.size());
    return IntRange{0, static_cast<std::int64_t>(d->rates.size()) - 1, 1,
                    false};
  }
  if (const auto* d = std::get_if<LogUniform>(&domain)) {
    return LogUniform{d->lo, d->hi, false};
  }
  return domain;
}

bool CanFreeze(const Domain& domain) {
  const auto* const rate = std::get_if<LogUniform>(&domain);
  return rate != nullptr && rate->freeze;
}

}  // namespace

CompatSpace::CompatSpace(Space space, bool levels_are_integers)
    : space_(std::move(space)) {
  for (std::size_t i = 0; i < space_.parameters().size(); ++i) {
    const Parameter& parameter = space_.parameters()[i];
    CompatParameter ours;
    ours.source = i;
    if (CanFreeze(parameter.domain)) {
      ours.name = parameter.name + ".frozen";
      ours.domain = Choices(2);
      ours.is_switch = true;
      parameters_.push_back(ours);
      ours.is_switch = false;
      ours.has_switch = true;
    }
    ours.name = parameter.name;
    ours.domain = AsInOptuna(parameter.domain, levels_are_integers);
    ours.is_single = CountValues(ours.domain) == 1.0;
    parameters_.push_back(std::move(ours));
  }
  by_name_.resize(parameters_.size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::stable_sort(by_name_.begin(), by_name_.end(),
                   [this](std::size_t a, std::size_t b) {
                     return parameters_[a].name < parameters_[b].name;
                   });
}

CompatRow CompatSpace::RowOf(const Point& point) const {
  CompatRow row;
  row.reserve(parameters_.size());
  for (const CompatParameter& parameter : parameters_) {
    const double value = point[parameter.source];
    if (IsAbsent(value)) {
      row.push_back(kAbsent);
    } else if (parameter.is_switch) {
      row.push_back(value == 0.0 ? 1.0 : 0.0);
    } else {
      row.push_back(parameter.has_switch && value == 0.0 ? kAbsent : value);
    }
  }
  return row;
}

bool CompatSpace::IsAsked(std::size_t i, const Point& point,
                          const CompatRow& row) const {
  const CompatParameter& parameter = parameters_[i];
  if (!space_.IsActive(static_cast<int>(parameter.source), point)) return false;
  return !parameter.has_switch || row[i - 1] == 0.0;
}

void CompatSpace::Write(std::size_t i, double value, Point& point) const {
  const CompatParameter& parameter = parameters_[i];
  if (!parameter.is_switch) {
    point[parameter.source] = value;
  } else if (value == 1.0) {
    point[parameter.source] = 0.0;
  }
}

double DrawCompatRandom(const Domain& domain, OptunaVersion version,
                        NumpyStream& stream) {
  if (const auto* d = std::get_if<Categorical>(&domain)) {
    const std::vector<double> scores = stream.Uniforms(d->choices.size());
    return static_cast<double>(std::max_element(scores.begin(), scores.end()) -
                               scores.begin());
  }
  const NumericRange range = *NumericRangeOf(domain);
  const double place = stream.Uniform(range.box_lo, range.box_hi);
  double value = range.log ? std::exp(place) : place;
  if (range.step == 0.0) {
    value = std::min(value, std::nextafter(range.hi, range.hi - 1.0));
  } else if (range.log) {
    value = std::nearbyint(value);
  } else {
    // Version 5 rounds halves of integers up, everything else to even.
    const double steps = (value - range.lo) / range.step;
    const bool up = version == OptunaVersion::kV5 &&
                    std::holds_alternative<IntRange>(domain);
    value = range.lo +
            (up ? std::floor(steps + 0.5) : std::nearbyint(steps)) * range.step;
  }
  return std::clamp(value, range.lo, range.hi);
}

namespace {

// Splits `block` into what the trial has and what it lacks. Either may be
// empty.
std::pair<CompatBlock, CompatBlock> SplitBlock(const CompatBlock& block,
                                               const CompatRow& trial) {
  std::pair<CompatBlock, CompatBlock> parts;
  for (const std::size_t i : block) {
    (IsAbsent(trial[i]) ? parts.second : parts.first).push_back(i);
  }
  return parts;
}

void DropSingles(const CompatSpace& space, std::vector<CompatBlock>& blocks) {
  for (CompatBlock& block : blocks) {
    std::erase_if(block, [&space](std::size_t i) {
      return space.parameters()[i].is_single;
    });
  }
  std::erase_if(blocks, [](const CompatBlock& block) { return block.empty(); });
}

}  // namespace

std::vector<CompatBlock> CommonBlock(
    const CompatSpace& space, const std::vector<const CompatRow*>& trials) {
  if (trials.empty()) return {};
  CompatBlock common = space.by_name();
  for (const CompatRow* const trial : trials) {
    std::erase_if(common,
                  [trial](std::size_t i) { return IsAbsent((*trial)[i]); });
  }
  std::vector<CompatBlock> blocks = {std::move(common)};
  DropSingles(space, blocks);
  return blocks;
}

std::vector<CompatBlock> GroupedBlocks(
    const CompatSpace& space, const std::vector<const CompatRow*>& trials) {
  // The order of the blocks is part of the result, since each draws from the
  // stream in its turn. The parts of a split block stay where it was, first
  // what the trial has. Parameters never seen before come last.
  std::vector<CompatBlock> blocks;
  CompatBlock unseen = space.by_name();
  for (const CompatRow* const trial : trials) {
    std::vector<CompatBlock> next;
    for (const CompatBlock& block : blocks) {
      auto [had, other] = SplitBlock(block, *trial);
      if (!had.empty()) next.push_back(std::move(had));
      if (!other.empty()) next.push_back(std::move(other));
    }
    auto [fresh, rest] = SplitBlock(unseen, *trial);
    if (!fresh.empty()) next.push_back(std::move(fresh));
    unseen = std::move(rest);
    blocks = std::move(next);
  }
  DropSingles(space, blocks);
  return blocks;
}

namespace {

constexpr double kNearlyNothing = 1e-12;

bool IsFeasibleInVolume(const Observation& trial, std::size_t objectives) {
  return trial.values.size() == objectives &&
         std::all_of(trial.constraints.begin(), trial.constraints.end(),
                     [](double constraint) { return constraint <= 0.0; });
}

// A little beyond the worst value of every objective.
std::vector<double> VolumeReferenceOf(const LossVectors& losses) {
  std::vector<double> reference(losses[0].size(),
                                -std::numeric_limits<double>::infinity());
  for (const std::vector<double>& point : losses) {
    for (std::size_t m = 0; m < point.size(); ++m) {
      reference[m] = std::max(reference[m], point[m]);
    }
  }
  for (double& worst : reference) {
    worst = std::max(1.1 * worst, 0.9 * worst);
    if (worst == 0.0) worst = kNearlyNothing;
  }
  return reference;
}

// Returns the volume that each point of the front adds to the others; 0 for
// points behind it, empty if volumes are infinite.
std::vector<double> Additions(const LossVectors& losses) {
  const std::vector<double> reference = VolumeReferenceOf(losses);
  const std::vector<int> ranks = NonDominationRanks(losses);
  LossVectors front;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (ranks[i] == 0) front.push_back(losses[i]);
  }
  const double all = Hypervolume(front, reference);
  if (!std::isfinite(all)) return {};
  std::vector<double> additions(losses.size(), 0.0);
  std::size_t at = 0;  // in the front
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (ranks[i] != 0) continue;
    LossVectors others = front;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(at++));
    additions[i] =
        all - (others.empty() ? 0.0 : Hypervolume(others, reference));
  }
  return additions;
}

}  // namespace

std::vector<double> CompatVolumeWeights(
    const History& history, const std::vector<std::uint32_t>& trials,
    const std::vector<Objective>& objectives) {
  std::vector<double> weights(trials.size(), kNearlyNothing);
  std::vector<std::size_t> feasible;
  LossVectors losses;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const Observation& trial = history.trials()[trials[t]];
    if (!IsFeasibleInVolume(trial, objectives.size())) continue;
    feasible.push_back(t);
    weights[t] = 1.0;
    losses.emplace_back();
    for (std::size_t m = 0; m < objectives.size(); ++m) {
      losses.back().push_back(AsLoss(objectives[m], trial.values[m]));
    }
  }
  if (feasible.size() <= 1) return weights;
  const std::vector<double> additions = Additions(losses);
  if (additions.empty()) return weights;
  const double most = std::max(
      *std::max_element(additions.begin(), additions.end()), kNearlyNothing);
  for (std::size_t i = 0; i < feasible.size(); ++i) {
    weights[feasible[i]] = std::max(additions[i] / most, kNearlyNothing);
  }
  return weights;
}

namespace {

bool IsRunning(const SplitKey& key) {
  return key.group == SplitGroup::kRunning;
}

// Returns the key of a trial without values for constraints. Version 4 has
// constraints for all trials or for none, and puts such a trial behind all.
SplitKey UnconstrainedKey() {
  SplitKey key;
  key.group = SplitGroup::kInfeasible;
  key.first = std::numeric_limits<double>::infinity();
  return key;
}

}  // namespace

void CompatTrials::CatchUp(const History& history) {
  if (history.revision() < revision_) {
    revision_ = 0;
    known_.clear();
  }
  known_.resize(history.size());
  for (; revision_ < history.revision(); ++revision_) {
    const auto i = history.changes()[static_cast<std::size_t>(revision_)];
    const Observation& trial = history.trials()[i];
    known_[i].reset();
    if (trial.state == TrialState::kInfeasible) continue;
    std::optional<SplitKey> key = SplitKeyOf(trial, objectives_);
    // Trials from another space tell nothing about this one.
    if (!key.has_value() || !space_.space().Check(trial.point).ok()) continue;
    known_[i] = Known{*std::move(key), space_.RowOf(trial.point)};
  }
}

CompatView CompatTrials::Look(const History& history, std::int64_t own,
                              bool with_running, OptunaVersion version) const {
  static const SplitKey kUnconstrained = UnconstrainedKey();
  const bool v4 = version == OptunaVersion::kV4;
  std::vector<KeyedTrial> trials;
  std::size_t ended = 0;
  bool constrained = false;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (!known_[i].has_value()) continue;
    const Observation& trial = history.trials()[i];
    const bool running = IsRunning(known_[i]->key);
    if (running && (!with_running || trial.number == own)) continue;
    trials.push_back(
        {trial.number, static_cast<std::uint32_t>(i), &known_[i]->key});
    ended += running ? 0 : 1;
    constrained |= !running && !trial.constraints.empty();
  }
  for (KeyedTrial& trial : trials) {
    if (v4 && constrained && !IsRunning(*trial.key) &&
        history.trials()[trial.index].constraints.empty()) {
      trial.key = &kUnconstrained;
    }
  }
  // Version 4 stops at 25 good trials with several objectives too.
  const Split split = SplitTrials(
      std::move(trials), CountBelow(ended, v4 ? 1 : objectives_.size()));
  CompatView view;
  view.below = RowsOf(split.below);
  view.above = RowsOf(split.above);
  if (objectives_.size() > 1) {
    view.below_weights =
        v4 ? CompatVolumeWeights(history, split.below, objectives_)
           : std::vector<double>(split.below.size(), 1.0);
  }
  view.ended = EndedOf(history);
  return view;
}

std::vector<const CompatRow*> CompatTrials::RowsOf(
    const std::vector<std::uint32_t>& trials) const {
  std::vector<const CompatRow*> rows;
  rows.reserve(trials.size());
  for (const std::uint32_t i : trials) rows.push_back(&known_[i]->row);
  return rows;
}

std::vector<const CompatRow*> CompatTrials::EndedOf(
    const History& history) const {
  std::vector<std::pair<std::int64_t, const CompatRow*>> numbered;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (!known_[i].has_value() || IsRunning(known_[i]->key)) continue;
    numbered.emplace_back(history.trials()[i].number, &known_[i]->row);
  }
  std::sort(numbered.begin(), numbered.end());
  std::vector<const CompatRow*> rows;
  rows.reserve(numbered.size());
  for (const auto& [number, row] : numbered) rows.push_back(row);
  return rows;
}

CompatTpe::CompatTpe(const CompatOptions& options, const Space& space,
                     std::vector<Objective> objectives)
    : options_(options),
      space_(space, options.levels_are_integers),
      objectives_(std::move(objectives)),
      trials_(space_, objectives_) {}

CompatMixture CompatTpe::Fit(const CompatBlock& block, const CompatView& view,
                             bool is_below) const {
  const std::vector<const CompatRow*>& trials =
      is_below ? view.below : view.above;
  const bool is_weighted = is_below && !view.below_weights.empty();
  std::vector<const Domain*> domains;
  for (const std::size_t p : block) {
    domains.push_back(&space_.parameters()[p].domain);
  }
  Columns columns(block.size());
  std::vector<double> weights;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const CompatRow& row = *trials[t];
    const bool has_all =
        std::none_of(block.begin(), block.end(),
                     [&row](std::size_t p) { return IsAbsent(row[p]); });
    if (!has_all) continue;
    for (std::size_t d = 0; d < block.size(); ++d) {
      columns[d].push_back(row[block[d]]);
    }
    if (is_weighted) weights.push_back(view.below_weights[t]);
  }
  if (!is_weighted) weights = CompatWeights(columns[0].size());
  const bool shared =
      options_.version == OptunaVersion::kV4 && options_.multivariate;
  return CompatMixture(
      domains, columns, std::move(weights),
      shared ? KernelWidth::kShared : KernelWidth::kNeighbours);
}

void CompatTpe::DrawBlock(const CompatBlock& block, const CompatView& view,
                          NumpyStream& stream, CompatRow& row) const {
  CompatMixture good = Fit(block, view, true);
  CompatMixture rest = Fit(block, view, false);
  const Columns candidates = good.Draw(options_.candidates, stream);
  const std::vector<double> l = good.LogDensity(candidates);
  const std::vector<double> g = rest.LogDensity(candidates);
  std::size_t best = 0;
  for (std::size_t c = 1; c < l.size(); ++c) {
    if (l[c] - g[c] > l[best] - g[best]) best = c;
  }
  for (std::size_t d = 0; d < block.size(); ++d) {
    row[block[d]] = candidates[d][best];
  }
}

Point CompatTpe::Propose(const History& history, std::int64_t number,
                         CompatStreams& streams) {
  trials_.CatchUp(history);
  const CompatView view =
      trials_.Look(history, number, options_.constant_liar, options_.version);
  const bool is_startup = view.ended.size() < options_.startup_trials;
  const std::vector<CompatParameter>& parameters = space_.parameters();
  CompatRow joint(parameters.size(), kAbsent);
  if (options_.multivariate && !is_startup) {
    for (const CompatBlock& block : options_.group
                                        ? GroupedBlocks(space_, view.ended)
                                        : CommonBlock(space_, view.ended)) {
      DrawBlock(block, view, streams.tpe, joint);
    }
  }
  CompatRow row(parameters.size(), kAbsent);
  Point point(space_.space().parameters().size(), kAbsent);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!space_.IsAsked(i, point, row)) continue;
    const Domain& domain = parameters[i].domain;
    if (parameters[i].is_single) {
      row[i] = ListValues(domain)[0];
    } else if (!IsAbsent(joint[i])) {
      row[i] = joint[i];
    } else if (is_startup) {
      row[i] = DrawCompatRandom(domain, options_.version, streams.startup);
    } else {
      DrawBlock({i}, view, streams.tpe, row);
    }
    space_.Write(i, row[i], point);
  }
  return point;
}

namespace {

class CompatSampler final : public Sampler {
 public:
  CompatSampler(const CompatOptions& options, const SamplerInput& input)
      : tpe_(options, input.space, input.objectives) {}

 private:
  absl::StatusOr<Point> ProposeUntil(const std::stop_token& /*stop*/,
                                     const History& history,
                                     std::int64_t number, Rng& rng) override {
    CompatStreams streams(static_cast<std::uint32_t>(rng.Next() >> 32));
    return tpe_.Propose(history, number, streams);
  }

  CompatTpe tpe_;
};

}  // namespace

absl::StatusOr<CompatOptions> ReadCompatOptions(const SamplerInput& input) {
  OptionReader reader(ErrorId::kSamplerInvalid, "sampler tpe with compat",
                      "sampler.options", input.options);
  CompatOptions compat;
  compat.version = reader.OneOf("compat", "v5", {"v4", "v5"}) == "v4"
                       ? OptunaVersion::kV4
                       : OptunaVersion::kV5;
  const bool v5 = compat.version == OptunaVersion::kV5;
  compat.startup_trials =
      static_cast<std::size_t>(reader.Int("startup_trials", 10, 0, 1'000'000));
  compat.candidates =
      static_cast<std::size_t>(reader.Int("candidates", 24, 1, 10'000));
  compat.group = reader.Bool("group", false);
  compat.multivariate = reader.Bool(
      "multivariate", v5 && (compat.group || input.objectives.size() == 1));
  compat.constant_liar = reader.Bool("constant_liar", v5);
  compat.levels_are_integers =
      reader.OneOf("levels", "categorical", {"categorical", "int"}) == "int";
  RETURN_IF_ERROR(reader.Finish());
  if (compat.group && !compat.multivariate) {
    return MakeError(ErrorId::kSamplerInvalid,
                     "group draws parameters together, multivariate is off",
                     "give multivariate: true too, or leave group out",
                     "sampler.options.group");
  }
  return compat;
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeCompatTpeSampler(
    const SamplerInput& input) {
  ASSIGN_OR_RETURN(const CompatOptions options, ReadCompatOptions(input));
  return std::make_unique<CompatSampler>(options, input);
}

}  // namespace frostline::sampler
