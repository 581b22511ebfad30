// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/report_log.h"

#include <unordered_map>

namespace frostline::sampler {

std::size_t ReportLog::CountReports(const Observation& trial,
                                    std::size_t later) {
  const std::size_t reports = trial.intermediate.size();
  // The last change of an ended trial is its end; each one before that is
  // taken to have brought one report.
  const std::size_t end = IsTerminal(trial.state) ? 1 : 0;
  const std::size_t unseen = later < end ? 0 : later - end;
  return unseen < reports ? reports - unseen : 0;
}

void ReportLog::CatchUp(const History& history, ReportReader& reader) {
  if (history.revision() < revision_) {
    revision_ = 0;
    told_.clear();
    reader.OnAnew();
  }
  const auto& changes = history.changes();
  const auto first = static_cast<std::size_t>(revision_);
  std::unordered_map<std::uint32_t, std::size_t> later;
  for (std::size_t i = first; i < changes.size(); ++i) ++later[changes[i]];
  told_.resize(history.size());
  for (std::size_t i = first; i < changes.size(); ++i) {
    const std::uint32_t index = changes[i];
    const Observation& trial = history.trials()[index];
    Told& told = told_[index];
    const std::uint32_t curves_before = history.CurvesBefore(index);
    if (told.curves_before != curves_before) {
      if (told.reports > 0) reader.OnRestart(trial);
      told = {.curves_before = curves_before};
    }
    Tell(trial, --later[index], told, reader);
  }
  revision_ = history.revision();
}

void ReportLog::Tell(const Observation& trial, std::size_t later, Told& told,
                     ReportReader& reader) {
  const std::size_t reports = CountReports(trial, later);
  while (told.reports < reports) reader.OnReport(trial, told.reports++);
  if (later > 0 || told.ended || !IsTerminal(trial.state)) return;
  told.ended = true;
  if (trial.state == TrialState::kSucceeded) reader.OnSuccess(trial);
}

}  // namespace frostline::sampler
