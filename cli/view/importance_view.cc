// SPDX-License-Identifier: Apache-2.0
#include "cli/view/importance_view.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/table.h"
#include "cli/utf8.h"
#include "cli/view/format.h"

namespace frostline {
namespace {

constexpr int kLongestBar = 16;
constexpr int kShortestBar = 4;
constexpr double kBelieveLittle = 0.3;  // out-of-bag R2, as the contract says
constexpr int kMostPairs = 20;          // of a table for people

// What is left of a line beside a name and so many columns of text.
int BarColumns(int name_width, int others) {
  return std::clamp(kTextColumns - name_width - others, kShortestBar,
                    kLongestBar);
}

std::string CaptionOf(const v1::ImportanceReport& report) {
  const v1::ImportanceOptions& options = report.options();
  std::string text = absl::StrCat(
      "importance for ", options.target(), " in ", LastPart(report.study()),
      ": ", FormatCount(report.trials_used()), " trials, ", options.evaluator(),
      ", seed ", options.seed());
  if (options.at_step() > 0) {
    absl::StrAppend(&text, ", at step ", options.at_step());
  }
  if (options.top_quantile() > 0.0 && options.top_quantile() < 1.0) {
    absl::StrAppend(&text, ", best ",
                    FormatNumber(options.top_quantile() * 100), " %");
  }
  if (!options.filter().empty()) {
    absl::StrAppend(&text, ", ", options.filter());
  }
  return Caption(text, report.provisional());
}

std::string CarriedBy(const v1::ImportanceReport& report) {
  std::string text;
  for (const char* const part : {"main effects", "interactions", "forest"}) {
    const auto weight = report.estimator_weights().find(part);
    if (weight == report.estimator_weights().end()) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", part, " ",
                    Percent(weight->second));
  }
  return text;
}

std::string Footer(const v1::ImportanceReport& report) {
  std::string text = "\n";
  absl::StrAppend(
      &text, Sentence("unexplained", Percent(report.unexplained().value())));
  // An evaluator that predicts nothing has none.
  if (!std::isnan(report.out_of_bag_r2())) {
    absl::StrAppend(
        &text,
        Sentence("out-of-bag R2",
                 absl::StrCat(absl::StrFormat("%.2f", report.out_of_bag_r2()),
                              report.out_of_bag_r2() < kBelieveLittle
                                  ? " (below 0.3: believe little of this)"
                                  : "")));
  }
  absl::StrAppend(&text, Sentence("carried by", CarriedBy(report)));
  if (report.noise_share() > 0.0) {  // false for NaN
    absl::StrAppend(
        &text, Sentence("noise", Percent(report.noise_share()) +
                                     " of the trials' variance, kept out"));
  }
  absl::StrAppend(&text, Sentence("stability", report.stability().sentence()));
  for (const v1::Warning& warning : report.warnings()) {
    absl::StrAppend(&text, Sentence("warning", warning.sentence()));
  }
  return text;
}

}  // namespace

std::string RenderImportance(const v1::ImportanceReport& report, int width) {
  Table table({{"MODULE"},
               {"RANK", Align::kRight},
               {"MAIN EFFECT", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {""},
               {"DIRECTION"}});
  double largest = 0.0;
  int longest_name = 6;
  bool some_unclear = false;
  for (const v1::ParameterImportance& row : report.parameters()) {
    largest = std::max(largest, row.main().value());
    longest_name = std::max(longest_name, DisplayWidth(row.parameter()));
  }
  const int columns = BarColumns(longest_name, 54);
  for (const v1::ParameterImportance& row : report.parameters()) {
    const double share = largest > 0 ? row.main().value() / largest : 0.0;
    some_unclear = some_unclear || !row.distinguishable();
    table.AddRow(
        {row.parameter(), absl::StrCat(row.rank()), Percent(row.main().value()),
         PercentInterval(row.main()),
         row.distinguishable() ? Bar(share, columns) : LightBar(share, columns),
         DirectionText(row.direction())});
  }
  return absl::StrCat(
      CaptionOf(report), table.Render(width),
      some_unclear ? "\n░ cannot be told from what chance gives\n" : "",
      Footer(report));
}

std::string RenderPairs(const v1::ImportanceReport& report, int width) {
  Table table({{"PAIR"},
               {"SHARE", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {""}});
  const int shown = std::min(report.pairs_size(), kMostPairs);
  if (shown == 0) return "\nno pairs: this evaluator knows none\n";
  const double largest = report.pairs(0).share().value();
  for (int i = 0; i < shown; ++i) {
    const v1::PairImportance& pair = report.pairs(i);
    const double share = largest > 0 ? pair.share().value() / largest : 0.0;
    table.AddRow({absl::StrCat(pair.first(), " x ", pair.second()),
                  Percent(pair.share().value()), PercentInterval(pair.share()),
                  Bar(share, kLongestBar)});
  }
  return absl::StrCat("\npairs, beyond both main effects: ", shown, " of ",
                      report.total_pairs(), "\n\n", table.Render(width));
}

std::string RenderGroups(const v1::ImportanceReport& report, int width) {
  Table table({{"GROUP"},
               {"SHARE", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {""}});
  if (report.groups().empty()) {
    return "\nno groups: there are no modules in it, or this evaluator knows "
           "none\n";
  }
  double largest = 0.0;
  for (const v1::GroupImportance& group : report.groups()) {
    largest = std::max(largest, group.share().value());
  }
  for (const v1::GroupImportance& group : report.groups()) {
    const double share = largest > 0 ? group.share().value() / largest : 0.0;
    table.AddRow({group.group(), Percent(group.share().value()),
                  PercentInterval(group.share()), Bar(share, kLongestBar)});
  }
  return absl::StrCat("\ngroups, with the pairs inside them\n\n",
                      table.Render(width));
}

std::string RenderSubsets(const v1::ImportanceReport& report, int width) {
  Table table({{"TOGETHER", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {"BEYOND", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {"SET"}});
  for (const v1::SubsetImportance& subset : report.subsets()) {
    table.AddRow(
        {Percent(subset.together().value()), PercentInterval(subset.together()),
         Percent(subset.beyond().value()), PercentInterval(subset.beyond()),
         absl::StrJoin(subset.parameters(), ", ")});
  }
  return absl::StrCat(
      "\nsets: all effects among them together; beyond: what only all of them "
      "have\n\n",
      table.Render(width));
}

}  // namespace frostline
