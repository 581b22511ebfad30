// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_across.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/view/comparison_summary.h"
#include "cli/view/comparison_view.h"

namespace frostline::cli {
std::vector<std::string> AcrossSentences(const RecipeRecord& record) {
  std::vector<std::string> sentences;
  std::vector<std::string> alike;
  for (const AcrossRecord& across : record.across) {
    const auto& tests = across.comparison.tests();
    const bool differs =
        std::any_of(tests.begin(), tests.end(),
                    [](const v1::PairedTest& test) { return test.differs(); });
    const std::string what = absl::StrCat(across.stage, ", '", across.run, "'");
    if (differs) {
      sentences.push_back(
          absl::StrCat(what, ": ", SummaryOf(across.comparison)));
    } else {
      alike.push_back(absl::StrCat(what, ", ", across.comparison.metric()));
    }
  }
  if (alike.empty()) return sentences;
  sentences.push_back(absl::StrCat(
      "No entry can be told from the one that it was set against: ",
      absl::StrJoin(alike, "; "), "."));
  return sentences;
}

std::vector<ReportSection> AcrossSections(const RecipeRecord& record) {
  std::vector<ReportSection> sections;
  for (const AcrossRecord& across : record.across) {
    const std::string heading =
        absl::StrCat(across.stage, ": entries side by side");
    if (sections.empty() || sections.back().heading != heading) {
      sections.push_back({.heading = heading});
    }
    ReportSection& section = sections.back();
    section.paragraphs.push_back(
        absl::StrCat("'", across.run, "': ", SummaryOf(across.comparison)));
    absl::StrAppend(&section.verbatim,
                    RenderTrialComparison(across.comparison, kVerbatimWidth),
                    "\n");
  }
  if (!record.missing.empty()) {
    sections.push_back(
        {.heading = "What could not be tested", .paragraphs = record.missing});
  }
  return sections;
}

}  // namespace frostline::cli
