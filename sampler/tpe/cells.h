// SPDX-License-Identifier: Apache-2.0
//
// File: cells.h
//
// Parameters as axes of cells, and the trials in them.
#ifndef FROSTLINE_SAMPLER_TPE_CELLS_H_
#define FROSTLINE_SAMPLER_TPE_CELLS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "sampler/draw/random.h"
#include "sampler/split.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::sampler {

// A cell, by its number on its axis.
using Cell = std::uint16_t;
inline constexpr Cell kNoCell = 0xffff;  // the parameter is absent

// A parameter as an axis of cells. A cell is a level, a choice or one of few
// numbers, or one of kBins of equal width on a continuous range. Frozen is the
// first cell. Each cell has a share of the prior (equal; frozen among rates has
// `frozen_share`) and a place on the line, as a share of the box.
class CellAxis {
 public:
  static constexpr std::size_t kBins = 128;

  // Levels that are not `ordinal` are choices without an order.
  CellAxis(const Domain& domain, bool ordinal, double frozen_share);

  std::size_t cells() const { return prior_.size(); }
  // Says whether a cell is one value; else it is a bin of them.
  bool exact() const { return exact_; }
  bool ordered() const { return ordered_; }
  // Says whether cell 0 is frozen, a kind of its own.
  bool frozen() const { return frozen_; }
  double prior(std::size_t cell) const { return prior_[cell]; }
  double place(std::size_t cell) const { return place_[cell]; }
  // Returns the gap between neighbours; bins have a seventh of the box.
  double step() const { return step_; }

  // Axes of one shape have the same kernels.
  bool SameShape(const CellAxis& other) const;

  // REQUIRES: `value` is of the domain.
  Cell CellOf(double value) const;
  // Returns the only value of the cell, or one anywhere within the bin.
  double ValueIn(Cell cell, Rng& rng) const;

 private:
  double ShareOfBox(double value) const;

  std::optional<NumericRange> range_;
  std::vector<double> values_;  // where cells are exact
  std::vector<double> prior_;
  std::vector<double> place_;
  double step_ = 1.0;
  bool exact_ = true;
  bool ordered_ = true;
  bool frozen_ = false;
};

struct RankedTrial {
  SplitGroup group = SplitGroup::kFinished;
  double first = 0.0, second = 0.0;  // as in SplitKey
  std::int64_t number = 0;
  std::uint32_t index = 0;  // in History::trials()
};

// The best trials, and a sample of all trials. Adding a trial costs the same
// however many there were. CellTable owns it.
class TrialShortlist {
 public:
  // How many of the best, and of all, are kept ready.
  static constexpr std::size_t kBest = 64;
  static constexpr std::size_t kSample = 640;

  // Takes trials with or without a result.
  void AddToSample(std::int64_t number, std::uint32_t index);
  // REQUIRES: the trial has a result.
  void Rank(const RankedTrial& trial);
  void Clear();

  // The best trials, at most kBest; among equals the older is better.
  const std::vector<RankedTrial>& best() const { return best_; }
  // Returns indices of all or, beyond kSample + kBest, of a sample that changes
  // little from call to call.
  std::vector<std::uint32_t> Sample() const;

 private:
  std::vector<RankedTrial> best_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sample_;  // by lot
};

// The cells of all trials. The table follows the change log; a trial that ended
// costs the same however many there are. It takes at most ~150 bytes a trial
// with 26 parameters.
//
// It keeps references.
class CellTable {
 public:
  CellTable(const Space& space, const std::vector<Objective>& objectives,
            const std::vector<CellAxis>& axes)
      : space_(space), objectives_(objectives), axes_(axes) {}

  // After this the table is what a fresh one would be.
  void CatchUp(const History& history);

  enum class Use : std::uint8_t { kNone, kResult, kFailed, kRunning, kQueued };

