// SPDX-License-Identifier: Apache-2.0
//
// File: cost.h
//
// The work that a point asks of a trainer, counted in passes of a layer over
// the texts: forward through what is not part of a stored prefix, backward
// through what lies above the lowest module that trains, and weights' gradients
// where one trains. An adapter costs a little beside its map, and more with its
// rank, but no weights' gradients. The top layer counts for itself, as heads of
// one token leave little of it.
//
//   6 layers, the first 4 and the embeddings frozen, both others train:
//   forward 1, backward 0, weights 1, and of the top layer 3
#ifndef FROSTLINE_SAMPLER_COST_H_
#define FROSTLINE_SAMPLER_COST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "study/history.h"
#include "study/space.h"

namespace frostline::sampler {

// Passes are of one epoch. Where the space names no modules its learning rates
// in order are taken for layers.
struct PointWork {
  double forward = 0.0;  // of layers below the top, as the next three
  double backward = 0.0;
  double weights = 0.0;
  double top = 0.0;         // all passes of the top layer
  double adapters = 0.0;    // layers that have some, the top one too
  double ranks = 0.0;       // of these, added up, in units of 64
  double embeddings = 0.0;  // 1: they train
  double prefix = 0.0;      // layers of the frozen prefix
  double epochs = 1.0;      // as searched, else 1; as the next two
  double batch_size = 1.0;
  double max_length = 1.0;

  double passes() const { return forward + backward + weights + top; }
  double steps() const { return epochs / batch_size; }
};

// Counts the work of points. It finds once what of a space is searched.
class WorkCounter {
 public:
  // It keeps the space by reference.
  explicit WorkCounter(const Space& space);

  PointWork CountOf(const Point& point) const;

  // Boundaries are the same where depth and length are.
  using Boundary = std::pair<int, double>;
  // Returns nothing if no layer is part of a frozen prefix.
  static std::optional<Boundary> BoundaryOf(const PointWork& work) {
    if (work.prefix < 1.0) return std::nullopt;
    return Boundary{static_cast<int>(work.prefix), work.max_length};
  }

 private:
  // What of a layer trains.
  struct Trained {
    double weights = 0.0;   // the part that trains whole
    double adapters = 0.0;  // and the part that has adapters
    double ranks = 0.0;     // theirs, by part

    bool any() const { return weights > 0.0 || adapters > 0.0; }
  };
  // Of each layer, from below.
  std::vector<Trained> TrainedLayers(const Point& point) const;
  double Searched(const std::optional<int>& parameter,
                  const Point& point) const;

  const Space& space_;
  std::optional<int> epochs_, batch_size_, max_length_;
  std::optional<std::size_t> embeddings_;
  std::vector<int> layer_of_;  // by module; -1: none
  std::vector<double> parts_;  // by layer: modules that it is cut into
};

// Least squares with weights of at least 0: what costs time never saves any.
// One weight after the other goes to its best place, or to 0, while the others
// stand (coordinate descent: Franc, Hlavac and Navara, CAIP 2005), which ends
// at the only minimum there is, up to columns that are the same.
//
//   minimise sum over rows (w · row - 1)² + a little w²
//            + sum over i pull[i] (w[i] - toward[i])²,  w >= 0
//
// Returns the weights by which each row is as near to 1 as can be. Those that
// rows leave open go `toward` what is known without them.
template <std::size_t N>
std::array<double, N> FitToOne(std::span<const std::array<double, N>> rows,
                               const std::array<double, N>& toward = {},
                               const std::array<double, N>& pull = {}) {
  constexpr int kSweeps = 2'000;
  constexpr double kRidge = 1e-4;  // of columns that were put to one scale
  std::array<std::array<double, N>, N> products{};
  std::array<double, N> sums{}, scales{}, weights{};
  for (const std::array<double, N>& row : rows) {
    for (std::size_t i = 0; i < N; ++i) {
      sums[i] += row[i];
      for (std::size_t j = 0; j < N; ++j) products[i][j] += row[i] * row[j];
    }
  }
  for (std::size_t i = 0; i < N; ++i) {
    sums[i] += pull[i] * toward[i];
    products[i][i] += pull[i];
    scales[i] = products[i][i] * (1.0 + kRidge);
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double moved = 0.0;  // what it changes the fit by, at most
    for (std::size_t i = 0; i < N; ++i) {
      if (!(scales[i] > 0.0)) continue;
      double slope = sums[i] + products[i][i] * weights[i];
      for (std::size_t j = 0; j < N; ++j) slope -= products[i][j] * weights[j];
      const double weight = slope > 0.0 ? slope / scales[i] : 0.0;
      const double step = weight - weights[i];
      moved += step * step * scales[i];
      weights[i] = weight;
    }
    if (moved <= 1e-18 * static_cast<double>(rows.size())) break;
  }
  return weights;
}

// Predicts the seconds of a trial on the device that most trials had:
//
//   seconds = w0 + epochs (w1 + length^p (w2 passes + w3 forward + w4 backward
//                 + w5 weights + w6 top + w12 adapters + w13 ranks))
//           + steps (w7 + w8 weights + w9 embeddings)
//           + w10 + w11 length^p prefix, where that boundary is computed first
//
// with passes of cost.h and w >= 0, by least squares of relative errors
// over the newest trials that succeeded. p is 0, 1/2 or 1, whichever fits best:
// texts are often shorter than max_length. Another kind of device takes the
// same times a factor, the median of its trials. Every fifth trial is kept out,
// and says whether the model knows: by half of those it is off by at most
// kKnownWithin. While it does not, callers treat all trials alike.
//
// It follows the change log and keeps the space by reference.
class CostModel {
 public:
  static constexpr double kKnownWithin = 0.25;

  explicit CostModel(const Space& space);

  // After this it is what a fresh one would be.
  void CatchUp(const History& history);

  bool knows() const { return error_ <= kKnownWithin; }
  // Returns the median relative error of what was kept out; infinity before
  // two trials were.
  double error() const { return error_; }

  // A boundary that some trial used costs nothing to fill. REQUIRES: knows().
  double SecondsOf(const Point& point) const;
  double LogCost(const Point& point) const;

 private:
  static constexpr std::size_t kColumns = 14;
  using Columns = std::array<double, kColumns>;
  struct Row {
    double seconds = 0.0;
    std::uint32_t device = 0;
    double computed = 0.0;  // rows of its boundary
    PointWork work;
  };
  using Rows = std::vector<const Row*>;

  void Learn(const Observation& trial);
  void Fit();
  // `computed` is the part of a boundary.
  static Columns ColumnsOf(const PointWork& work, double computed,
                           double power);
  double Predict(const PointWork& work, double computed) const;
  double Predict(const Row& row) const {
    return Predict(row.work, row.computed / boundary_rows_);
  }
  // Returns seconds on the usual device.
  double AsUsual(const Row& row) const;
  void FitWeights(const Rows& rows);
  void FitDevices(const Rows& rows, std::uint32_t usual);
  double MedianError(const Rows& rows) const;

  const Space& space_;
  WorkCounter counter_;
  std::int64_t revision_ = 0;
  std::map<std::int64_t, Row> rows_;  // by number
  std::set<WorkCounter::Boundary> computed_;
  double boundary_rows_ = 1.0;               // the most that one trial computed
  std::map<std::uint32_t, double> factors_;  // of devices
  Columns weights_{};
  double power_ = 1.0;
  double error_ = std::numeric_limits<double>::infinity();
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_COST_H_
