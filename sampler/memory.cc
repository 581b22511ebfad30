// SPDX-License-Identifier: Apache-2.0
#include "sampler/memory.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "sampler/cost.h"
#include "study/freezing.h"

namespace frostline::sampler {
namespace {

// Whether the values of a parameter may change what is taken in a way that is
// not counted. Rates change nothing but whether there is something to train.
bool MayMatter(const Parameter& parameter) {
  if (parameter.name == "epochs" || parameter.name == "batch_size" ||
      parameter.name == "max_length" || parameter.name == "prefix_depth") {
    return false;
  }
  return std::holds_alternative<IntRange>(parameter.domain) ||
         std::holds_alternative<Categorical>(parameter.domain);
}

double SearchedNumber(const Domain& domain, double value) {
  if (IsAbsent(value)) return 1.0;
  if (const auto* const choice = std::get_if<Categorical>(&domain)) {
    double number = 1.0;
    const bool is_one = absl::SimpleAtod(
        choice->choices[static_cast<std::size_t>(value)], &number);
    return is_one && number > 0.0 ? number : 1.0;
  }
  if (const auto* const levels = std::get_if<Levels>(&domain)) {
    value = levels->rates[static_cast<std::size_t>(value)];
  }
  return value > 0.0 ? value : 1.0;
}

int CountAbove0(const std::vector<double>& values) {
  return static_cast<int>(std::count_if(values.begin(), values.end(),
                                        [](double v) { return v > 0.0; }));
}

}  // namespace

int MemoryNeeds::trained() const {
  return CountAbove0(weights) + CountAbove0(adapters);
}

int MemoryNeeds::layers() const { return CountAbove0(activates); }

MemoryCounter::MemoryCounter(const Space& space)
    : space_(space),
      batch_size_(space.IndexOf("batch_size")),
      max_length_(space.IndexOf("max_length")) {
  for (const ModuleBinding& binding : space.modules()) {
    layer_of_.push_back(LayerOf(binding.module));
    layers_ = std::max(layers_, static_cast<std::size_t>(layer_of_.back() + 1));
  }
  for (int i = 0; i < space.size(); ++i) {
    if (MayMatter(space.parameters()[static_cast<std::size_t>(i)])) {
      others_.push_back(i);
    }
  }
}

double MemoryCounter::Searched(const std::optional<int>& parameter,
                               const Point& point) const {
  if (!parameter.has_value()) return 1.0;
  const auto i = static_cast<std::size_t>(*parameter);
  return SearchedNumber(space_.parameters()[i].domain, point[i]);
}

MemoryNeeds MemoryCounter::CountOf(const Point& point) const {
  const std::size_t modules = layer_of_.size();
  MemoryNeeds needs{.weights = std::vector<double>(modules),
                    .adapters = std::vector<double>(modules),
                    .ranks = std::vector<double>(modules),
                    .activates = std::vector<double>(layers_),
                    .batch_size = Searched(batch_size_, point),
                    .max_length = Searched(max_length_, point),
                    .others = {}};
  std::size_t lowest = layers_;
  for (std::size_t m = 0; m < modules; ++m) {
    if (space_.IsFrozen(m, point)) continue;
    const std::optional<int> rank = space_.RankAt(m, point);
    (rank.has_value() ? needs.adapters : needs.weights)[m] = 1.0;
    needs.ranks[m] = rank.value_or(0);
    if (layer_of_[m] >= 0) {
      lowest = std::min(lowest, static_cast<std::size_t>(layer_of_[m]));
    } else if (space_.modules()[m].module == "embeddings") {
      needs.embeddings = true;
      lowest = 0;
    }
  }
  for (std::size_t i = lowest; i < layers_; ++i) needs.activates[i] = 1.0;
  for (const int i : others_) {
    const double value = point[static_cast<std::size_t>(i)];
    needs.others.push_back(IsAbsent(value) ? -1.0 : value);
  }
  return needs;
}

namespace {

// The terms of the sum by name. The last four stand for W and A where no audit
// says what modules weigh and keep.
enum Term : std::size_t {
  kBase,
  kWeights,
  kActivations,
  kMoreWeights,
  kAdapters,
  kRanks,
  kTokens,
  kRuns,
  kLayersTrained,
  kEmbeddingsTrained,
  kLayersKept,
  kTopKept,
  kTermCount,
};

constexpr std::size_t kNewestTrials = 256;
constexpr std::int64_t kOneOutOf = 5;
constexpr std::size_t kFewestOut = 2;
// Allocators round up, and no two batches are alike.
constexpr double kLeastTooLow = 0.02;
constexpr double kMostTooLow = 0.5;
constexpr double kRanksAtOnce = 64.0;
constexpr double kBytesOfAMib = 1024.0 * 1024.0;
constexpr double kNotKnown = std::numeric_limits<double>::infinity();

// What is known before a trial: AdamW keeps two moments of a weight, the best
// evaluation a copy, and a gradient or the activations are there besides.
constexpr double kMomentsAndCopy = 3.0;
constexpr double kPull = 0.02;  // as strong as a row that is off by so much

struct KnownTerms {
  std::array<double, kTermCount> weights{}, pull{};
};

KnownTerms WhatIsKnown() {
  KnownTerms known;
  known.weights[kWeights] = kMomentsAndCopy;
  known.weights[kActivations] = known.weights[kMoreWeights] = 1.0;
  for (const Term term : {kWeights, kActivations, kMoreWeights}) {
    known.pull[term] = std::pow(kPull / known.weights[term], 2);
  }
  return known;
}

double FirstKnown(std::initializer_list<double> sizes) {
  for (const double size : sizes) {
    if (size > 0.0) return size;
  }
  return 0.0;
}

double TokensOf(const MemoryNeeds& needs, double power) {
  return needs.batch_size * std::pow(needs.max_length, power);
}

template <typename Values>
double Product(const Values& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

bool AreAtLeast(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x >= y; });
}

// Says whether `a` asks nowhere for less than `b`, and both have the same of
// what is not counted.
bool AsksForAll(const MemoryNeeds& a, const MemoryNeeds& b) {
  return a.others == b.others && a.batch_size >= b.batch_size &&
         // Texts may be shorter than both, but never take less.
         a.max_length >= b.max_length && AreAtLeast(a.weights, b.weights) &&
         AreAtLeast(a.adapters, b.adapters) && AreAtLeast(a.ranks, b.ranks) &&
         AreAtLeast(a.activates, b.activates);
}

// By lot: at even distances it might always be the same point of a grid.
bool IsLeftOut(std::int64_t number) {
  auto lot = static_cast<std::uint64_t>(number / kOneOutOf) + 1;
  lot = (lot ^ (lot >> 30)) * 0xbf58476d1ce4e5b9U;
  lot = (lot ^ (lot >> 27)) * 0x94d049bb133111ebU;
  return number % kOneOutOf ==
         static_cast<std::int64_t>((lot >> 33) % kOneOutOf);
}

}  // namespace

