// SPDX-License-Identifier: Apache-2.0
#include "cli/view/usage_view.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

// Both messages have these fields.
template <typename Usage>
std::string WorkText(const Usage& usage) {
  if (usage.flops_spent() <= 0) return "";
  std::string text = absl::StrCat(FormatFlops(usage.flops_spent()), " done");
  if (usage.flops_skipped() > 0) {
    absl::StrAppend(&text, ", ", FormatFlops(usage.flops_skipped()),
                    " skipped");
  }
  if (usage.flops_shared() > 0) {
    absl::StrAppend(&text, ", ", FormatFlops(usage.flops_shared()), " shared");
  }
  return text;
}

template <typename Usage>
std::string PrefixText(const Usage& usage) {
  if (usage.prefix_hits() == 0 && usage.prefix_misses() == 0) return "";
  std::string text =
      absl::StrCat("rows taken ", FormatCount(usage.prefix_hits()),
                   ", computed ", FormatCount(usage.prefix_misses()));
  if (usage.prefix_bytes() > 0) {
    absl::StrAppend(&text, "; ", FormatBytes(usage.prefix_bytes()), " stored");
  }
  return text;
}

// "about 3m10s", "about 3m10s to 4m05s".
std::string RangeText(const v1::SecondsRange& range) {
  const std::string least = FormatSeconds(range.least());
  const std::string most = FormatSeconds(range.most());
  return least == most ? absl::StrCat("about ", least)
                       : absl::StrCat("about ", least, " to ", most);
}

std::string EstimateText(const v1::StudyUsage& usage) {
  std::vector<std::string> parts;
  if (usage.has_without_sharing()) {
    parts.push_back(
        absl::StrCat(RangeText(usage.without_sharing()), " without sharing"));
  }
  if (usage.has_without_freezing()) {
    parts.push_back(
        absl::StrCat(RangeText(usage.without_freezing()),
                     " had frozen modules cost what trained ones do"));
  }
  if (parts.empty()) return "";
  return absl::StrCat("this study would have taken ",
                      absl::StrJoin(parts, ", "));
}

}  // namespace

std::string UsageLines(const v1::StudyUsage& usage) {
  if (usage.trials() == 0) return "";
  std::string text = KeyLine(
      "cost", absl::StrCat(FormatSeconds(usage.total_seconds()), " of ",
                           FormatCount(usage.trials()),
                           usage.trials() == 1 ? " trial, " : " trials, ",
                           FormatSeconds(usage.train_seconds()),
                           " of that in training steps"));
  text += KeyLine("work", WorkText(usage));
  text += KeyLine("prefixes", PrefixText(usage));
  text += KeyLine("estimate", EstimateText(usage));
  return text;
}

std::string UsageLines(const v1::Usage& usage) {
  std::string cost;
  if (usage.total_seconds() > 0 || usage.train_seconds() > 0) {
    cost = absl::StrCat(FormatSeconds(usage.train_seconds()),
                        " in training steps");
  }
  return KeyLine("cost", cost) + KeyLine("work", WorkText(usage)) +
         KeyLine("prefixes", PrefixText(usage));
}

}  // namespace frostline::cli
