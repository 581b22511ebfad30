// SPDX-License-Identifier: Apache-2.0
//
// File: export_lines.h
//
// The lines of an export, each added to the end of `out`.
#ifndef FROSTLINE_SERVER_VERBS_EXPORT_LINES_H_
#define FROSTLINE_SERVER_VERBS_EXPORT_LINES_H_

#include <string>

#include "server/wire/spec_check.h"
#include "storage/rows.h"

namespace frostline::server {

std::string CsvHeader(const CheckedStudy& study);
void AddCsvLine(const storage::TrialRow& row, const CheckedStudy& study,
                std::string& out);

// Adds a trial as JSON.
void AddTrialLine(const storage::TrialRow& row, const std::string& study_id,
                  const CheckedStudy& study, std::string& out);
// Adds {"trial": …, "attempt": …, "measurements": [{…}]}; `trial` is the name.
void AddMeasurementLine(const storage::TrialRow& row, const std::string& trial,
                        const Measurement& measured, std::string& out);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_EXPORT_LINES_H_
