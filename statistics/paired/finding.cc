// SPDX-License-Identifier: Apache-2.0
#include "statistics/paired/finding.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace frostline::statistics {
namespace {

std::string Number(const Told& told, double amount) {
  return told.in_points ? absl::StrFormat("%.1f", 100.0 * amount)
                        : absl::StrFormat("%.4g", amount);
}

// "2.6 points", "0.026 rmse".
std::string AmountText(const Told& told, double amount) {
  return absl::StrCat(Number(told, amount), " ",
                      told.in_points ? "points" : told.metric);
}

std::string PText(double p, bool in_family) {
  return absl::StrCat(in_family ? "adjusted p" : "p",
                      p < 0.001 ? " < 0.001" : absl::StrFormat(" = %.3f", p));
}

std::string IntervalText(const Told& told, const PairJudged& pair) {
  if (std::isnan(pair.interval.low)) return "";
  return absl::StrCat(" (95 %: ", Number(told, pair.interval.low), " to ",
                      Number(told, pair.interval.high), ")");
}

std::string Material(const Told& told, const PairJudged& pair) {
  const std::string seeds =
      std::isnan(pair.seed_p) ? "" : absl::StrCat(pair.pairs, " seeds");
  if (pair.method == Method::kSeeds) return seeds;
  return seeds.empty() ? told.examples
                       : absl::StrCat(told.examples, " and ", seeds);
}

// Who is better is not worse, and of who is worse only that it is so by less
// than the margin says something new.
std::string MarginText(const Told& told, const PairJudged& pair, bool better) {
  if (!(told.margin > 0.0) || std::isnan(pair.worse_p)) return "";
  const bool is_news = pair.equivalent || (pair.not_worse && !better);
  if (pair.differs && !is_news) return "";
  const std::string margin = AmountText(told, told.margin);
  if (pair.equivalent) {
    return absl::StrCat("; the two are less than ", margin, " apart, ",
                        PText(pair.apart_p, told.in_family));
  }
  if (pair.not_worse) {
    return absl::StrCat("; ", told.second, " is not worse by ", margin,
                        " or more, ", PText(pair.worse_p, told.in_family));
  }
  return absl::StrCat("; that ", told.second, " is not worse by ", margin,
                      " or more is not shown, ",
                      PText(pair.worse_p, told.in_family));
}

}  // namespace

std::string FindingSentence(const Told& told, const PairJudged& pair) {
  const std::string two = absl::StrCat(told.second, " and ", told.first);
  if (pair.method == Method::kNone || std::isnan(pair.p)) {
    return absl::StrCat(two,
                        " cannot be compared by a test: one run each, and "
                        "their examples are not known");
  }
  const std::string p = PText(pair.adjusted_p, told.in_family);
  const bool better = (pair.difference > 0.0) == told.more_is_better;
  const std::string margin = MarginText(told, pair, better);
  if (pair.differs) {
    return absl::StrCat(
        told.second, better ? " is better than " : " is worse than ",
        told.first, " by ", AmountText(told, std::abs(pair.difference)),
        told.in_points ? absl::StrCat(" of ", told.metric) : "",
        IntervalText(told, pair), ", ", p, margin);
  }
  if (std::isnan(pair.smallest)) {
    return absl::StrCat(two, " come to the same on all of ",
                        Material(told, pair),
                        ": how far apart they are on others is not known");
  }
  return absl::StrCat(two, " cannot be told apart in ", told.metric, ": ",
                      AmountText(told, pair.difference),
                      IntervalText(told, pair), ", ", p, "; ",
                      Material(told, pair), " cannot show less than ",
                      AmountText(told, pair.smallest), margin);
}

}  // namespace frostline::statistics
