// SPDX-License-Identifier: Apache-2.0
#include "sampler/cost.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
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

std::vector<WorkCounter::Trained> WorkCounter::TrainedLayers(
    const Point& point) const {
  std::vector<Trained> trained;
  if (space_.modules().empty()) {
    for (std::size_t i = 0; i < point.size(); ++i) {
      const Domain& domain = space_.parameters()[i].domain;
      if (!IsRate(domain)) continue;
      trained.push_back({.weights = IsFrozen(domain, point[i]) ? 0.0 : 1.0});
    }
    return trained;
  }
  trained.resize(parts_.size());
  for (std::size_t m = 0; m < layer_of_.size(); ++m) {
    if (layer_of_[m] < 0 || space_.IsFrozen(m, point)) continue;
    const auto layer = static_cast<std::size_t>(layer_of_[m]);
    const double part = 1.0 / parts_[layer];
    const std::optional<int> rank = space_.RankAt(m, point);
    if (!rank.has_value()) {
      trained[layer].weights += part;
      continue;
    }
    trained[layer].adapters += part;
    trained[layer].ranks += part * *rank;
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
  constexpr double kRankUnit = 64.0;
  const std::vector<Trained> trained = TrainedLayers(point);
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const double forward = static_cast<double>(i) < work.prefix ? 0.0 : 1.0;
    const double backward = below ? 1.0 : 0.0;
    if (i + 1 == trained.size()) {
      work.top = forward + backward + trained[i].weights;
    } else {
      work.forward += forward;
      work.backward += backward;
      work.weights += trained[i].weights;
    }
    work.adapters += trained[i].adapters;
    work.ranks += trained[i].ranks / kRankUnit;
    below = below || trained[i].any();
  }
  return work;
}

