// SPDX-License-Identifier: Apache-2.0
#include "cli/view/importance_view.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/term/table.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

constexpr int kLongestBar = 16;
constexpr int kShortestBar = 4;
constexpr int kPairBar = 8;
constexpr int kLongTitle = 8;            // columns that "░ unsure" takes
constexpr double kBelieveLittle = 0.3;   // R2, as the contract says
constexpr double kWorthSaying = 0.0005;  // what rounds to more than nothing
constexpr double kMuchBeyond = 0.05;
constexpr double kSureOfRelation = 0.9;
constexpr int kMostPairs = 20;  // of a table for people

// What is left of a line beside a name and so many columns of text.
int BarColumns(int name_width, int others) {
  return std::clamp(kTextColumns - name_width - others, kShortestBar,
                    kLongestBar);
}

std::string CaptionOf(const v1::ImportanceReport& report, int width) {
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
  return VerdictLines(
      absl::StrCat(text, report.provisional() ? ", study still running" : ""),
      width);
}

// How far the report predicts trials that it has not seen.
std::string FitText(const v1::ImportanceReport& report) {
  const double r2 = report.out_of_bag_r2();
  const bool few =
      std::any_of(report.warnings().begin(), report.warnings().end(),
                  [](const v1::Warning& warning) {
                    return warning.code() == "FEW_TRIALS";
                  });
  // An evaluator that predicts nothing has none.
  if (std::isnan(r2)) return "";
  if (few && r2 > 0.0) {
    return "too few trials to say how much of their differences it explains";
  }
  if (r2 <= 0.0) return "explains nothing of trials that it has not seen";
  return absl::StrCat(
      absl::StrFormat("explains %.0f %% of the differences of trials that it "
                      "has not seen",
                      r2 * 100.0),
      r2 < kBelieveLittle ? ": believe little of this" : "");
}

std::string Footer(const v1::ImportanceReport& report, int width) {
  std::string text = Sentence("fit", FitText(report), width);
  const double beyond = report.unexplained().value();
  if (beyond >= kMuchBeyond) {  // false for NaN
    absl::StrAppend(
        &text,
        Sentence("beyond pairs",
                 absl::StrCat(Percent(beyond), " of all effects"), width));
  }
  if (report.noise_share() >= kWorthSaying) {
    absl::StrAppend(&text, Sentence("noise",
                                    Percent(report.noise_share()) +
                                        " of the trials' variance, kept out",
                                    width));
  }
  absl::StrAppend(&text,
                  Sentence("stability", report.stability().sentence(), width));
  std::set<std::string> said;  // no warning twice
  for (const v1::Warning& warning : report.warnings()) {
    if (!said.insert(warning.sentence()).second) continue;
    absl::StrAppend(&text, Sentence("warning", warning.sentence(), width));
  }
  return text;
}

std::string RelationText(const v1::PairImportance& pair) {
  const double substitutes = pair.substitutes_probability();
  if (std::isnan(substitutes)) return "";
  const double chance = std::max(substitutes, 1.0 - substitutes);
  if (chance < kSureOfRelation) return "";
  return absl::StrCat(substitutes > 0.5 ? "substitutes" : "complements", ", ",
                      Probability(chance));
}

}  // namespace

std::string RenderImportance(const v1::ImportanceReport& report,
                             const std::string& head, int width) {
  double largest = 0.0;
  int longest_name = 6;
  for (const v1::ParameterImportance& row : report.parameters()) {
    largest = std::max(largest, row.main().value());
    longest_name = std::max(longest_name, DisplayWidth(row.parameter()));
  }
  const int columns = BarColumns(longest_name, 54);
  Table table({{"MODULE"},
               {"RANK", Align::kRight},
               {"MAIN EFFECT", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {columns < kLongTitle ? "░" : "░ unsure"},
               {"DIRECTION"}});
  for (const v1::ParameterImportance& row : report.parameters()) {
    const double unit = largest > 0.0 ? 1.0 / largest : 0.0;
    const double sure = row.distinguishable() ? row.main().lo80() : 0.0;
    const std::string bar =
        BarWithin(sure * unit, row.main().value() * unit, columns);
    table.AddRow({row.parameter(), absl::StrCat(row.rank()),
                  Percent(row.main().value()), PercentInterval(row.main()), bar,
                  DirectionText(row)});
  }
  return absl::StrCat(CaptionOf(report, width),
                      VerdictLines(report.verdict(), width), "\n", head,
                      table.Render(width), Footer(report, width));
}

std::string RenderPairs(const v1::ImportanceReport& report, int width) {
  Table table({{"PAIR"},
               {"SHARE", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {""},
               {"RELATION"}});
  const int shown = std::min(report.pairs_size(), kMostPairs);
  if (shown == 0) return "\nno pairs: this evaluator knows none\n";
  const double largest = report.pairs(0).share().value();
  for (int i = 0; i < shown; ++i) {
    const v1::PairImportance& pair = report.pairs(i);
    const double unit = largest > 0 ? 1.0 / largest : 0.0;
    table.AddRow({absl::StrCat(pair.first(), " x ", pair.second()),
                  Percent(pair.share().value()), PercentInterval(pair.share()),
                  BarWithin(pair.share().lo80() * unit,
                            pair.share().value() * unit, kPairBar),
                  RelationText(pair)});
  }
  return absl::StrCat("\npairs, beyond both main effects: ", shown, " of ",
                      report.total_pairs(), "\n\n", table.Render(width),
                      "substitutes: either suffices; complements: it takes "
                      "both\n");
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
    const double sure = largest > 0 ? group.share().lo80() / largest : 0.0;
    table.AddRow({group.group(), Percent(group.share().value()),
                  PercentInterval(group.share()),
                  BarWithin(sure, share, kLongestBar)});
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

}  // namespace frostline::cli
