// SPDX-License-Identifier: Apache-2.0
#include "study/test_split.h"

#include "absl/strings/str_cat.h"

namespace frostline {

bool IsOfTestSplit(std::string_view metric) {
  return metric.starts_with("test.") ||
         metric.find(".test.") != std::string_view::npos;
}

std::string TestObjectiveSentence(std::string_view metric) {
  return absl::StrCat("trials are chosen by ", std::string(metric),
                      ", so the best of them looks better on the test split "
                      "than on rows that nobody has looked at: what it "
                      "reports is no test result");
}

}  // namespace frostline
