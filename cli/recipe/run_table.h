// SPDX-License-Identifier: Apache-2.0
//
// File: run_table.h
//
// The runs of a stage, each over its seeds, with what was published beside.
// A record's study says by its labels what was to be compared.
#ifndef FROSTLINE_CLI_RECIPE_RUN_TABLE_H_
#define FROSTLINE_CLI_RECIPE_RUN_TABLE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/recipe/recipe_file.h"
#include "cli/report/report_page.h"
#include "cli/report/study_record.h"

namespace frostline::cli {

// Of numbers, as seeds make them; NaN where nothing, or one, is known.
struct Spread {
  double mean = 0.0;
  double deviation = 0.0;
  std::size_t count = 0;
};
Spread SpreadOf(const std::vector<double>& values);

struct RunTrials {
  std::string name;
  std::optional<double> at;
  std::vector<const v1::Trial*> succeeded;  // they belong to the record
  std::size_t all = 0;
};

// In the order in which their first trials stand; trials without a run are of
// none.
std::vector<RunTrials> RunsOf(const StudyRecord& record);

// A label of the record's study; "" where there is none.
std::string LabelOf(const StudyRecord& record, const std::string& label);

// What the runs are compared by: the label's metric, else the objective's.
std::string MetricOfRuns(const StudyRecord& record);

// Of the final metrics of a run's trials.
Spread MetricOf(const RunTrials& run, const std::string& metric);

// `published` may be null.
ReportTable RunTable(const StudyRecord& record, const std::string& name,
                     const PublishedStage* published);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RUN_TABLE_H_
