// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/tree_work.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::importance {
namespace {

// Rows times parameters times trees; a core does some two million a second.
constexpr double kMostOfForest = 1.5e9;
constexpr double kMostOfIntervals = 2.5e8;

double SizeOf(std::size_t rows, std::size_t parameters) {
  return static_cast<double>(rows) * static_cast<double>(parameters);
}

}  // namespace

absl::Status CheckTreeWork(std::size_t rows, std::size_t parameters,
                           int trees) {
  const double most = std::floor(kMostOfForest / SizeOf(rows, parameters));
  if (trees <= most) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(trees, " trees on ", rows, " trials of ", parameters,
                   " parameters would take many minutes"),
      most < 1.0 ? "name a top_quantile, or take the evaluator fanova"
                 : absl::StrCat("ask for ", most,
                                " trees or fewer, name a top_quantile, or "
                                "take the evaluator fanova"),
      "options.trees");
}

bool CanGrowForIntervals(std::size_t rows, std::size_t parameters, int trees) {
  return SizeOf(rows, parameters) * trees <= kMostOfIntervals;
}

}  // namespace frostline::importance