MemoryModel::MemoryModel(const Space& space, double limit)
    : space_(space), counter_(space), limit_(limit), sizes_(SizesOf({}, 1.0)) {}

void MemoryModel::CatchUp(const History& history) {
  if (history.revision() < revision_) {
    revision_ = 0;
    rows_.clear();
    fitted_.clear();
    broken_.clear();
    ran_out_.clear();
  }
  if (revision_ == history.revision()) return;
  for (; revision_ < history.revision(); ++revision_) {
    const auto i = history.changes()[static_cast<std::size_t>(revision_)];
    Learn(history.trials()[i]);
  }
  Fit();
}

void MemoryModel::Learn(const Observation& trial) {
  if (!IsTerminal(trial.state) || !space_.Check(trial.point).ok()) return;
  Row row{.needs = counter_.CountOf(trial.point),
          .mib = double{trial.use.peak_mib},
          .trained_weights = trial.trained_parameters,
          .device = trial.use.device,
          .audit = trial.use.modules};
  if (trial.out_of_memory) {
    ran_out_.insert_or_assign(trial.number, row.needs);
    broken_.insert_or_assign(trial.number, std::move(row.needs));
    return;
  }
  const bool is_known = row.mib > 0.0 && std::isfinite(row.mib);
  // What ended early may break the limit, but does not say that it fits.
  if (is_known && row.mib > limit_) {
    broken_.insert_or_assign(trial.number, row.needs);
  }
  if (trial.state != TrialState::kSucceeded) return;
  if (is_known ? row.mib <= limit_ : limit_ == kNoMemoryLimit) {
    fitted_.insert_or_assign(trial.number, row);
    if (fitted_.size() > kNewestTrials) fitted_.erase(fitted_.begin());
  }
  if (!is_known) return;
  rows_.insert_or_assign(trial.number, std::move(row));
  if (rows_.size() > kNewestTrials) rows_.erase(rows_.begin());
}

