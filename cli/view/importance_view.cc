// SPDX-License-Identifier: Apache-2.0
#include "cli/view/importance_view.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/table.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline {
namespace {

constexpr int kBarColumns = 16;         // so that the table has 80
constexpr double kBelieveLittle = 0.3;  // out-of-bag R2, as the contract says
constexpr double kClearDirection = 0.3;
constexpr std::size_t kMaxSentence = 500;

std::string Percent(double share) {
  if (std::isnan(share)) return "-";
  return absl::StrFormat("%.1f %%", share * 100.0);
}

std::string IntervalText(const v1::Interval& interval) {
  if (std::isnan(interval.lo80()) || std::isnan(interval.hi80())) return "-";
  return absl::StrFormat("%.1f – %.1f %%", interval.lo80() * 100.0,
                         interval.hi80() * 100.0);
}

std::string Caption(const v1::ImportanceReport& report) {
  const v1::ImportanceOptions& options = report.options();
  std::string text = absl::StrCat(
      "importance for ", options.target(), " in ", LastPart(report.study()),
      ": ", FormatCount(report.trials_used()), " trials, ", options.evaluator(),
      ", seed ", options.seed());
  if (report.provisional()) absl::StrAppend(&text, ", study still running");
  return CleanText(text, kMaxSentence) + "\n\n";
}

std::string Footer(const v1::ImportanceReport& report) {
  std::string text = absl::StrCat(
      "\nunexplained:    ", Percent(report.unexplained().value()), "\n");
  // An evaluator that predicts nothing has none.
  if (!std::isnan(report.out_of_bag_r2())) {
    absl::StrAppend(&text, "out-of-bag R2:  ",
                    absl::StrFormat("%.2f", report.out_of_bag_r2()),
                    report.out_of_bag_r2() < kBelieveLittle
                        ? "  (below 0.3: believe little of this)"
                        : "",
                    "\n");
  }
  if (!report.stability().sentence().empty()) {
    absl::StrAppend(&text, "stability:      ",
                    CleanText(report.stability().sentence(), kMaxSentence),
                    "\n");
  }
  for (const v1::Warning& warning : report.warnings()) {
    absl::StrAppend(&text, "warning:        ",
                    CleanText(warning.sentence(), kMaxSentence), "\n");
  }
  return text;
}

}  // namespace

std::string Bar(double share, int columns) {
  static constexpr const char* kEighths[] = {"",  "▏", "▎", "▍",
                                             "▌", "▋", "▊", "▉"};
  if (std::isnan(share)) return "";
  const double clipped = std::clamp(share, 0.0, 1.0);
  const auto eighths = static_cast<int>(std::lround(clipped * columns * 8));
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + kEighths[eighths % 8];
}

std::string DirectionText(double direction) {
  if (direction >= kClearDirection) return "higher is better";
  if (direction <= -kClearDirection) return "lower is better";
  return "";
}

std::string RenderImportance(const v1::ImportanceReport& report, int width) {
  Table table({{"MODULE"},
               {"RANK", Align::kRight},
               {"MAIN EFFECT", Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {""},
               {"DIRECTION"}});
  double largest = 0.0;
  for (const v1::ParameterImportance& row : report.parameters()) {
    largest = std::max(largest, row.main().value());
  }
  for (const v1::ParameterImportance& row : report.parameters()) {
    const double share = largest > 0 ? row.main().value() / largest : 0.0;
    table.AddRow({row.parameter(), absl::StrCat(row.rank()),
                  Percent(row.main().value()), IntervalText(row.main()),
                  Bar(share, kBarColumns), DirectionText(row.direction())});
  }
  return absl::StrCat(Caption(report), table.Render(width), Footer(report));
}

}  // namespace frostline
