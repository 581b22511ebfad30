// SPDX-License-Identifier: Apache-2.0
//
// File: constraints.h
//
// A study's constraints: metrics that are to stay at or below their bounds. A
// trial that breaks one is worse than any that breaks none, whatever its loss;
// of two that do, the one that breaks them less is better (Deb et al., 2002,
// constrained domination).
#ifndef FROSTLINE_SERVER_WIRE_CONSTRAINTS_H_
#define FROSTLINE_SERVER_WIRE_CONSTRAINTS_H_

#include <vector>

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"
#include "storage/rows.h"

namespace frostline::server {

inline constexpr int kMaxConstraints = 16;

// Metrics have names, each once; bounds are finite.
absl::Status CheckConstraints(const v1::StudySpec& spec);

// Returns metric - bound of each, which is above 0 where it is broken. A metric
// that is missing, or no number, breaks its constraint by infinity, as in
// Optuna; but a pruned trial ended before all was measured: it keeps what it
// has not measured, by infinity. There are none unless the trial SUCCEEDED or
// was PRUNED.
std::vector<double> ConstraintsOf(const storage::TrialRow& row,
                                  const v1::StudySpec& spec);

// Returns by how much the trial breaks its constraints, in all: 0 keeps them.
double ViolationOf(const storage::TrialRow& row, const v1::StudySpec& spec);

// Returns what BestTrials compares: the row's values and, where the study has
// constraints, the violation after them.
std::vector<double> RankedValuesOf(const storage::TrialRow& row,
                                   const v1::StudySpec& spec);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_CONSTRAINTS_H_