MemoryModel::Sizes MemoryModel::SizesOf(const Rows& rows, double power) const {
  Sizes sizes;
  sizes.weights.resize(counter_.layer_of().size());
  sizes.trains.resize(counter_.layers());
  sizes.passes.resize(counter_.layers());
  std::map<std::string, std::size_t> places;
  for (std::size_t m = 0; m < sizes.weights.size(); ++m) {
    places[space_.modules()[m].module] = m;
  }
  for (const Row* const row : rows) {
    if (row->audit == nullptr) continue;
    const double tokens = TokensOf(row->needs, power) * kBytesOfAMib;
    std::vector<double> kept(counter_.layers());
    for (const ModuleBytes& each : *row->audit) {
      const auto place = places.find(each.module);
      if (place == places.end()) continue;
      const std::size_t m = place->second;
      // Where an adapter trains it is counted with the weights.
      double& weights = sizes.weights[m];
      const double mib = each.weights / kBytesOfAMib;
      weights = weights > 0.0 ? std::min(weights, mib) : mib;
      const int layer = counter_.layer_of()[m];
      if (layer >= 0) {
        kept[static_cast<std::size_t>(layer)] += each.activations / tokens;
      } else if (each.module == "embeddings" && row->needs.embeddings) {
        sizes.embeddings =
            std::max(sizes.embeddings, each.activations / tokens);
      }
    }
    const std::vector<bool> trained = TrainedLayers(row->needs);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (row->needs.activates[i] == 0.0) continue;
      double& own = (trained[i] ? sizes.trains : sizes.passes)[i];
      own = std::max(own, kept[i]);
      // Of the top layer often one token alone is read.
      if (i + 1 == kept.size() && i > 0) continue;
      double& any = trained[i] ? sizes.one_trains : sizes.one_passes;
      any = std::max(any, kept[i]);
    }
  }
  return sizes;
}

// Says which layers train weights or an adapter.
std::vector<bool> MemoryModel::TrainedLayers(const MemoryNeeds& needs) const {
  std::vector<bool> trained(counter_.layers());
  for (std::size_t m = 0; m < needs.weights.size(); ++m) {
    const int layer = counter_.layer_of()[m];
    if (layer < 0 || needs.weights[m] + needs.adapters[m] == 0.0) continue;
    trained[static_cast<std::size_t>(layer)] = true;
  }
  return trained;
}

double MemoryModel::WeightsOf(const MemoryNeeds& needs,
                              const Sizes& sizes) const {
  for (std::size_t m = 0; m < needs.weights.size(); ++m) {
    if (needs.weights[m] > 0.0 && sizes.weights[m] == 0.0) return kNotKnown;
  }
  return Product(needs.weights, sizes.weights);
}

double MemoryModel::ActivationsOf(const MemoryNeeds& needs, const Sizes& sizes,
                                  double power) const {
  const std::vector<bool> trained = TrainedLayers(needs);
  double kept = needs.embeddings ? sizes.embeddings : 0.0;
  for (std::size_t i = 0; i < needs.activates.size(); ++i) {
    if (needs.activates[i] == 0.0) continue;
    const double layer = trained[i]
                             ? FirstKnown({sizes.trains[i], sizes.one_trains,
                                           sizes.passes[i], sizes.one_passes})
                             : FirstKnown({sizes.passes[i], sizes.one_passes,
                                           sizes.trains[i], sizes.one_trains});
    if (layer == 0.0) return kNotKnown;
    kept += layer;
  }
  return kept * TokensOf(needs, power);
}