  // A result is a trial that finished, was pruned or broke constraints;
  // failures have none.
  std::size_t results() const { return results_; }
  std::size_t failures() const { return failures_; }
  const std::vector<RankedTrial>& best() const { return shortlist_.best(); }
  // Samples results and failures.
  std::vector<std::uint32_t> Sample() const { return shortlist_.Sample(); }
  // They are by rising number.
  const std::set<std::pair<std::int64_t, std::uint32_t>>& running() const {
    return running_;
  }

  Use use(std::uint32_t index) const { return uses_[index]; }
  std::span<const Cell> cells(std::uint32_t index) const {
    return {&cells_[index * axes_.size()], axes_.size()};
  }
  // Counts how often all were read again because a result changed, for tests.
  std::size_t rebuilds() const { return rebuilds_; }

  std::size_t TimesTried(const Point& point) const;
  bool IsSamePoint(const Point& a, const Point& b) const {
    return HashOf(a) == HashOf(b);
  }

 private:
  // Hashes the cells where they are values: stepped ones carry rounding.
  std::uint64_t HashOf(Point point) const;
  void Clear();
  void Forget(std::uint32_t index);
  void Learn(const Observation& trial, std::uint32_t index);
  void Rebuild(const History& history);
  void Place(const Observation& trial, std::uint32_t index);

  const Space& space_;
  const std::vector<Objective>& objectives_;
  const std::vector<CellAxis>& axes_;
  std::int64_t revision_ = 0;
  std::size_t results_ = 0, failures_ = 0;
  std::size_t rebuilds_ = 0;
  bool stale_ = false;     // the shortlist lost a trial
  std::vector<Use> uses_;  // as History::trials()
  std::vector<std::uint64_t> hashes_;
  std::vector<Cell> cells_;  // by trial, then axis
  TrialShortlist shortlist_;
  std::set<std::pair<std::int64_t, std::uint32_t>> running_;
  std::unordered_map<std::uint64_t, std::uint32_t> tried_;
};

// The kernels of one shape and width: how likely a cell is near a center,
// relative to the prior, so that 1 is as likely as under the prior:
//
//   r(x | c) = e(c, x) / Z_c,  Z_c = sum over x of prior(x) e(c, x)
//   ordered:   e(c, x) = exp(-(place_x - place_c)^2 / (2 width^2))
//   unordered: e(c, x) = 1 where x = c, else 3 width / (cells - 1)
//
// This is the ordinal kernel of Aitchison and Aitken (Biometrika 63, 1976,
// section 5) with Gaussian weights. Frozen is `frozen_steps` steps below the
// lowest rate.
class CellKernel {
 public:
  // Holds, of one cell x, r(x | c) / exp(log_scale) for every center c; it is
  // never 0.
  struct Row {
    std::vector<double> ratio;
    double log_scale = 0.0;
  };

  CellKernel(const CellAxis& axis, double width, double frozen_steps);

  const Row& RowOf(Cell x);
  Cell Draw(Cell center, Rng& rng);
  // Returns prior(x) r(x | c).
  double Probability(Cell center, Cell x) const;

 private:
  double Likeness(std::size_t center, std::size_t x) const;

  const CellAxis& axis_;
  double width_;
  double frozen_steps_;
  std::vector<double> near_;  // e of two bins by bins between
  std::vector<double> norm_;  // Z of every center
  std::vector<std::unique_ptr<Row>> rows_;
  std::vector<std::vector<double>> up_to_;  // by center: cumulated
};

// Keeps the kernels a sampler has used; rounded to a quarter of an octave,
// widths are few. It keeps references to the axes.
class KernelCache {
 public:
  explicit KernelCache(const std::vector<CellAxis>& axes);

  // The kernel is valid as long as the cache.
  CellKernel& Get(std::size_t axis, double width, double frozen_steps);

 private:
  const std::vector<CellAxis>& axes_;
  std::vector<std::size_t> shape_;  // of each axis: the first of its shape
  std::map<std::tuple<std::size_t, int, double>, std::unique_ptr<CellKernel>>
      kernels_;
};

// The arithmetic on which a proposal spends its time.

// Returns minus infinity for 0.
double LogOf(double x);
// Returns ln(exp(a) + exp(b)).
double LogAdd(double a, double b);

