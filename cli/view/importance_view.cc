// SPDX-License-Identifier: Apache-2.0
#include "cli/view/importance_view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/term/table.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

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

// Returns the columns that are left beside a name and this many columns of
// text.
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

// Returns how well the report predicts unseen trials.
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

// Marginal curves, tables of two parameters and rankings over time as text.

namespace {

constexpr int kBarColumns = 16;
constexpr std::size_t kMaxName = 200;
constexpr int kRankedShown = 5;

std::string ValueText(const google::protobuf::Value& value, bool is_rate) {
  if (is_rate && value.kind_case() == google::protobuf::Value::kNumberValue) {
    return FormatRate(value.number_value());
  }
  return FormatValue(value);
}

bool Same(const google::protobuf::Value& a, const google::protobuf::Value& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

std::string RenderCurve(const v1::Marginal& marginal, bool is_rate, int width) {
  Table table({{"VALUE", Align::kRight},
               {"EXPECTED", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {"TRIALS", Align::kRight},
               {""},
               {""}});
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (const v1::MarginalPoint& point : marginal.points()) {
    lowest = std::min(lowest, point.expected().value());
    highest = std::max(highest, point.expected().value());
  }
  for (const v1::MarginalPoint& point : marginal.points()) {
    const double height =
        highest > lowest
            ? (point.expected().value() - lowest) / (highest - lowest)
            : 0.0;
    table.AddRow({ValueText(point.value(), is_rate),
                  NumberWithin(point.expected()),
                  NumberInterval(point.expected()),
                  absl::StrCat(point.trials()), Bar(height, kBarColumns),
                  Same(point.value(), marginal.best()) ? "best" : ""});
  }
  return absl::StrCat("\n", proto::CleanText(marginal.parameter(), kMaxName),
                      "\n\n", table.Render(width));
}

}  // namespace

RateNames RatesIn(const v1::ImportanceReport& report) {
  RateNames rates;
  for (const v1::ParameterImportance& row : report.parameters()) {
    if (!row.modules().empty()) rates.insert(row.parameter());
  }
  return rates;
}

std::string RenderMarginals(const v1::GetMarginalsReply& reply,
                            const RateNames& rates, int width) {
  std::string text = Caption(absl::StrCat("expected ", reply.options().target(),
                                          ", all else averaged out"),
                             reply.provisional(), width);
  text.pop_back();  // each curve begins with a blank line
  for (const v1::Marginal& marginal : reply.marginals()) {
    text += RenderCurve(marginal, rates.contains(marginal.parameter()), width);
  }
  return text;
}

std::string RenderPairMarginal(const v1::PairMarginal& table,
                               const RateNames& rates, int width) {
  const int columns = table.second_values_size();
  const bool first_is_rate = rates.contains(table.first());
  const bool second_is_rate = rates.contains(table.second());
  std::vector<Column> titles = {{proto::CleanText(
      absl::StrCat(table.first(), " \\ ", table.second()), kMaxName)}};
  for (const google::protobuf::Value& value : table.second_values()) {
    titles.push_back({ValueText(value, second_is_rate), Align::kRight});
  }
  Table rows(std::move(titles));
  for (int i = 0; i < table.first_values_size(); ++i) {
    std::vector<std::string> cells = {
        ValueText(table.first_values(i), first_is_rate)};
    for (int j = 0; j < columns; ++j) {
      // In brackets: nobody has tried it.
      const std::string text = FormatNumber(table.expected(i * columns + j));
      cells.push_back(table.trials(i * columns + j) > 0
                          ? text
                          : absl::StrCat("(", text, ")"));
    }
    rows.AddRow(std::move(cells));
  }
  return absl::StrCat(
      Caption(absl::StrCat("expected ", table.options().target(),
                           ", all else averaged out"),
              table.provisional(), width),
      rows.Render(width), "\nin brackets: no trial has both values\n");
}

std::string RenderStability(const v1::GetStabilityReply& reply, int width) {
  Table table(
      {{"TRIALS", Align::kRight}, {"AGREEMENT", Align::kRight}, {"RANKING"}});
  for (const v1::StabilityPoint& point : reply.points()) {
    std::vector<std::pair<int, std::string>> ranked;
    for (const v1::ParameterImportance& row : point.parameters()) {
      if (row.rank() <= kRankedShown) {
        ranked.emplace_back(row.rank(), row.parameter());
      }
    }
    std::sort(ranked.begin(), ranked.end());
    const std::string names =
        absl::StrJoin(ranked, ", ", [](std::string* out, const auto& one) {
          absl::StrAppend(out, one.second);
        });
    table.AddRow({absl::StrCat(point.trials()),
                  absl::StrFormat("%.2f", point.tau_to_final()), names});
  }
  std::string text = absl::StrCat(
      "\nranking over the study's first trials; agreement with the last row is "
      "Kendall's\ntau\n\n",
      table.Render(width), "\n",
      Sentence("verdict", reply.verdict().sentence(), width));
  if (!std::isnan(reply.verdict().half_tau().value())) {
    absl::StrAppend(
        &text,
        Sentence("two halves", TauText(reply.verdict().half_tau()), width));
  }
  return text;
}

}  // namespace frostline::cli