MemoryModel::Terms MemoryModel::TermsOf(const MemoryNeeds& needs,
                                        const Sizes& sizes,
                                        double power) const {
  Terms terms{};
  const double tokens = TokensOf(needs, power);
  terms[kBase] = 1.0;
  terms[kTokens] = tokens;
  terms[kRuns] = needs.layers() > 0 ? 1.0 : 0.0;
  terms[kAdapters] = CountAbove0(needs.adapters) * tokens;
  terms[kRanks] = std::accumulate(needs.ranks.begin(), needs.ranks.end(), 0.0) /
                  kRanksAtOnce;
  const double weights = WeightsOf(needs, sizes);
  const double kept = ActivationsOf(needs, sizes, power);
  const bool weighed = weights < kNotKnown;
  if (weighed) terms[kWeights] = weights;
  if (kept < kNotKnown) {
    terms[kActivations] = kept;
    if (weighed) terms[kMoreWeights] = std::max(weights - kept, 0.0);
  } else if (needs.layers() > 0) {
    terms[kTopKept] = tokens;
    terms[kLayersKept] = (needs.layers() - 1) * tokens;
  }
  if (weighed) return terms;
  for (std::size_t m = 0; m < needs.weights.size(); ++m) {
    const std::string& module = space_.modules()[m].module;
    if (module == "embeddings") {
      terms[kEmbeddingsTrained] += needs.weights[m];
    } else if (counter_.layer_of()[m] >= 0) {
      // Four maps of a layer are of attention, two four times as wide of ffn.
      const double part = absl::EndsWith(module, ".ffn")         ? 2.0 / 3.0
                          : absl::EndsWith(module, ".attention") ? 1.0 / 3.0
                          : absl::StrContains(module, ".head.")  ? 1.0 / 36.0
                                                                 : 1.0;
      terms[kLayersTrained] += part * needs.weights[m];
    }
  }
  return terms;
}

double MemoryModel::Predict(const MemoryNeeds& needs) const {
  constexpr double kLeastMib = 1e-6;
  return std::max(kLeastMib, Product(TermsOf(needs, sizes_, power_), weights_));
}

void MemoryModel::FitWeights(const Rows& fitted, const Rows& all) {
  static_assert(kTerms == kTermCount);
  const KnownTerms known = WhatIsKnown();
  double least = std::numeric_limits<double>::infinity();
  Terms best{};
  for (const double power : {1.0, 0.5, 0.0}) {
    const Sizes sizes = SizesOf(all, power);
    std::vector<Terms> relative;
    for (const Row* const row : fitted) {
      relative.push_back(TermsOf(row->needs, sizes, power));
      for (double& term : relative.back()) term /= row->mib;
    }
    const Terms weights = FitToOne<kTerms>(relative, known.weights, known.pull);
    double errors = 0.0;
    for (const Terms& row : relative) {
      errors += std::pow(Product(row, weights) - 1.0, 2);
    }
    if (errors >= least - 1e-12) continue;
    least = errors;
    best = weights;
    power_ = power;
    sizes_ = sizes;
  }
  weights_ = best;
}

// The number of trained weights is such a sum too, without activations.
void MemoryModel::FitTrained(const Rows& rows) {
  std::vector<Terms> relative;
  for (const Row* const row : rows) {
    if (!(row->trained_weights > 0.0)) continue;
    Terms terms = TermsOf(row->needs, sizes_, power_);
    for (const Term none : {kActivations, kMoreWeights, kAdapters, kTokens,
                            kRuns, kLayersKept, kTopKept}) {
      terms[none] = 0.0;
    }
    for (double& term : terms) term /= row->trained_weights;
    relative.push_back(terms);
  }
  knows_trained_ = !relative.empty();
  trained_ = FitToOne<kTerms>(relative);
}

