// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/row_codec.h"

#include <array>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "storage/row_columns.h"
#include "storage/sqlite/database.h"
#include "storage/trial_store.h"

namespace frostline::storage::sql {
namespace {

std::set<int> StatesOf(const TrialQuery& query) {
  std::set<int> states;
  for (const TrialState state : query.states) {
    states.insert(static_cast<int>(state));
  }
  return states;
}

}  // namespace

std::string ListTrialsSql(const TrialQuery& query) {
  const std::set<int> states = StatesOf(query);
  if (query.order == TrialQuery::Order::kRevision) {
    const std::string wanted =
        states.empty()
            ? ""
            : absl::StrCat(" AND state IN (", absl::StrJoin(states, ", "), ")");
    return absl::StrCat(kListTrialsByRevision, wanted,
                        " ORDER BY revision, number LIMIT ?3");
  }
  if (states.empty()) return kListTrials;
  std::vector<std::string> parts;
  for (const int state : states) {
    parts.push_back(absl::StrCat(kListTrialsOfState, state));
  }
  return absl::StrCat(absl::StrJoin(parts, " UNION ALL "),
                      " ORDER BY number LIMIT ?3");
}

}  // namespace frostline::storage::sql

namespace frostline::storage {

void RowSum::AddInt(std::int64_t value) {
  std::array<unsigned char, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(
        (static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff);
  }
  AddBytes(bytes.data(), bytes.size());
}

void RowSum::AddString(const std::string& value) {
  AddInt(static_cast<std::int64_t>(value.size()));
  AddBytes(value.data(), value.size());
}

namespace {

template <typename Row>
constexpr bool kHasFixed =
    std::tuple_size_v<decltype(RowColumns<Row>::kFixed)> > 0;

template <typename Columns, typename Row>
void BindAll(const Columns& columns, const Row& row, ColumnWriter& writer) {
  ForEachColumn(columns,
                [&](const auto& column) { BindColumn(column, row, writer); });
}

template <typename Columns, typename Row>
void ReadAllFields(const Columns& columns, ColumnReader& reader, Row& row) {
  ForEachColumn(columns, [&](const auto& column) {
    reader.Require(ReadColumn(column, reader, row));
  });
}

// The seal of the changing columns covers the key too. A key that the database
// gives is not known when the row is written, so no seal covers it.
template <typename Row, typename Sealed>
void MixKey(const Row& row, Sealed& sealed) {
  if constexpr (!RowColumns<Row>::kKeyIsGiven) {
    ForEachColumn(RowColumns<Row>::kKey, [&](const auto& column) {
      sealed.Mix(ToInt(row.*column.member));
    });
  }
}

std::string NameOf(const StudyRow& row) {
  return absl::StrCat("study ", row.key);
}
std::string NameOf(const TrialRow& row) {
  return DescribeTrial(row.study, row.number);
}
template <typename Row>
std::string NameOfAttempts(const Row& row) {
  return absl::StrCat("attempt ", row.attempt, " of ",
                      DescribeTrial(row.study, row.number));
}
std::string NameOf(const AttemptRow& row) { return NameOfAttempts(row); }
std::string NameOf(const MeasurementRow& row) {
  return absl::StrCat("step ", row.measurement.step, ", ", NameOfAttempts(row));
}
std::string NameOf(const OutcomeRow& row) {
  return DescribeTrial(row.study, row.number);
}
std::string NameOf(const LogRow& row) { return NameOfAttempts(row); }
std::string NameOf(const WorkerRow& row) {
  return absl::StrCat("worker ", row.id);
}
std::string NameOf(const TokenRow& row) {
  return absl::StrCat("token ", row.id);
}
std::string NameOf(const CertificateRow& row) {
  return absl::StrCat("certificate ", row.id);
}
std::string NameOf(const AuditRow& row) {
  return absl::StrCat("audit entry ", row.first);
}
std::string NameOf(const NotificationRow& row) {
  return absl::StrCat("notification ", row.id);
}
std::string NameOf(const ReplyRow& row) {
  return absl::StrCat("request ", row.request_id);
}
std::string NameOf(const SummaryRow& row) {
  return absl::StrCat("study ", row.study);
}
std::string NameOf(const BestRow& row) {
  return DescribeTrial(row.study, row.number);
}
std::string NameOf(const LeadRow& row) {
  return absl::StrCat("epoch ", row.epoch);
}

}  // namespace

template <typename Row>
void BindRow(const Row& row, Statement& statement) {
  using Columns = RowColumns<Row>;
  ColumnWriter writer(statement);
  if constexpr (!Columns::kKeyIsGiven) BindAll(Columns::kKey, row, writer);
  if constexpr (kHasFixed<Row>) {
    BindAll(Columns::kFixed, row, writer);
    writer.Seal();
    BindChanging(row, statement);
  } else {
    BindAll(Columns::kChanging, row, writer);
    writer.Seal();
  }
}

template <typename Row>
void BindChanging(const Row& row, Statement& statement) {
  ColumnWriter writer(statement);
  MixKey(row, writer);
  BindAll(RowColumns<Row>::kChanging, row, writer);
  writer.Seal();
}

template <typename Row>
absl::StatusOr<Row> ReadRow(const Statement& statement) {
  using Columns = RowColumns<Row>;
  Row row;
  ColumnReader reader(statement);
  ReadAllFields(Columns::kKey, reader, row);
  if constexpr (Columns::kKeyIsGiven) reader.Unsealed();
  if constexpr (kHasFixed<Row>) {
    ReadAllFields(Columns::kFixed, reader, row);
    reader.Seal();
    MixKey(row, reader);
  }
  ReadAllFields(Columns::kChanging, reader, row);
  reader.Seal();
  if (reader.intact()) return row;
  return StoreCorrupt(
      absl::StrCat(Columns::kTable, ": ", NameOf(row), " is damaged"));
}

template void BindChanging(const StudyRow&, Statement&);
template void BindChanging(const TrialRow&, Statement&);

#define FROSTLINE_CODEC_(Row)                    \
  template void BindRow(const Row&, Statement&); \
  template absl::StatusOr<Row> ReadRow<Row>(const Statement&)
FROSTLINE_CODEC_(StudyRow);
FROSTLINE_CODEC_(TrialRow);
FROSTLINE_CODEC_(AttemptRow);
FROSTLINE_CODEC_(MeasurementRow);
FROSTLINE_CODEC_(OutcomeRow);
FROSTLINE_CODEC_(LogRow);
FROSTLINE_CODEC_(WorkerRow);
FROSTLINE_CODEC_(TokenRow);
FROSTLINE_CODEC_(CertificateRow);
FROSTLINE_CODEC_(AuditRow);
FROSTLINE_CODEC_(NotificationRow);
FROSTLINE_CODEC_(ReplyRow);
FROSTLINE_CODEC_(SummaryRow);
FROSTLINE_CODEC_(BestRow);
FROSTLINE_CODEC_(LeadRow);
#undef FROSTLINE_CODEC_

}  // namespace frostline::storage
