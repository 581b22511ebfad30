// SPDX-License-Identifier: Apache-2.0
//
// File: memory.h
//
// The memory that training a point takes of its device, at most at once. It is
// a sum with weights of at least 0:
//
//   MiB = w0 + w1 W + w2 A + w3 max(W - A, 0) + w4 adapters + w5 ranks
//         + w6 tokens + w7 (any layer runs)
//
// W are the weights that train: each has a copy, the optimizer's moments and a
// gradient. A are the activations that a batch keeps for the backward pass, of
// the lowest module that trains and of all above. They go while gradients come,
// so of both only the larger one is there. The audits of trials say what each
// module weighs and keeps; without them layers count alike, embeddings and the
// top layer for themselves. The weights w are those that fit best, by least
// squares of relative errors; where trials leave them open, those of AdamW.
//
//   6 layers of 27 MiB, of which the upper 2 train: W = 54
//
// A point fits if what is predicted does, and the furthest that any prediction
// was too low besides. Where nothing can be predicted yet, two things are still
// known: a point that asks nowhere for more than one that fitted fits, and one
// that asks nowhere for less than one that did not fit does not.
#ifndef FROSTLINE_SAMPLER_MEMORY_H_
#define FROSTLINE_SAMPLER_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "study/history.h"
#include "study/space.h"

namespace frostline::sampler {

// What every trainer of Frostline calls it, in mebibytes.
inline constexpr char kPeakMemoryMetric[] = "peak_memory_mib";

inline constexpr double kNoMemoryLimit =
    std::numeric_limits<double>::infinity();

// What a point asks for. One that asks nowhere for more than another takes no
// more.
struct MemoryNeeds {
  std::vector<double> weights;    // by module: 1 where its weights train
  std::vector<double> adapters;   // by module: 1 where its adapter trains
  std::vector<double> ranks;      // by module
  std::vector<double> activates;  // by layer: 1 where it keeps activations
  bool embeddings = false;        // they keep some, too
  double batch_size = 1.0;        // as searched, else 1; as the next
  double max_length = 1.0;
  // The values of all parameters of which nobody knows what they take. Points
  // are compared if they are equal in these.
  std::vector<double> others;

  int trained() const;  // modules
  int layers() const;   // that keep activations
};

// Counts what points ask for. It keeps the space by reference.
class MemoryCounter {
 public:
  explicit MemoryCounter(const Space& space);

  MemoryNeeds CountOf(const Point& point) const;
  // Says whether no point asks for more than another, as far as anyone knows.
  bool counts_nothing() const {
    return layer_of_.empty() && !batch_size_ && !max_length_;
  }
  std::size_t layers() const { return layers_; }
  const std::vector<int>& layer_of() const { return layer_of_; }  // -1: none

 private:
  double Searched(const std::optional<int>& parameter,
                  const Point& point) const;

  const Space& space_;
  std::optional<int> batch_size_, max_length_;
  std::vector<int> layer_of_;  // by module
  std::size_t layers_ = 0;
  std::vector<int> others_;
};

enum class MemoryFit { kFits, kUnknown, kCannot };

// Learns from the trials of a study what points take, and which cannot fit.
//
// It follows the change log and keeps the space by reference.
class MemoryModel {
 public:
  static constexpr double kKnownWithin = 0.05;

  // `limit` is in mebibytes.
  explicit MemoryModel(const Space& space, double limit = kNoMemoryLimit);

  // After this it is what a fresh one would be.
  void CatchUp(const History& history);

  bool knows() const { return error_ <= kKnownWithin; }
  // Returns the median relative error of what was kept out; infinity before
  // two trials were.
  double error() const { return error_; }
  double limit() const { return limit_; }
  // Says whether any point can be refused: there is a limit, or a trial has run
  // out of memory, and something of the space is known to take some.
  bool is_bound() const {
    return !counter_.counts_nothing() &&
           (limit_ < kNoMemoryLimit || !broken_.empty());
  }

  // Returns the least that any trial took; nothing where none says it.
  std::optional<double> LeastSeen() const;

  // The same of one point: what evaluations take where every layer is frozen is
  // seen only there.
  bool Knows(const Point& point) const;

  // REQUIRES: Knows(point).
  double MibOf(const Point& point) const;
  // Returns the single numbers that train; nothing before trials have said it.
  // Of each Adam keeps two moments.
  std::optional<double> TrainedWeightsOf(const Point& point) const;

  MemoryFit Judge(const Point& point) const;
  // Of a point of which Judge says kUnknown: whether it is so little more than
  // what has fitted that it can be tried.
  bool IsNextStep(const Point& point) const;

 private:
  static constexpr std::size_t kTerms = 12;
  using Terms = std::array<double, kTerms>;
  struct Row {
    MemoryNeeds needs;
    double mib = 0.0;
    double trained_weights = 0.0;
    std::uint32_t device = 0;
    std::shared_ptr<const std::vector<ModuleBytes>> audit;
  };
  using Rows = std::vector<const Row*>;
  // In mebibytes, activations by token of a batch.
  struct Sizes {
    std::vector<double> weights;  // by module; 0: not known
    // By layer; 0: not known. One that trains keeps more than one that only
    // passes gradients on.
    std::vector<double> trains, passes;
    double embeddings = 0.0;  // their activations
    // The most of any layer but the top.
    double one_trains = 0.0, one_passes = 0.0;
  };

  void Learn(const Observation& trial);
  void Fit();
  Sizes SizesOf(const Rows& rows, double power) const;
  std::vector<bool> TrainedLayers(const MemoryNeeds& needs) const;
  Terms TermsOf(const MemoryNeeds& needs, const Sizes& sizes,
                double power) const;
  // Both in mebibytes; infinity: not known.
  double WeightsOf(const MemoryNeeds& needs, const Sizes& sizes) const;
  double ActivationsOf(const MemoryNeeds& needs, const Sizes& sizes,
                       double power) const;
  void FitWeights(const Rows& fitted, const Rows& all);
  void FitTrained(const Rows& rows);
  double Predict(const MemoryNeeds& needs) const;

  const Space& space_;
  MemoryCounter counter_;
  double limit_;
  std::int64_t revision_ = 0;
  std::map<std::int64_t, Row> rows_;            // that ended well, by number
  std::map<std::int64_t, Row> fitted_;          // within the limit
  std::map<std::int64_t, MemoryNeeds> broken_;  // beyond it, or out of memory
  std::map<std::int64_t, MemoryNeeds> ran_out_;
  Sizes sizes_;
  Terms weights_{};
  Terms trained_{};
  bool knows_trained_ = false;
  double power_ = 1.0;
  double error_ = std::numeric_limits<double>::infinity();
  double too_low_ = 0.0;
  bool saw_all_frozen_ = false;
  // What is predicted of the smallest one that ran out of memory.
  double ran_out_at_ = kNoMemoryLimit;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_MEMORY_H_