namespace {

constexpr std::size_t kRows = 256;    // the newest
constexpr std::int64_t kKeptOut = 5;  // of so many trials one
constexpr std::size_t kFewestKeptOut = 2;
constexpr std::size_t kFewestOfDevice = 3;
constexpr double kWhole = 0.95;     // so much of a boundary is all of it
constexpr double kShortest = 1e-9;  // a second of a prediction, at least

double MedianOf(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Says whether a trial is kept out: one of each five, by lot, since at even
// distances it might always be the same point of a grid.
bool IsKeptOut(std::int64_t number) {
  auto lot = static_cast<std::uint64_t>(number / kKeptOut) + 1;
  lot = (lot ^ (lot >> 30)) * 0xbf58476d1ce4e5b9U;
  lot = (lot ^ (lot >> 27)) * 0x94d049bb133111ebU;
  return number % kKeptOut == static_cast<std::int64_t>((lot >> 33) % kKeptOut);
}

// From begin to end where the worker told, else of training alone.
double SecondsOf(const Observation& trial) {
  const double whole = trial.use.seconds;
  return whole > 0.0 ? whole : trial.cost_s;
}

}  // namespace

CostModel::CostModel(const Space& space) : space_(space), counter_(space) {}

void CostModel::CatchUp(const History& history) {
  if (history.revision() < revision_) {
    revision_ = 0;
    rows_.clear();
    computed_.clear();
    boundary_rows_ = 1.0;
  }
  if (revision_ == history.revision()) return;
  for (; revision_ < history.revision(); ++revision_) {
    const auto i = history.changes()[static_cast<std::size_t>(revision_)];
    Learn(history.trials()[i]);
  }
  Fit();
}

void CostModel::Learn(const Observation& trial) {
  const double seconds = sampler::SecondsOf(trial);
  if (!IsTerminal(trial.state) || !space_.Check(trial.point).ok()) return;
  Row row{.seconds = seconds,
          .device = trial.use.device,
          .computed = std::max(0.0, double{trial.use.prefix_computed}),
          .work = counter_.CountOf(trial.point)};
  const auto boundary = WorkCounter::BoundaryOf(row.work);
  if (boundary.has_value() && trial.use.prefix_computed >= 0.0F) {
    computed_.insert(*boundary);
    boundary_rows_ = std::max(boundary_rows_, row.computed);
  }
  // What ended early does not say what a whole trial takes.
  if (trial.state != TrialState::kSucceeded) return;
  if (!(seconds > 0.0) || !std::isfinite(seconds)) return;
  rows_.insert_or_assign(trial.number, row);
  if (rows_.size() > kRows) rows_.erase(rows_.begin());
}

CostModel::Columns CostModel::ColumnsOf(const PointWork& work, double computed,
                                        double power) {
  const double length = std::pow(work.max_length, power);
  const double texts = work.epochs * length;
  return {1.0,
          work.epochs,
          texts * work.passes(),
          texts * work.forward,
          texts * work.backward,
          texts * work.weights,
          texts * work.top,
          work.steps(),
          work.steps() * work.weights,
          work.steps() * work.embeddings,
          work.prefix > 0.0 ? computed : 0.0,
          length * work.prefix * computed,
          texts * work.adapters,
          texts * work.ranks};
}

double CostModel::Predict(const PointWork& work, double computed) const {
  const Columns columns = ColumnsOf(work, computed, power_);
  double seconds = 0.0;
  for (std::size_t i = 0; i < kColumns; ++i) {
    seconds += weights_[i] * columns[i];
  }
  return std::max(seconds, kShortest);
}

double CostModel::AsUsual(const Row& row) const {
  return row.seconds / factors_.at(row.device);
}

void CostModel::FitWeights(const Rows& rows) {
  double least = std::numeric_limits<double>::infinity();
  Columns best{};
  double best_power = 1.0;
  for (const double power : {1.0, 0.5, 0.0}) {
    std::vector<Columns> relative;
    for (const Row* const row : rows) {
      relative.push_back(
          ColumnsOf(row->work, row->computed / boundary_rows_, power));
      for (double& column : relative.back()) column /= AsUsual(*row);
    }
    weights_ = FitToOne<kColumns>(relative);
    power_ = power;
    double errors = 0.0;
    for (const Row* const row : rows) {
      const double error = Predict(*row) / AsUsual(*row);
      errors += (error - 1.0) * (error - 1.0);
    }
    if (errors < least - 1e-12) {
      least = errors;
      best = weights_;
      best_power = power;
    }
  }
  weights_ = best;
  power_ = best_power;
}

// Devices with few trials are left out.
void CostModel::FitDevices(const Rows& rows, std::uint32_t usual) {
  std::map<std::uint32_t, std::vector<double>> ratios;
  for (const Row* const row : rows) {
    ratios[row->device].push_back(row->seconds / Predict(*row));
  }
  factors_ = {{usual, 1.0}};
  for (auto& [device, times] : ratios) {
    if (device == usual || times.size() < kFewestOfDevice) continue;
    factors_[device] = MedianOf(std::move(times));
  }
}

double CostModel::MedianError(const Rows& rows) const {
  std::vector<double> errors;
  for (const Row* const row : rows) {
    if (!factors_.contains(row->device)) continue;
    const double predicted = Predict(*row);
    errors.push_back(std::abs(predicted / AsUsual(*row) - 1.0));
  }
  if (errors.size() < kFewestKeptOut) {
    return std::numeric_limits<double>::infinity();
  }
  return MedianOf(std::move(errors));
}

void CostModel::Fit() {
  constexpr int kRounds = 2;
  Rows fitted, kept_out;
  std::map<std::uint32_t, std::size_t> trials_of;
  for (const auto& [number, row] : rows_) {
    // It waited for another trial that computed the rest of its boundary.
    if (row.computed > 0.0 && row.computed < kWhole * boundary_rows_) continue;
    const bool is_kept_out = IsKeptOut(number);
    (is_kept_out ? kept_out : fitted).push_back(&row);
    if (!is_kept_out) ++trials_of[row.device];
  }
  error_ = std::numeric_limits<double>::infinity();
  if (fitted.empty() || kept_out.size() < kFewestKeptOut) return;
  const std::uint32_t usual =
      std::max_element(
          trials_of.begin(), trials_of.end(),
          [](const auto& a, const auto& b) { return a.second < b.second; })
          ->first;
  factors_ = {{usual, 1.0}};
  for (int round = 0; round < kRounds; ++round) {
    Rows known;
    for (const Row* const row : fitted) {
      if (factors_.contains(row->device)) known.push_back(row);
    }
    FitWeights(known);
    FitDevices(fitted, usual);
    if (trials_of.size() == 1) break;
  }
  error_ = MedianError(kept_out);
}

double CostModel::SecondsOf(const Point& point) const {
  const PointWork work = counter_.CountOf(point);
  const auto boundary = WorkCounter::BoundaryOf(work);
  const bool must_fill = boundary.has_value() && !computed_.contains(*boundary);
  return Predict(work, must_fill ? 1.0 : 0.0);
}

double CostModel::LogCost(const Point& point) const {
  return std::log(SecondsOf(point));
}

}  // namespace frostline::sampler