void MemoryModel::Fit() {
  error_ = std::numeric_limits<double>::infinity();
  too_low_ = 0.0;
  ran_out_at_ = kNoMemoryLimit;
  saw_all_frozen_ = false;
  std::map<std::uint32_t, std::size_t> trials_of;
  for (const auto& [number, row] : rows_) ++trials_of[row.device];
  Rows all, fitted, out;
  if (!trials_of.empty()) {
    const std::uint32_t usual =
        std::max_element(
            trials_of.begin(), trials_of.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    for (const auto& [number, row] : rows_) {
      if (row.device != usual) continue;
      all.push_back(&row);
      saw_all_frozen_ = saw_all_frozen_ || row.needs.layers() == 0;
      (IsLeftOut(number) ? out : fitted).push_back(&row);
    }
  }
  power_ = 1.0;
  sizes_ = SizesOf(all, power_);
  if (!fitted.empty()) FitWeights(fitted, all);
  FitTrained(all);
  if (fitted.empty() || out.size() < kFewestOut) return;
  std::vector<double> errors;
  for (const Row* const row : out) {
    errors.push_back(std::abs(Predict(row->needs) / row->mib - 1.0));
  }
  const auto middle =
      errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  error_ = *middle;
  for (const Row* const row : all) {
    too_low_ = std::max(too_low_, row->mib / Predict(row->needs) - 1.0);
  }
  too_low_ = std::clamp(too_low_, kLeastTooLow, kMostTooLow);
  for (const auto& [number, needs] : ran_out_) {
    ran_out_at_ = std::min(ran_out_at_, Predict(needs));
  }
}

std::optional<double> MemoryModel::LeastSeen() const {
  std::optional<double> least;
  for (const auto& [number, row] : rows_) {
    least = std::min(least.value_or(row.mib), row.mib);
  }
  return least;
}

bool MemoryModel::Knows(const Point& point) const {
  return knows() && (saw_all_frozen_ || counter_.CountOf(point).layers() > 0);
}

double MemoryModel::MibOf(const Point& point) const {
  return Predict(counter_.CountOf(point));
}

std::optional<double> MemoryModel::TrainedWeightsOf(const Point& point) const {
  if (!knows_trained_) return std::nullopt;
  return Product(TermsOf(counter_.CountOf(point), sizes_, power_), trained_);
}

MemoryFit MemoryModel::Judge(const Point& point) const {
  if (!is_bound()) return MemoryFit::kFits;
  const MemoryNeeds needs = counter_.CountOf(point);
  const auto fits = [&](const MemoryNeeds& what) {
    return std::any_of(fitted_.begin(), fitted_.end(), [&](const auto& each) {
      return AsksForAll(each.second.needs, what);
    });
  };
  if (fits(needs)) return MemoryFit::kFits;
  for (const auto& [number, broken] : broken_) {
    // One that broke where the same fitted says that something else decides.
    if (AsksForAll(needs, broken) && !fits(broken)) return MemoryFit::kCannot;
  }
  if (!Knows(point)) return MemoryFit::kUnknown;
  const double mib = Predict(needs);
  return mib * (1.0 + too_low_) <= limit_ && mib < ran_out_at_
             ? MemoryFit::kFits
             : MemoryFit::kCannot;
}

bool MemoryModel::IsNextStep(const Point& point) const {
  // The weight, its copy that is kept as the best, two moments, a gradient.
  constexpr double kOfAWeight = 5.0;
  constexpr double kOfAnActivation = 1.25;
  if (limit_ == kNoMemoryLimit || space_.modules().empty()) return true;
  const MemoryNeeds needs = counter_.CountOf(point);
  const double weights = WeightsOf(needs, sizes_);
  const double kept = ActivationsOf(needs, sizes_, 1.0);
  const auto is_step = [&](const Row& from) {
    const bool more_tokens = needs.batch_size > from.needs.batch_size ||
                             needs.max_length > from.needs.max_length;
    double most = from.mib;
    if (weights < kNotKnown) {
      const double before = WeightsOf(from.needs, sizes_);
      most += kOfAWeight * std::max(weights - before, 0.0);
    } else if (needs.trained() > from.needs.trained() + 1) {
      return false;
    }
    if (needs.layers() == 0 && !more_tokens) return most <= limit_;
    if (kept < kNotKnown) {
      const double before = ActivationsOf(from.needs, sizes_, 1.0);
      most += kOfAnActivation * std::max(kept - before, 0.0);
    } else if (more_tokens || needs.layers() > from.needs.layers() + 1) {
      return false;
    }
    return most <= limit_;
  };
  return std::any_of(fitted_.begin(), fitted_.end(), [&](const auto& from) {
    return from.second.mib > 0.0 && is_step(from.second);
  });
}

}  // namespace frostline::sampler
