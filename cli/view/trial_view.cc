// SPDX-License-Identifier: Apache-2.0
#include "cli/view/trial_view.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "cli/term/table.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "cli/view/trial_table.h"
#include "cli/view/usage_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// Empty where it is not known.
std::string SeedText(const v1::Trial& trial) {
  return trial.seed() == 0 ? "" : absl::StrCat(trial.seed());
}

std::string AttemptsText(const v1::Trial& trial) {
  if (trial.attempts().empty()) return "";
  Table table({{"ATTEMPT", Align::kRight}, {"STATE"}, {"WORKER"}, {"CAUSE"}});
  for (const v1::Attempt& attempt : trial.attempts()) {
    table.AddRow({absl::StrCat(attempt.number()), NameOf(attempt.state()),
                  LastPart(attempt.worker()), attempt.cause()});
  }
  return "\n" + table.Render();
}

std::string MetricsText(const v1::Trial& trial) {
  if (trial.metrics().empty()) return "";
  Table table({{"METRIC"}, {"VALUE", Align::kRight}});
  const std::map<std::string, double> sorted(trial.metrics().begin(),
                                             trial.metrics().end());
  for (const auto& [name, value] : sorted) {
    table.AddRow({name, FormatNumber(value)});
  }
  return "\n" + table.Render();
}

}  // namespace

std::string ObjectiveText(const v1::Trial& trial, const v1::StudySpec& spec) {
  std::string text;
  const int count = std::min(trial.values_size(), spec.objectives_size());
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", spec.objectives(i).metric(), " ",
                    FormatNumber(trial.values(i)));
  }
  return proto::CleanText(text, proto::kMaxCauseBytes);
}

std::string RenderTrialTable(const std::vector<v1::Trial>& trials,
                             const v1::StudySpec& spec, int width) {
  return TrialTable({trials.begin(), trials.end()}, spec, /*all=*/false)
      .Render(width);
}

std::string FrontHeading(std::size_t trials, int width) {
  return WrapText(
      trials == 1
          ? "the best trial: no other is better in any objective"
          : absl::StrCat("the best trials (Pareto set): none of these ", trials,
                         " can be bettered in one objective without loss in "
                         "another"),
      width);
}

std::string RenderFront(const std::vector<v1::Trial>& trials,
                        const v1::StudySpec& spec, int width) {
  return FrontHeading(trials.size(), width) +
         RenderTrialTable(trials, spec, width);
}

std::string RenderRates(const v1::Trial& trial) {
  Table table({{"MODULE"}, {"RATE", Align::kRight}, {""}});
  for (const v1::ModuleRate& rate : trial.rates()) {
    table.AddRow({rate.module(), FormatRate(rate.rate()),
                  rate.rate() == 0.0 ? "*" : ""});
  }
  const bool any_frozen = std::any_of(
      trial.rates().begin(), trial.rates().end(),
      [](const v1::ModuleRate& rate) { return rate.rate() == 0.0; });
  return absl::StrCat(table.Render(), any_frozen ? "(* frozen)\n" : "");
}

std::string RenderTrial(const v1::Trial& trial, const v1::StudySpec& spec) {
  std::string text = KeyLine("trial", trial.name());
  text += KeyLine("state", NameOf(trial.state()));
  text += KeyLine("cause", trial.cause());
  text += KeyLine("objective", ObjectiveText(trial, spec));
  text += KeyLine("worker", LastPart(trial.worker()));
  text += KeyLine("seed", SeedText(trial));
  text += KeyLine(
      "repeat",
      trial.repeat() > 0
          ? absl::StrCat("its point ran ", trial.repeat(),
                         trial.repeat() > 1 ? " times before" : " time before")
          : "");
  text += KeyLine("started", FormatTime(trial.start_time()));
  text += KeyLine("ended", FormatTime(trial.end_time()));
  text += KeyLine("time", FormatSeconds(SecondsOf(trial)));
  text += KeyLine("last step",
                  trial.last_step() > 0 ? FormatCount(trial.last_step()) : "");
  text += UsageLines(trial.usage());
  text += KeyLine("device", trial.usage().device());
  const v1::TrainedModel& model = trial.usage().model();
  text += KeyLine("model", model.folder().empty()
                               ? ""
                               : absl::StrCat(model.host(), ":", model.folder(),
                                              " while it is kept"));
  text += KeyLine("note", trial.note());
  Table parameters({{"PARAMETER"}, {"VALUE", Align::kRight}});
  for (const v1::ParameterValue& value : trial.parameters()) {
    parameters.AddRow({value.name(), FormatValue(value.value())});
  }
  text += "\n" + parameters.Render();
  if (trial.rates_size() > 0) {
    absl::StrAppend(&text, "\n", RenderRates(trial));
  }
  return absl::StrCat(text, MetricsText(trial), AttemptsText(trial));
}

std::string TrialLine(const v1::Trial& trial, const v1::StudySpec& spec) {
  std::string line =
      absl::StrCat("trial ", trial.number(), "  ", NameOf(trial.state()));
  const auto add = [&line](const std::string& part) {
    if (!part.empty()) absl::StrAppend(&line, "  ", part);
  };
  add(ObjectiveText(trial, spec));
  if (IsEnded(trial.state())) add(FormatSeconds(SecondsOf(trial)));
  if (!trial.worker().empty()) add("worker " + LastPart(trial.worker()));
  if (trial.attempt() > 1) add(absl::StrCat("attempt ", trial.attempt()));
  add(trial.cause());
  return proto::CleanText(line, proto::kMaxCauseBytes);
}

}  // namespace frostline::cli
