// SPDX-License-Identifier: Apache-2.0
//
// File: importance_text.h
//
// Shares, intervals, bars and sentences as the importance views write them.
#ifndef FROSTLINE_CLI_VIEW_IMPORTANCE_TEXT_H_
#define FROSTLINE_CLI_VIEW_IMPORTANCE_TEXT_H_

#include <string>

#include "frostline/v1/importance.pb.h"

namespace frostline {

// Views are for a terminal of so many columns where they may choose.
inline constexpr int kTextColumns = 80;

// "41.0 %"; "-" for NaN.
std::string Percent(double share);
// The 80 % interval: "30.0 – 50.0 %", "0.91 – 0.93"; "-" where there is none.
std::string PercentInterval(const v1::Interval& interval);
std::string NumberInterval(const v1::Interval& interval);
// A number with two digits of what its interval leaves open: "0.912".
std::string NumberWithin(const v1::Interval& interval);
// "tau 0.96 (80 %: 0.72 – 0.98)".
std::string TauText(const v1::Interval& tau);

// A bar of `share` (0 … 1) of `columns`, in eighths of a column; "" for NaN.
std::string Bar(double share, int columns);
// The same in whole columns of a light shade, at least one, for what is not
// clear of chance.
std::string LightBar(double share, int columns);

// "higher is better", "lower is better", or "" where neither can be said.
std::string DirectionText(double direction);

// "stability:      ranking settled …", safe and broken into lines of
// kTextColumns; "" for no text.
std::string Sentence(const std::string& key, const std::string& text);

// A line that says what follows, with a blank line after it.
std::string Caption(const std::string& text, bool provisional);

}  // namespace frostline

#endif  // FROSTLINE_CLI_VIEW_IMPORTANCE_TEXT_H_
