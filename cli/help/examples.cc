// SPDX-License-Identifier: Apache-2.0
#include "cli/help/examples.h"

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace frostline::cli {

ExampleTable ReadExamples(const std::string& text) {
  ExampleTable table;
  std::vector<std::string>* below = nullptr;
  for (const absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (absl::StartsWith(line, "#")) continue;
    if (!absl::StartsWith(line, " ")) {
      below = &table[std::string(line)];
    } else if (below != nullptr) {
      below->emplace_back(absl::StripLeadingAsciiWhitespace(line));
    }
  }
  return table;
}

std::vector<std::string> ExamplesOf(const std::string& path) {
  // Help is asked for once in a run, but man pages ask for all of them.
  static const auto* const table =
      new ExampleTable(ReadExamples(kHelpExamples));
  const auto found = table->find(path);
  return found == table->end() ? std::vector<std::string>() : found->second;
}

}  // namespace frostline::cli
