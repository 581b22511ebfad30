// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/evaluate_options.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::importance {
namespace {

constexpr double kMostWork = 1e11;  // steps of a nanosecond or so
constexpr char kField[] = "options.subsets";

absl::Status Refuse(const std::string& cause, const std::string& fix,
                    const std::string& field) {
  return MakeError(ErrorId::kRequestInvalid, cause, fix, field);
}

absl::Status CheckSubset(const std::vector<int>& subset, std::size_t parameters,
                         const std::string& field) {
  if (subset.empty()) {
    return Refuse("a set of no parameters", "name at least one", field);
  }
  if (subset.size() > kMaxSubset) {
    return Refuse(absl::StrCat("a set of ", subset.size(), " parameters"),
                  absl::StrCat("name at most ", kMaxSubset), field);
  }
  std::vector<bool> is_named(parameters, false);
  for (const int parameter : subset) {
    if (parameter < 0 || static_cast<std::size_t>(parameter) >= parameters) {
      return Refuse(absl::StrCat("there is no parameter ", parameter),
                    absl::StrCat("there are ", parameters, ", from 0"), field);
    }
    if (is_named[static_cast<std::size_t>(parameter)]) {
      return Refuse(absl::StrCat("parameter ", parameter, " is named twice"),
                    "name each parameter once", field);
    }
    is_named[static_cast<std::size_t>(parameter)] = true;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSubsets(const NamedSubsets& subsets, std::size_t parameters) {
  if (subsets.size() > kMaxSubsets) {
    return Refuse(absl::StrCat(subsets.size(), " sets of parameters"),
                  absl::StrCat("ask for at most ", kMaxSubsets, " at once"),
                  kField);
  }
  for (std::size_t s = 0; s < subsets.size(); ++s) {
    RETURN_IF_ERROR(
        CheckSubset(subsets[s], parameters, absl::StrCat(kField, "[", s, "]")));
  }
  return absl::OkStatus();
}

absl::Status CheckSubsetWork(const NamedSubsets& subsets, double work) {
  double named = 0.0;
  for (const std::vector<int>& subset : subsets) {
    if (subset.size() > 1) named += static_cast<double>(subset.size());
  }
  if (named * work <= kMostWork) return absl::OkStatus();
  return Refuse(
      "so many sets of parameters over so many trials are too much work",
      "ask for fewer or smaller sets, for fewer trees, or for no intervals",
      kField);
}

}  // namespace frostline::importance
