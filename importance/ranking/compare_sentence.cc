// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "importance/ranking/compare.h"

namespace frostline::importance {

std::string DescribeComparison(const Comparison& comparison,
                               bool has_intervals) {
  std::vector<std::string> in_first, in_second;
  for (const ParameterShift& shift : comparison.shifts) {
    if (!shift.distinguishable) continue;
    (shift.first.value > shift.second.value ? in_first : in_second)
        .push_back(shift.parameter);
  }
  const Interval& tau = comparison.rank_agreement;
  const std::size_t all = comparison.shifts.size();
  if (!has_intervals) {
    return absl::StrFormat(
        "%d shared parameters, ranked with tau %.2f; without intervals nothing "
        "can be told apart",
        all, tau.value);
  }
  std::string sentence = absl::StrFormat(
      "%d of %d shared parameters cannot be told apart between the studies: "
      "tau %.2f (95 %%: %.2f to %.2f)",
      all - in_first.size() - in_second.size(), all, tau.value, tau.lo95,
      tau.hi95);
  const auto name_those = [&](const std::vector<std::string>& names,
                              const std::string& where) {
    if (names.empty()) return;
    absl::StrAppend(&sentence, "; ", absl::StrJoin(names, ", "),
                    names.size() == 1 ? " matters" : " matter", " more in the ",
                    where);
  };
  name_those(in_first, "first");
  name_those(in_second, "second");
  return sentence;
}

}  // namespace frostline::importance
