// SPDX-License-Identifier: Apache-2.0
#include "study/history.h"

#include <algorithm>
#include <bit>

namespace frostline {

const char* NameOf(TrialState state) {
  switch (state) {
    case TrialState::kQueued:
      return "QUEUED";
    case TrialState::kRunning:
      return "RUNNING";
    case TrialState::kSucceeded:
      return "SUCCEEDED";
    case TrialState::kPruned:
      return "PRUNED";
    case TrialState::kInfeasible:
      return "INFEASIBLE";
    case TrialState::kFailed:
      return "FAILED";
    case TrialState::kCancelled:
      return "CANCELLED";
  }
  return "UNKNOWN";
}

const char* NameOf(AttemptState state) {
  switch (state) {
    case AttemptState::kRunning:
      return "RUNNING";
    case AttemptState::kCompleted:
      return "COMPLETED";
    case AttemptState::kSuperseded:
      return "SUPERSEDED";
    case AttemptState::kLost:
      return "LOST";
    case AttemptState::kPreempted:
      return "PREEMPTED";
    case AttemptState::kFailed:
      return "FAILED";
    case AttemptState::kReleased:
      return "RELEASED";
    case AttemptState::kCancelled:
      return "CANCELLED";
  }
  return "UNKNOWN";
}

const char* NameOf(FailureClass failure) {
  switch (failure) {
    case FailureClass::kNone:
      return "NONE";
    case FailureClass::kTrial:
      return "TRIAL";
    case FailureClass::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case FailureClass::kInfrastructure:
      return "INFRASTRUCTURE";
  }
  return "UNKNOWN";
}

namespace {

// Bit by bit, so that NaN is as good as any other value.
bool IsSame(const IntermediateValue& a, const IntermediateValue& b) {
  return a.step == b.step && std::bit_cast<std::uint64_t>(a.value) ==
                                 std::bit_cast<std::uint64_t>(b.value);
}

bool BeginsWith(const std::vector<IntermediateValue>& curve,
                const std::vector<IntermediateValue>& beginning) {
  return curve.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), curve.begin(), IsSame);
}

}  // namespace

std::size_t History::IndexOf(std::int64_t number) const {
  if (number < 0 ||
      static_cast<std::size_t>(number) >= index_of_number_.size()) {
    return kUnknown;
  }
  const std::int32_t index = index_of_number_[static_cast<std::size_t>(number)];
  return index < 0 ? kUnknown : static_cast<std::size_t>(index);
}

void History::Replace(std::size_t index, Observation observation) {
  Observation& old = trials_[index];
  if (!BeginsWith(observation.intermediate, old.intermediate)) {
    ++curves_before_[index];
  }
  old = std::move(observation);
}

void History::Put(Observation observation) {
  const auto number = static_cast<std::size_t>(observation.number);
  if (number >= index_of_number_.size()) {
    index_of_number_.resize(number + 1, -1);
  }
  std::int32_t& index = index_of_number_[number];
  if (index < 0) {
    index = static_cast<std::int32_t>(trials_.size());
    trials_.push_back(std::move(observation));
    curves_before_.push_back(0);
  } else {
    Replace(static_cast<std::size_t>(index), std::move(observation));
  }
  NoteChange(static_cast<std::size_t>(index));
}

void History::Append(std::int64_t number, IntermediateValue value) {
  const std::size_t index = IndexOf(number);
  if (index == kUnknown) return;
  std::vector<IntermediateValue>& curve = trials_[index].intermediate;
  if (!curve.empty() && curve.back().step >= value.step) return;
  curve.push_back(value);
  NoteChange(index);
}

void History::Amend(std::int64_t number,
                    absl::FunctionRef<void(Observation&)> change) {
  const std::size_t index = IndexOf(number);
  if (index == kUnknown) return;
  change(trials_[index]);
  NoteChange(index);
}

const Observation* History::Find(std::int64_t number) const {
  const std::size_t index = IndexOf(number);
  return index == kUnknown ? nullptr : &trials_[index];
}

}  // namespace frostline
