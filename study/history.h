// SPDX-License-Identifier: Apache-2.0
//
// File: history.h
//
// Trials and their attempts, and what samplers, pruners and evaluators see of
// a study.
#ifndef FROSTLINE_STUDY_HISTORY_H_
#define FROSTLINE_STUDY_HISTORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "study/space.h"

namespace frostline {

// The state of a trial. A lost worker ends an attempt, not the trial.
//
//   QUEUED -> RUNNING -> SUCCEEDED | PRUNED | INFEASIBLE | FAILED | CANCELLED
//      ^---------'  attempt LOST, PREEMPTED, FAILED (retryable), RELEASED

// The numbers are stored: never change one.
enum class TrialState {
  kQueued = 1,
  kRunning = 2,
  kSucceeded = 3,
  kPruned = 4,
  kInfeasible = 5,  // cannot be trained, e.g. its loss is NaN
  kFailed = 6,      // attempts are used up
  kCancelled = 7,
};

inline bool IsTerminal(TrialState state) {
  return state >= TrialState::kSucceeded;
}

// The state of an attempt. The numbers are stored: never change one.
enum class AttemptState {
  kRunning = 1,
  kCompleted = 2,   // its outcome is the trial's
  kSuperseded = 3,  // another attempt counts
  kLost = 4,        // no heartbeat for a TTL
  kPreempted = 5,   // handed back on a signal
  kFailed = 6,
  kReleased = 7,  // handed back unrun
  kCancelled = 8,
};

// Whose fault a failure is, which decides how often a trial is tried again.
enum class FailureClass {
  kNone = 0,
  kTrial = 1,           // the user's code or the point
  kOutOfMemory = 2,     // counts as the trial's
  kInfrastructure = 3,  // node, network, preemption
};

inline constexpr int kMaxTrialFaults = 3;
inline constexpr int kMaxInfrastructureFaults = 20;

// Values by metric. They are finite, except in intermediate measurements.
using Metrics = std::map<std::string, double>;

struct Measurement {
  std::int64_t step = 0;
  Metrics metrics;
  double elapsed_s = 0.0;  // since the attempt started
};

// Returns the name that messages use: "SUCCEEDED".
const char* NameOf(TrialState state);
const char* NameOf(AttemptState state);
const char* NameOf(FailureClass failure);

struct IntermediateValue {
  std::int64_t step = 0;
  double value = 0.0;  // of the first objective; perhaps NaN or infinite
};

// What a module takes of memory, as a trial's audit has it.
struct ModuleBytes {
  std::string module;
  double weights = 0.0;
  // What the largest batch keeps for the backward pass, of a layer of several
  // modules with the first of them; 0 below the lowest module that trains.
  double activations = 0.0;
};

// What a trial used on its worker, besides training seconds.
struct TrialUse {
  float seconds = 0.0F;      // from its begin to its end; 0: unknown
  std::uint32_t device = 0;  // tells kinds of devices apart; 0: unknown
  // Rows of its frozen prefix that were not stored, so it had to compute them.
  // Below 0: it used no prefix at all.
  float prefix_computed = -1.0F;
  float peak_mib = 0.0F;  // the most memory at once; 0: unknown
  // nullptr: the trial has no audit. Shared by all copies.
  std::shared_ptr<const std::vector<ModuleBytes>> modules = {};
};

// What is known of a trial: its point, its results and what it cost.
struct Observation {
  std::int64_t number = 0;
  // A trial that always ran out of memory is INFEASIBLE here, too.
  TrialState state = TrialState::kQueued;
  bool out_of_memory = false;
  Point point;
  // One finite value per objective. Empty unless SUCCEEDED, or PRUNED with a
  // result.
  std::vector<double> values;
  std::vector<IntermediateValue> intermediate;  // by rising step
  // A constraint above 0 is violated. Empty unless the study has constraints.
  std::vector<double> constraints;  // -infinity: pruned before it was measured
  double cost_s = 0.0;              // training seconds; 0: unknown
  TrialUse use;
  double trained_parameters = 0.0;  // weights not frozen; 0: unknown
  std::uint64_t seed = 0;           // 0: unknown
  // The number of earlier runs of its point, if the study counts them (it pairs
  // seeds, or repeats its leaders).
  std::int32_t repeat = 0;
};

// The trials of a study, with a log of their changes. An algorithm with state
// of its own reads `changes()` from where it last looked.
//
// It has one owner and is not thread-safe. Adding is O(1) amortised.
class History {
 public:
  // Adds or replaces a trial.
  void Put(Observation observation);
  // Adds a report in place, without a copy of the curve. Does nothing for an
  // unknown trial, or for a step that is not after the last one.
  void Append(std::int64_t number, IntermediateValue value);
  // Changes a known trial in place. REQUIRES: `change` leaves the number and
  // the intermediate values alone.
  void Amend(std::int64_t number, absl::FunctionRef<void(Observation&)> change);

  // All trials, in the order in which their numbers were first seen.
  const std::vector<Observation>& trials() const { return trials_; }
  std::size_t size() const { return trials_.size(); }
  // Returns a trial, or nullptr for an unknown one.
  const Observation* Find(std::int64_t number) const;

  // The changes so far, each as an index into trials().
  const std::vector<std::uint32_t>& changes() const { return changes_; }
  std::int64_t revision() const {
    return static_cast<std::int64_t>(changes_.size());
  }
  // Returns how often the curve of a trial was replaced by another one, as a
  // new attempt does, rather than made longer. `index` is one into trials().
  std::uint32_t CurvesBefore(std::size_t index) const {
    return curves_before_[index];
  }

 private:
  static constexpr std::size_t kUnknown = ~std::size_t{0};
  std::size_t IndexOf(std::int64_t number) const;
  void Replace(std::size_t index, Observation observation);
  void NoteChange(std::size_t index) {
    changes_.push_back(static_cast<std::uint32_t>(index));
  }

  std::vector<Observation> trials_;
  std::vector<std::uint32_t> changes_;
  std::vector<std::uint32_t> curves_before_;   // as trials_
  std::vector<std::int32_t> index_of_number_;  // -1: not seen
};

}  // namespace frostline

#endif  // FROSTLINE_STUDY_HISTORY_H_
