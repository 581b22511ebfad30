// SPDX-License-Identifier: Apache-2.0
//
// File: row_text.h
//
// A row as one line that says all of it, bit by bit: two rows are the same when
// their texts are, and a test that fails shows where they differ.
#ifndef FROSTLINE_TESTS_CONTRACT_ROW_TEXT_H_
#define FROSTLINE_TESTS_CONTRACT_ROW_TEXT_H_

#include <string>
#include <vector>

#include "storage/rows.h"

namespace frostline::test {

std::string Text(const storage::StudyRow& row);
std::string Text(const storage::TrialRow& row);
std::string Text(const storage::AttemptRow& row);
std::string Text(const Measurement& measurement);
std::string Text(const storage::OutcomeRow& row);
std::string Text(const storage::LogRow& row);
std::string Text(const storage::SummaryRow& row);
std::string Text(const storage::BestRow& row);
std::string Text(const storage::WorkerRow& row);
std::string Text(const storage::TokenRow& row);
std::string Text(const storage::CertificateRow& row);
std::string Text(const storage::AuditRow& row);
std::string Text(const storage::NotificationRow& row);
std::string Text(const storage::ReplyRow& row);

template <typename Row>
std::vector<std::string> Texts(const std::vector<Row>& rows) {
  std::vector<std::string> texts;
  for (const Row& row : rows) texts.push_back(Text(row));
  return texts;
}

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_CONTRACT_ROW_TEXT_H_
