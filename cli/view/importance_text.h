// SPDX-License-Identifier: Apache-2.0
//
// File: importance_text.h
#ifndef FROSTLINE_CLI_VIEW_IMPORTANCE_TEXT_H_
#define FROSTLINE_CLI_VIEW_IMPORTANCE_TEXT_H_

#include <string>

#include "frostline/v1/importance.pb.h"
#include "frostline/v1/importance_service.pb.h"

namespace frostline::cli {

// Views may choose their columns; these are a terminal's.
inline constexpr int kTextColumns = 80;

// Writes "41.0 %", or "-" for NaN.
std::string Percent(double share);
// This is the 80 % interval: "30.0 – 50.0 %", "0.91 – 0.93"; "-" means none.
std::string PercentInterval(const v1::Interval& interval);
std::string NumberInterval(const v1::Interval& interval);
// Two digits stand for what its interval leaves open: "0.912".
std::string NumberWithin(const v1::Interval& interval);
// The 80 % interval follows: "0.912 (0.903 – 0.921)"; "-" means not known.
std::string WithInterval(const v1::Interval& interval);
// Writes "92 %", "> 99 %", "< 1 %", or "-" for NaN.
std::string Probability(double probability);
// "tau 0.96 (80 %: 0.72 – 0.98)".
std::string TauText(const v1::Interval& tau);

// Fills `share` (0 … 1) of `columns`, in eighths; NaN fills none.
std::string Bar(double share, int columns);
// Is solid up to `sure`, light from there to `share`, so that only what is sure
// looks so.
std::string BarWithin(double sure, double share, int columns);

// Writes "higher is better", "lower is better", or "" below a probability of
// 0.9.
std::string DirectionText(const v1::ParameterImportance& importance);

// What follows wraps to `width`, at most kTextColumns (0: these).

// Writes "stability:      ranking settled …", or "" for no text. Where it is
// narrow the key has a line of its own.
std::string Sentence(const std::string& key, const std::string& text,
                     int width);

// "either": by itself it could be frozen, and the plan trains it.
std::string AdviceText(const v1::PlannedModule& module);

// Both write "" for no text. The first ends with a blank line.
std::string Verdict(const std::string& sentence, int width);
std::string VerdictLines(const std::string& sentence, int width);

// Says what follows, and ends with a blank line.
std::string Caption(const std::string& text, bool provisional, int width);

// CSV has headers here; an unknown number is an empty cell.

std::string ImportanceCsv(const v1::ImportanceReport& report);
std::string PairsCsv(const v1::ListPairsReply& pairs);
std::string GroupsCsv(const v1::ImportanceReport& report);
// Commas stand between the names of a set.
std::string SubsetsCsv(const v1::ImportanceReport& report);
std::string MarginalsCsv(const v1::GetMarginalsReply& reply);
// Each combination of values has a line.
std::string PairMarginalCsv(const v1::PairMarginal& table);
std::string StabilityCsv(const v1::GetStabilityReply& reply);
std::string PlanCsv(const v1::FreezePlan& plan);
std::string ComparisonCsv(const v1::StudyComparison& comparison);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_IMPORTANCE_TEXT_H_
