// SPDX-License-Identifier: Apache-2.0
//
// File: report_log.h
//
// Pruners to which the order matters read a history's change log as reports and
// ends. The log tells a late reader the same, provided that each report was a
// change of its own.
#ifndef FROSTLINE_SAMPLER_PRUNER_REPORT_LOG_H_
#define FROSTLINE_SAMPLER_PRUNER_REPORT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "study/history.h"

namespace frostline::sampler {

class ReportReader {
 public:
  virtual ~ReportReader() = default;

  // trial.intermediate[index] was reported. Do not look at later values or the
  // state: they are as of now.
  virtual void OnReport(const Observation& trial, std::size_t index) = 0;
  virtual void OnSuccess(const Observation& trial) = 0;
  // Another attempt begins: what was told is void.
  virtual void OnRestart(const Observation& trial) = 0;
  // The history is another one: all that was told is void.
  virtual void OnAnew() = 0;
};

class ReportLog {
 public:
  // Tells each thing once, in O(changes since the last call).
  void CatchUp(const History& history, ReportReader& reader);

 private:
  struct Told {
    std::size_t reports = 0;
    std::uint32_t curves_before = 0;
    bool ended = false;
  };

  // Counts the reports there were when `later` changes were still to come.
  static std::size_t CountReports(const Observation& trial, std::size_t later);
  static void Tell(const Observation& trial, std::size_t later, Told& told,
                   ReportReader& reader);

  std::int64_t revision_ = 0;
  std::vector<Told> told_;  // as History::trials()
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_REPORT_LOG_H_
