// SPDX-License-Identifier: Apache-2.0
#include "importance/warnings.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "importance/statistics.h"

namespace frostline {
namespace {

constexpr std::size_t kFewTrials = 30;
constexpr std::size_t kFewPerParameter = 5;
constexpr int kNamed = 5;  // parameters a sentence names
// ln of the chance at which uniform trials would be called adaptive.
const double kLogUnlikely = std::log(1e-4);

std::string NamesOf(const Space& space, const std::vector<int>& parameters) {
  std::vector<std::string> names;
  for (const int i : parameters) {
    if (names.size() == kNamed) break;
    names.push_back(space.parameters()[static_cast<std::size_t>(i)].name);
  }
  const std::size_t more = parameters.size() - names.size();
  return absl::StrCat(absl::StrJoin(names, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

std::optional<ReportWarning> FewTrials(const Dataset& data) {
  const std::size_t wanted =
      std::max(kFewTrials, kFewPerParameter * data.axes.size());
  if (data.rows() >= wanted) return std::nullopt;
  return ReportWarning{
      "FEW_TRIALS",
      absl::StrCat(data.rows(), " trials for ", data.axes.size(),
                   " parameters: the ranking may still change, about ", wanted,
                   " trials are needed"),
      {}};
}

// An axis cut into parts, to count trials in: absent, frozen, and of the rest
// every value, or eight parts of it where there are more.
struct Parts {
  std::vector<double> mass;
  std::vector<double> seen;
};

constexpr std::size_t kLiveParts = 8;

std::size_t PartOf(const MeasuredAxis& axis, double code) {
  if (!axis.is_ordered()) return static_cast<std::size_t>(code);
  if (code < 0.0) return code < -1.0 ? 0 : 1;
  const double fixed = axis.MassUpTo(-1.0);
  const double place = (axis.MassUpTo(code) - fixed) / (1.0 - fixed);
  // A value ends at its place: the end of a part still belongs to it.
  const double part = std::ceil(place * kLiveParts - 1e-9) - 1.0;
  return 2 + static_cast<std::size_t>(
                 std::clamp(part, 0.0, static_cast<double>(kLiveParts - 1)));
}

Parts CountParts(const MeasuredAxis& axis, const std::vector<double>& codes) {
  Parts parts;
  if (!axis.is_ordered()) {
    parts.mass = axis.choice_masses();
  } else {
    const double absent = axis.MassUpTo(-2.0);
    const double fixed = axis.MassUpTo(-1.0);
    parts.mass = {absent, fixed - absent};
    const double share = (1.0 - fixed) / static_cast<double>(kLiveParts);
    parts.mass.resize(2 + kLiveParts, axis.is_finite() ? 0.0 : share);
    for (const double code : axis.CountableCodes()) {
      if (code < 0.0 || !axis.is_finite()) continue;
      parts.mass[PartOf(axis, code)] +=
          axis.MassUpTo(code) - axis.MassUpTo(code - 0.5);
    }
  }
  parts.seen.resize(parts.mass.size(), 0.0);
  for (const double code : codes) parts.seen[PartOf(axis, code)] += 1.0;
  return parts;
}

// Whether uniform trials would hardly ever lie like this (Pearson's test).
bool IsUneven(const Parts& parts, double trials, double log_unlikely) {
  double statistic = 0.0, freedom = -1.0;
  for (std::size_t i = 0; i < parts.mass.size(); ++i) {
    const double expected = parts.mass[i] * trials;
    if (expected < 1e-9 * trials) continue;
    statistic +=
        (parts.seen[i] - expected) * (parts.seen[i] - expected) / expected;
    freedom += 1.0;
  }
  return freedom > 0.0 && LogChiSquaredTail(statistic, freedom) < log_unlikely;
}

std::optional<ReportWarning> AdaptiveSampling(const Space& space,
                                              const Dataset& data) {
  const auto axes = static_cast<double>(data.axes.size());
  std::vector<int> uneven;
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    const Parts parts = CountParts(data.axes[i], data.codes[i]);
    if (IsUneven(parts, static_cast<double>(data.rows()),
                 kLogUnlikely - std::log(axes))) {
      uneven.push_back(static_cast<int>(i));
    }
  }
  if (uneven.empty()) return std::nullopt;
  return ReportWarning{
      "ADAPTIVE_SAMPLING",
      absl::StrCat("the trials are not spread evenly over ",
                   NamesOf(space, uneven),
                   ": what lies where few trials are is known badly, and "
                   "their shares may be too small"),
      uneven};
}

std::optional<ReportWarning> LevelNeverTried(const Space& space,
                                             const Dataset& data) {
  constexpr std::size_t kMostValues = 64;  // of longer ranges none need be seen
  std::vector<int> gaps;
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    const std::vector<double> codes = data.axes[i].CountableCodes();
    if (codes.size() > kMostValues) continue;
    const bool has_gap =
        std::any_of(codes.begin(), codes.end(), [&](double code) {
          return std::find(data.codes[i].begin(), data.codes[i].end(), code) ==
                 data.codes[i].end();
        });
    if (has_gap) gaps.push_back(static_cast<int>(i));
  }
  if (gaps.empty()) return std::nullopt;
  return ReportWarning{
      "LEVEL_NEVER_TRIED",
      absl::StrCat("no trial has tried every value of ", NamesOf(space, gaps),
                   ": what those values do is guessed from their neighbours"),
      gaps};
}

}  // namespace

std::vector<ReportWarning> FindWarnings(const Space& space,
                                        const Dataset& data) {
  std::vector<ReportWarning> warnings;
  for (auto& warning : {FewTrials(data), AdaptiveSampling(space, data),
                        LevelNeverTried(space, data)}) {
    if (warning.has_value()) warnings.push_back(*warning);
  }
  return warnings;
}

}  // namespace frostline
