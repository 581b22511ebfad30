// SPDX-License-Identifier: Apache-2.0
//
// File: cost.h
//
// Seconds of a trial on the device that most trials had:
//
//   seconds = w0 + epochs (w1 + length^p (w2 passes + w3 forward + w4 backward
//                 + w5 weights + w6 top))
//           + steps (w7 + w8 weights + w9 embeddings)
//           + w10 + w11 length^p prefix, where that boundary is computed first
//
// with passes of point_work.h and w >= 0, by least squares of relative errors
// over the newest trials that succeeded. p is 0, 1/2 or 1, whichever fits best:
// texts are often shorter than max_length. Another kind of device takes the
// same times a factor, the median of its trials. Every fifth trial is kept out,
// and says whether the model knows: by half of those it is off by at most
// kKnownWithin. While it does not, whoever asks treats all trials alike.
#ifndef FROSTLINE_SAMPLER_COST_H_
#define FROSTLINE_SAMPLER_COST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "sampler/cost/point_work.h"
#include "study/history.h"
#include "study/space.h"

namespace frostline::sampler {

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
  static constexpr std::size_t kColumns = 12;
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
