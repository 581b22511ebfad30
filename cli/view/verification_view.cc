// SPDX-License-Identifier: Apache-2.0
#include "cli/view/verification_view.h"

#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/term/csv.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/frontier_view.h"
#include "cli/view/importance_text.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxVerifiedName = 40;

std::string VerifiedSigned(double value) {
  return std::isnan(value) ? "-" : absl::StrFormat("%+.3f", value);
}

std::string VerifiedPText(double p) {
  if (std::isnan(p)) return "-";
  return p < 0.001 ? "< 0.001" : absl::StrFormat("%.3f", p);
}

// Marked where the difference is larger.
std::string NoiseText(double noise, bool is_exceeded) {
  if (std::isnan(noise)) return "-";
  return absl::StrFormat("±%.3f%s", noise, is_exceeded ? "*" : " ");
}

std::int64_t ResultsOf(const v1::VerifiedRival& rival) {
  std::int64_t results = 0;
  for (const v1::VerifiedRun& run : rival.runs()) {
    if (!std::isnan(run.value())) ++results;
  }
  return results;
}

std::string SeenText(const v1::VerifiedRival& rival) {
  if (std::isnan(rival.seen().value())) return "-";
  return absl::StrFormat("%.3f", rival.seen().value());
}

std::string VerdictOf(const v1::PlanVerification& verification) {
  const bool open = verification.ended() < verification.total();
  return absl::StrCat(verification.verdict(), open ? ", so far" : "");
}

// What the others are held against: "LESS PLAN".
std::string LessFirst(const v1::PlanVerification& verification) {
  if (verification.rivals().empty()) return "LESS PLAN";
  return absl::StrCat("LESS ",
                      absl::AsciiStrToUpper(proto::CleanText(
                          verification.rivals(0).name(), kMaxVerifiedName)));
}

std::string RivalsTable(const v1::PlanVerification& verification, int width) {
  Table table({{"RIVAL"},
               {"PREDICTED, 80 %"},
               {"SEEN", Align::kRight},
               {"RUNS", Align::kRight},
               {LessFirst(verification), Align::kRight},
               {"SEEDS ", Align::kRight},
               {"ROWS ", Align::kRight},
               {"p", Align::kRight, 1}});
  for (const v1::VerifiedRival& rival : verification.rivals()) {
    table.AddRow({rival.name(), WithInterval(rival.predicted()),
                  SeenText(rival), absl::StrCat(ResultsOf(rival)),
                  VerifiedSigned(rival.difference().value()),
                  NoiseText(rival.seed_noise(), rival.exceeds_seeds()),
                  NoiseText(rival.row_noise(), rival.exceeds_rows()),
                  VerifiedPText(rival.adjusted_p())});
  }
  return table.Render(width);
}

}  // namespace

std::string RenderVerification(const v1::PlanVerification& verification,
                               int width) {
  return absl::StrCat(
      Caption(
          absl::StrCat("predicted and seen in ", LastPart(verification.study()),
                       ": ", verification.target(), ", ", verification.ended(),
                       " of ", verification.total(), " trials have ended"),
          false, width),
      Verdict(VerdictOf(verification), width), RivalsTable(verification, width),
      "SEEDS, ROWS: what noise makes of equal points, 19 times in 20; * "
      "exceeded\n"
      "p: of both, Holm's\n");
}

std::string RenderVerificationInShort(const v1::PlanVerification& verification,
                                      int width) {
  return absl::StrCat(VerdictLines(VerdictOf(verification), width),
                      RivalsTable(verification, width));
}

std::string VerificationCsv(const v1::PlanVerification& verification) {
  std::string text = CsvLine({"rival", "predicted", "predicted_lo80",
                              "predicted_hi80", "one_run_lo80", "one_run_hi80",
                              "trial", "seed", "state", "value", "difference",
                              "seed_noise", "row_noise", "p", "adjusted_p"});
  for (const v1::VerifiedRival& rival : verification.rivals()) {
    for (const v1::VerifiedRun& run : rival.runs()) {
      text += CsvLine(
          {rival.name(), CsvNumber(rival.predicted().value()),
           CsvNumber(rival.predicted().lo80()),
           CsvNumber(rival.predicted().hi80()),
           CsvNumber(rival.one_run().lo80()), CsvNumber(rival.one_run().hi80()),
           LastPart(run.trial()), absl::StrCat(run.seed()), NameOf(run.state()),
           CsvNumber(run.value()), CsvNumber(rival.difference().value()),
           CsvNumber(rival.seed_noise()), CsvNumber(rival.row_noise()),
           CsvNumber(rival.p()), CsvNumber(rival.adjusted_p())});
    }
  }
  return text;
}

std::string RatesInShort(
    const google::protobuf::RepeatedPtrField<v1::ModuleRate>& rates) {
  std::map<double, std::vector<std::string>, std::greater<>> modules;
  for (const v1::ModuleRate& rate : rates) {
    modules[rate.rate()].push_back(rate.module());
  }
  std::vector<std::string> parts;
  for (const auto& [rate, names] : modules) {
    parts.push_back(absl::StrCat(FormatRate(rate), " ", ModuleList(names)));
  }
  return absl::StrJoin(parts, "; ");
}

std::string RenderAsked(const v1::AskPlanReply& reply, int width) {
  std::string text = Caption(
      absl::StrCat("trials that would tell most of what the plan leaves open: ",
                   reply.options().target()),
      reply.provisional(), width);
  for (int i = 0; i < reply.trials_size(); ++i) {
    const v1::AskedTrial& asked = reply.trials(i);
    absl::StrAppend(
        &text,
        Sentence(absl::StrCat(i + 1),
                 absl::StrCat(asked.reason(), " (so far ",
                              Probability(asked.expected_reduction()),
                              " of what is open)"),
                 width),
        Sentence("  rates", RatesInShort(asked.rates()), width));
  }
  return text;
}

std::string AskedCsv(const v1::AskPlanReply& reply) {
  std::string text = CsvLine({"rank", "expected_reduction", "reason", "rates"});
  for (int i = 0; i < reply.trials_size(); ++i) {
    const v1::AskedTrial& asked = reply.trials(i);
    text += CsvLine({absl::StrCat(i + 1), CsvNumber(asked.expected_reduction()),
                     asked.reason(), RatesInShort(asked.rates())});
  }
  return text;
}

}  // namespace frostline::cli
