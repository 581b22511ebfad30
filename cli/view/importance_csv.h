// SPDX-License-Identifier: Apache-2.0
//
// File: importance_csv.h
//
// CSV has headers here; an unknown number is an empty cell.
#ifndef FROSTLINE_CLI_VIEW_IMPORTANCE_CSV_H_
#define FROSTLINE_CLI_VIEW_IMPORTANCE_CSV_H_

#include <string>

#include "frostline/v1/importance_service.pb.h"

namespace frostline::cli {

std::string ImportanceCsv(const v1::ImportanceReport& report);
std::string PairsCsv(const v1::ListPairsReply& pairs);
std::string GroupsCsv(const v1::ImportanceReport& report);
// Commas stand between the names of a set.
std::string SubsetsCsv(const v1::ImportanceReport& report);
std::string MarginalsCsv(const v1::GetMarginalsReply& reply);
// Each combination of values has a line.
std::string PairMarginalCsv(const v1::PairMarginal& table);
std::string StabilityCsv(const v1::GetStabilityReply& reply);
std::string PlanCsv(const v1::FreezePlan& plan);
std::string ComparisonCsv(const v1::StudyComparison& comparison);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_IMPORTANCE_CSV_H_
