// SPDX-License-Identifier: Apache-2.0
//
// Marginal curves, tables of two parameters and rankings over time as text.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
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
