// SPDX-License-Identifier: Apache-2.0
//
// File: importance_text.h
//
// Shares, intervals, bars and sentences of the importance views.
#ifndef FROSTLINE_CLI_VIEW_IMPORTANCE_TEXT_H_
#define FROSTLINE_CLI_VIEW_IMPORTANCE_TEXT_H_

#include <string>

#include "frostline/v1/importance.pb.h"

namespace frostline::cli {

// Of a terminal, where views may choose.
inline constexpr int kTextColumns = 80;

// "41.0 %"; "-" for NaN.
std::string Percent(double share);
// The 80 % interval: "30.0 – 50.0 %", "0.91 – 0.93"; "-" where there is none.
std::string PercentInterval(const v1::Interval& interval);
std::string NumberInterval(const v1::Interval& interval);
// With two digits of what its interval leaves open: "0.912".
std::string NumberWithin(const v1::Interval& interval);
// "0.912 (0.903 – 0.921)": the 80 % interval; "-" where nothing is known.
std::string WithInterval(const v1::Interval& interval);
// "92 %", "> 99 %", "< 1 %"; "-" for NaN.
std::string Probability(double probability);
// "tau 0.96 (80 %: 0.72 – 0.98)".
std::string TauText(const v1::Interval& tau);

// `share` (0 … 1) of `columns`, in eighths of a column; "" for NaN.
std::string Bar(double share, int columns);
// Solid up to `sure`, light from there to `share`, so that only what is sure
// looks so.
std::string BarWithin(double sure, double share, int columns);

// "higher is better", "lower is better", or "" below a probability of 0.9.
std::string DirectionText(const v1::ParameterImportance& importance);

// "stability:      ranking settled …", in lines of kTextColumns; "" for no
// text.
std::string Sentence(const std::string& key, const std::string& text);

std::string AdviceText(v1::PlanAdvice advice);

// "" for no text. The first ends with a blank line.
std::string Verdict(const std::string& sentence);
std::string VerdictLines(const std::string& sentence);

// Says what follows, and ends with a blank line.
std::string Caption(const std::string& text, bool provisional);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_IMPORTANCE_TEXT_H_