struct AxisFactor {
  const double* row = nullptr;    // by center
  const Cell* centers = nullptr;  // by kernel
};
inline constexpr std::size_t kFactors = 4;

// Multiplies products[k] by the factors of kernel k.
void MultiplyBy(const AxisFactor& factor, std::vector<double>& products);
void MultiplyBy(const std::array<AxisFactor, kFactors>& factors,
                std::vector<double>& products);

double SumOfProducts(const double* a, const double* b, std::size_t size);

// The second mixture of CellDensity, which takes parameters one by one.
class SeparateMixture {
 public:
  // `columns` has the centers by axis, then trial; an absent one is in the cell
  // behind the last. `sum` is that of `prior` and `weights`.
  void Finish(const std::vector<CellAxis>& axes,
              const std::vector<std::vector<Cell>>& columns,
              const std::vector<double>& weights, double prior, double sum);

  // Returns ln q_d(x).
  double LogRatio(std::size_t axis, Cell x, CellKernel& kernel);

 private:
  std::vector<std::vector<double>> centers_;     // weight by axis and cell
  std::vector<std::vector<double>> log_ratios_;  // NaN: not asked for yet
};

// One cell for each parameter, kNoCell where it is absent.
using CellRow = std::vector<Cell>;

// A Parzen estimator relative to the prior. It adds two mixtures, both with one
// kernel per trial and a prior:
//
//   q(x) = (1 - a) sum_k w_k prod_d r_d(x_d | c_kd)      trials as a whole
//        + a prod_d sum_k w_k r_d(x_d | c_kd)            one by one
//
// The first knows that parameters were good together (BOHB, ICML 2018, section
// 4). The second learns from fewer trials what each parameter adds (Bergstra et
// al., 2011, section 4). Where a trial lacks a parameter, its kernel in the
// first has the factor of the second. Parameters that x lacks do not count.
class CellDensity {
 public:
  struct Settings {
    double prior_weight = 1.0;    // in trials
    double separate_share = 0.5;  // a
  };

  // `kernels` has one per axis. It keeps references.
  CellDensity(const std::vector<CellAxis>& axes,
              std::vector<CellKernel*> kernels, Settings settings);

  // REQUIRES: nothing was asked yet.
  void Add(std::span<const Cell> cells, double weight);
  void Finish();
  void Reserve(std::size_t trials);

  std::size_t size() const { return weights_.size(); }
  // Sums all trials and the prior, before they were made to sum to 1.
  double mass() const { return mass_; }
  CellKernel& kernel(std::size_t axis) const { return *kernels_[axis]; }
  // REQUIRES: kernel < size().
  Cell At(std::size_t axis, std::size_t kernel) const;

  // Returns ln q(x).
  double LogRatio(const CellRow& x);
  // Returns ln q of x for every cell of `axis`. REQUIRES: the last call of
  // LogRatio was for `x`; axis is exact.
  void LogRatiosOfMoves(const CellRow& x, std::size_t axis,
                        std::vector<double>& out);

  // Draws by weight; size() is the prior.
  std::size_t DrawKernel(Rng& rng) const;
  bool DrawSeparately(Rng& rng) const {
    return rng.Uniform() < settings_.separate_share;
  }

 private:
  // Returns r(x | every center of axis) and, last, what an absent one counts.
  std::span<const double> Row(std::size_t axis, Cell x);
  double LogSeparate(std::size_t axis, Cell x);
  double Mix(double log_together, double log_separate) const;

  const std::vector<CellAxis>& axes_;
  std::vector<CellKernel*> kernels_;
  Settings settings_;
  std::vector<std::vector<Cell>> columns_;
  std::vector<double> weights_;
  double mass_ = 0.0;
  std::vector<double> up_to_;
  SeparateMixture separate_;
  std::vector<bool> has_absent_;
  std::vector<std::vector<double>> scratch_;
  // These belong to the x last asked for.
  std::vector<double> products_;
  double log_scale_ = 0.0;
  double log_separate_ = 0.0;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_CELLS_H_
