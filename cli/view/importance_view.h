// SPDX-License-Identifier: Apache-2.0
//
// File: importance_view.h
//
// Importance as text. Parameters are in depth order. Lines are cut at `width`
// columns (0: never).
#ifndef FROSTLINE_CLI_VIEW_IMPORTANCE_VIEW_H_
#define FROSTLINE_CLI_VIEW_IMPORTANCE_VIEW_H_

#include <set>
#include <string>

#include "frostline/v1/importance.pb.h"
#include "frostline/v1/importance_service.pb.h"

namespace frostline::cli {

// The columns of a terminal. A view may choose another number.
inline constexpr int kTextColumns = 80;

// Returns "41.0 %", or "-" for NaN.
std::string Percent(double share);
// Return the 80 % interval: "30.0 – 50.0 %", "0.91 – 0.93", or "-" for none.
std::string PercentInterval(const v1::Interval& interval);
std::string NumberInterval(const v1::Interval& interval);
// Returns a number with as many decimals as show two digits of the interval's
// half width: "0.912".
std::string NumberWithin(const v1::Interval& interval);
// Returns a number with its 80 % interval: "0.912 (0.903 – 0.921)", or "-" if
// unknown.
std::string WithInterval(const v1::Interval& interval);
// Returns "92 %", "> 99 %", "< 1 %", or "-" for NaN.
std::string Probability(double probability);
// Returns "tau 0.96 (80 %: 0.72 – 0.98)", or "-" for NaN.
std::string TauText(const v1::Interval& tau);

// Returns a bar that fills `share` (0 … 1) of `columns`, in steps of an eighth.
// NaN gives an empty bar.
std::string Bar(double share, int columns);
// Returns a bar that is solid up to `sure` and light from there to `share`, so
// that only the certain part looks solid.
std::string BarWithin(double sure, double share, int columns);

// Returns "higher is better", "lower is better", or "" below a probability of
// 0.9.
std::string DirectionText(const v1::ParameterImportance& importance);

// The functions below wrap text to `width`, at most kTextColumns (0 means
// kTextColumns).

// Returns "stability:      ranking settled …", or "" for no text. On a narrow
// terminal the key has its own line.
std::string Sentence(const std::string& key, const std::string& text,
                     int width);

// Returns the advice for a module. "either" means that it could be frozen by
// itself, but the plan trains it.
std::string AdviceText(const v1::PlannedModule& module);

// Return the wrapped sentence, or "" for no text. The first one adds a blank
// line.
std::string Verdict(const std::string& sentence, int width);
std::string VerdictLines(const std::string& sentence, int width);

// Returns a caption for the lines after it, and a blank line.
std::string Caption(const std::string& text, bool provisional, int width);

// The functions below return CSV with a header; an unknown number is an empty
// cell.

std::string ImportanceCsv(const v1::ImportanceReport& report);
std::string PairsCsv(const v1::ListPairsReply& pairs);
std::string GroupsCsv(const v1::ImportanceReport& report);
// The names in a set are separated by commas.
std::string SubsetsCsv(const v1::ImportanceReport& report);
std::string MarginalsCsv(const v1::GetMarginalsReply& reply);
// Returns a line for each combination of values.
std::string PairMarginalCsv(const v1::PairMarginal& table);
std::string StabilityCsv(const v1::GetStabilityReply& reply);
std::string PlanCsv(const v1::FreezePlan& plan);
std::string ComparisonCsv(const v1::StudyComparison& comparison);

// Returns the report, with `head` between the verdict and the table.
std::string RenderImportance(const v1::ImportanceReport& report,
                             const std::string& head, int width);

// Returns the strongest pairs and the number of all pairs.
std::string RenderPairs(const v1::ImportanceReport& report, int width);
std::string RenderGroups(const v1::ImportanceReport& report, int width);
std::string RenderSubsets(const v1::ImportanceReport& report, int width);

// The parameters that are rates of modules; their value 0 is shown as "frozen".
using RateNames = std::set<std::string>;
RateNames RatesIn(const v1::ImportanceReport& report);

std::string RenderMarginals(const v1::GetMarginalsReply& reply,
                            const RateNames& rates, int width);
// Returns a table with a row for each value of the first parameter and a column
// for each of the second.
std::string RenderPairMarginal(const v1::PairMarginal& table,
                               const RateNames& rates, int width);
std::string RenderStability(const v1::GetStabilityReply& reply, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_IMPORTANCE_VIEW_H_
