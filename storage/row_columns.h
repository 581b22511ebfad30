// SPDX-License-Identifier: Apache-2.0
//
// File: row_columns.h
//
// The columns of each row. A row has a key, columns that never change (none if
// an update replaces the whole row), and columns that an update may change.
// Names and order are those of released tables.
#ifndef FROSTLINE_STORAGE_ROW_COLUMNS_H_
#define FROSTLINE_STORAGE_ROW_COLUMNS_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "storage/rows.h"
#include "study/history.h"

namespace frostline::storage {

// Numbers are stored as bytes, which keep every bit: SQLite would turn NaN into
// NULL and -0.0 into 0.0.
//   doubles       8 bytes each, little endian IEEE 754
//   metrics       in rising order of names: length of the name (4 bytes, little
//                 endian), the name, the value as above
//   measurement   elapsed_s as above, then the metrics

std::string EncodeDoubles(const std::vector<double>& values);
std::string EncodeMetrics(const Metrics& metrics);
std::string EncodeMeasurement(const Measurement& measurement);

// Return false for other bytes; the target is then unspecified.
bool DecodeDoubles(const std::string& bytes, std::vector<double>& values);
bool DecodeMetrics(const std::string& bytes, Metrics& metrics);
// Does not change the step.
bool DecodeMeasurement(const std::string& bytes, Measurement& measurement);

// A binder writes a row: it takes the values, in the columns' order, by
// Int(number), Text(string), Blob(string), LaterText(string) and
// LaterBlob(string). A source reads one: it returns them by Int(), Bytes() and
// LaterBytes().

// The kinds of columns. A "later" column is empty in rows of older versions,
// and their seal does not cover it.
enum class ColumnKind { kInt, kText, kBlob, kLaterText, kLaterBlob };

// A column's name, and the member of the row that it stores.
template <ColumnKind kind, typename Row, typename Value>
struct Column {
  const char* name;
  Value Row::* member;
};

namespace column {

template <typename Row, typename Value>
constexpr auto Int(const char* name, Value Row::* member) {
  return Column<ColumnKind::kInt, Row, Value>{name, member};
}
template <typename Row, typename Value>
constexpr auto Text(const char* name, Value Row::* member) {
  return Column<ColumnKind::kText, Row, Value>{name, member};
}
template <typename Row, typename Value>
constexpr auto Blob(const char* name, Value Row::* member) {
  return Column<ColumnKind::kBlob, Row, Value>{name, member};
}

template <typename Row, typename Value>
constexpr auto LaterText(const char* name, Value Row::* member) {
  return Column<ColumnKind::kLaterText, Row, Value>{name, member};
}
template <typename Row, typename Value>
constexpr auto LaterBlob(const char* name, Value Row::* member) {
  return Column<ColumnKind::kLaterBlob, Row, Value>{name, member};
}

}  // namespace column

// The base of rows that an update replaces as a whole.
struct WrittenWhole {
  static constexpr bool kKeyIsGiven = false;
  static constexpr std::tuple<> kFixed = {};
};

template <typename Columns, typename F>
constexpr void ForEachColumn(const Columns& columns, F f) {
  std::apply([&f](const auto&... column) { (f(column), ...); }, columns);
}

// Returns the number; unsigned numbers keep their 64 bits.
template <typename Value>
std::int64_t ToInt(const Value& value) {
  return static_cast<std::int64_t>(value);
}
inline std::int64_t ToInt(const Measurement& value) { return value.step; }
template <typename Value>
void FromInt(std::int64_t stored, Value& value) {
  value = static_cast<Value>(stored);
}
inline void FromInt(std::int64_t stored, Measurement& value) {
  value.step = stored;
}

inline const std::string& ToBytes(const std::string& value) { return value; }
inline const std::string& ToBytes(const SecretString& value) {
  return value.Reveal();
}
inline std::string ToBytes(const std::vector<double>& value) {
  return EncodeDoubles(value);
}
inline std::string ToBytes(const Metrics& value) {
  return EncodeMetrics(value);
}
inline std::string ToBytes(const Measurement& value) {
  return EncodeMeasurement(value);
}
// Returns false when the bytes are no such value.
inline bool FromBytes(std::string stored, std::string& value) {
  value = std::move(stored);
  return true;
}
inline bool FromBytes(std::string stored, SecretString& value) {
  value = SecretString(std::move(stored));
  return true;
}
inline bool FromBytes(const std::string& stored, std::vector<double>& value) {
  return DecodeDoubles(stored, value);
}
inline bool FromBytes(const std::string& stored, Metrics& value) {
  return DecodeMetrics(stored, value);
}
inline bool FromBytes(const std::string& stored, Measurement& value) {
  return DecodeMeasurement(stored, value);
}

template <ColumnKind kind, typename Row, typename Value, typename Binder>
void BindColumn(const Column<kind, Row, Value>& column, const Row& row,
                Binder& binder) {
  const Value& value = row.*column.member;
  if constexpr (kind == ColumnKind::kInt) {
    binder.Int(ToInt(value));
  } else if constexpr (kind == ColumnKind::kText) {
    binder.Text(ToBytes(value));
  } else if constexpr (kind == ColumnKind::kLaterText) {
    binder.LaterText(ToBytes(value));
  } else if constexpr (kind == ColumnKind::kLaterBlob) {
    binder.LaterBlob(ToBytes(value));
  } else {
    binder.Blob(ToBytes(value));
  }
}

// Returns false as FromBytes() does.
template <ColumnKind kind, typename Row, typename Value, typename Source>
bool ReadColumn(const Column<kind, Row, Value>& column, Source& source,
                Row& row) {
  Value& value = row.*column.member;
  if constexpr (kind == ColumnKind::kInt) {
    FromInt(source.Int(), value);
    return true;
  } else if constexpr (kind == ColumnKind::kLaterText ||
                       kind == ColumnKind::kLaterBlob) {
    return FromBytes(source.LaterBytes(), value);
  } else {
    return FromBytes(source.Bytes(), value);
  }
}

// The table of a row type, and its columns.
template <typename Row>
struct RowColumns;

template <>
struct RowColumns<StudyRow> {
  using R = StudyRow;
  static constexpr char kTable[] = "studies";
  static constexpr bool kKeyIsGiven = true;  // the database gives it
  static constexpr auto kKey = std::make_tuple(column::Int("key", &R::key));
  static constexpr auto kFixed = std::make_tuple(
      column::Text("id", &R::id), column::Blob("spec", &R::spec),
      column::Int("seed", &R::seed), column::Int("created", &R::created),
      column::LaterText("owner", &R::owner));
  static constexpr auto kChanging = std::make_tuple(
      column::Int("state", &R::state), column::Blob("settings", &R::settings),
      column::Int("etag", &R::etag), column::Int("revision", &R::revision),
      column::Int("updated", &R::updated), column::Int("expires", &R::expires),
      column::Text("state_reason", &R::state_reason));
};

template <>
struct RowColumns<TrialRow> {
  using R = TrialRow;
  static constexpr char kTable[] = "trials";
  static constexpr bool kKeyIsGiven = false;
  static constexpr auto kKey = std::make_tuple(
      column::Int("study", &R::study), column::Int("number", &R::number));
  static constexpr auto kFixed = std::make_tuple(
      column::Int("origin", &R::origin), column::Blob("point", &R::point),
      column::Int("created", &R::created));
  static constexpr auto kChanging = std::make_tuple(
      column::Int("state", &R::state), column::Int("attempt", &R::attempt),
      column::Blob("secret", &R::secret), column::Text("worker", &R::worker),
      column::Int("trial_faults", &R::trial_faults),
      column::Int("infrastructure_faults", &R::infrastructure_faults),
      column::Int("priority", &R::priority),
      column::Int("revision", &R::revision),
      column::Int("started", &R::started), column::Int("ended", &R::ended),
      column::Int("last_step", &R::last_step),
      column::Blob("metrics", &R::metrics),
      column::Blob("objective_values", &R::values),
      column::Int("failure", &R::failure), column::Text("cause", &R::cause),
      column::Blob("usage", &R::usage), column::Blob("labels", &R::labels),
      column::Int("seen_revision", &R::seen_revision),
      column::Int("ended_revision", &R::ended_revision));
};

template <>
struct RowColumns<AttemptRow> : WrittenWhole {
  using R = AttemptRow;
  static constexpr char kTable[] = "attempts";
  static constexpr auto kKey = std::make_tuple(
      column::Int("study", &R::study), column::Int("number", &R::number),
      column::Int("attempt", &R::attempt));
  static constexpr auto kChanging = std::make_tuple(
      column::Int("state", &R::state), column::Blob("secret", &R::secret),
      column::Text("worker", &R::worker), column::Text("boot_id", &R::boot_id),
      column::Int("started", &R::started), column::Int("ended", &R::ended),
      column::Int("failure", &R::failure), column::Text("cause", &R::cause),
      column::Blob("checkpoint", &R::checkpoint),
      column::Blob("outcome", &R::outcome),
      column::LaterText("request_id", &R::request_id));
};

// A measurement has two columns: its step, and everything else.
template <>
struct RowColumns<MeasurementRow> : WrittenWhole {
  using R = MeasurementRow;
  static constexpr char kTable[] = "measurements";
  static constexpr auto kKey = std::make_tuple(
      column::Int("study", &R::study), column::Int("number", &R::number),
      column::Int("attempt", &R::attempt),
      column::Int("step", &R::measurement));
  static constexpr auto kChanging =
      std::make_tuple(column::Blob("measured", &R::measurement));
};

template <>
struct RowColumns<OutcomeRow> : WrittenWhole {
  using R = OutcomeRow;
  static constexpr char kTable[] = "outcomes";
  static constexpr auto kKey = std::make_tuple(
      column::Int("study", &R::study), column::Int("number", &R::number));
  static constexpr auto kChanging = std::make_tuple(
      column::Text("data_fingerprint", &R::data_fingerprint),
      column::Int("encoding", &R::encoding), column::Int("count", &R::count),
      column::Blob("data", &R::data),
      column::LaterBlob("evaluations", &R::evaluations));
};

template <>
struct RowColumns<LogRow> : WrittenWhole {
  using R = LogRow;
  static constexpr char kTable[] = "logs";
  static constexpr auto kKey = std::make_tuple(
      column::Int("study", &R::study), column::Int("number", &R::number),
      column::Int("attempt", &R::attempt));
  static constexpr auto kChanging = std::make_tuple(
      column::Blob("tail", &R::tail), column::Int("written", &R::written),
      column::LaterBlob("place", &R::place));
};

template <>
struct RowColumns<WorkerRow> : WrittenWhole {
  using R = WorkerRow;
  static constexpr char kTable[] = "workers";
  static constexpr auto kKey = std::make_tuple(column::Text("id", &R::id));
  static constexpr auto kChanging = std::make_tuple(
      column::Text("boot_id", &R::boot_id), column::Int("state", &R::state),
      column::Blob("info", &R::info),
      column::Int("failures_in_a_row", &R::failures_in_a_row),
      column::Int("registered", &R::registered),
      column::Int("last_seen", &R::last_seen));
};

template <>
struct RowColumns<TokenRow> : WrittenWhole {
  using R = TokenRow;
  static constexpr char kTable[] = "tokens";
  static constexpr auto kKey = std::make_tuple(column::Text("id", &R::id));
  static constexpr auto kChanging = std::make_tuple(
      column::Int("role", &R::role), column::Text("subject", &R::subject),
      column::Text("remark", &R::note),
      column::Text("secret_sha256", &R::secret_sha256),
      column::Text("old_secret_sha256", &R::old_secret_sha256),
      column::Int("created", &R::created), column::Int("expires", &R::expires),
      column::Int("old_secret_expires", &R::old_secret_expires),
      column::Int("last_used", &R::last_used),
      column::Int("revoked", &R::revoked),
      column::Text("request_id", &R::request_id),
      column::Blob("study_labels", &R::study_labels),
      column::Int("single_use", &R::single_use));
};

template <>
struct RowColumns<CertificateRow> : WrittenWhole {
  using R = CertificateRow;
  static constexpr char kTable[] = "certificates";
  static constexpr auto kKey = std::make_tuple(column::Text("id", &R::id));
  static constexpr auto kChanging = std::make_tuple(
      column::Text("subject", &R::subject), column::Int("role", &R::role),
      column::Int("created", &R::created), column::Int("expires", &R::expires),
      column::Int("last_used", &R::last_used),
      column::Int("revoked", &R::revoked));
};

template <>
struct RowColumns<AuditRow> : WrittenWhole {
  using R = AuditRow;
  static constexpr char kTable[] = "audit";
  static constexpr auto kKey = std::make_tuple(column::Int("first", &R::first));
  static constexpr auto kChanging = std::make_tuple(
      column::Int("last", &R::last), column::Blob("lines", &R::lines));
};

template <>
struct RowColumns<NotificationRow> : WrittenWhole {
  using R = NotificationRow;
  static constexpr char kTable[] = "notifications";
  static constexpr auto kKey = std::make_tuple(column::Text("id", &R::id));
  static constexpr auto kChanging = std::make_tuple(
      column::Text("name", &R::name), column::Text("study", &R::study),
      column::Blob("body", &R::body), column::Int("created", &R::created));
};

template <>
struct RowColumns<SummaryRow> : WrittenWhole {
  using R = SummaryRow;
  static constexpr char kTable[] = "summaries";
  static constexpr auto kKey = std::make_tuple(column::Int("study", &R::study));
  static constexpr auto kChanging = std::make_tuple(
      column::Int("succeeded", &R::succeeded),
      column::Int("pruned", &R::pruned),
      column::Int("infeasible", &R::infeasible),
      column::Int("failed", &R::failed),
      column::Int("cancelled", &R::cancelled),
      column::Int("budget_used", &R::budget_used),
      column::Int("train_us", &R::train_us),
      column::Int("next_number", &R::next_number),
      column::Int("revision", &R::revision), column::Int("costed", &R::costed),
      column::Int("total_us", &R::total_us),
      column::Int("mega_flops_spent", &R::mega_flops_spent),
      column::Int("mega_flops_skipped", &R::mega_flops_skipped),
      column::Int("mega_flops_shared", &R::mega_flops_shared),
      column::Int("prefix_hits", &R::prefix_hits),
      column::Int("prefix_misses", &R::prefix_misses),
      column::Int("prefix_bytes", &R::prefix_bytes),
      column::Int("fastest_mega_flops", &R::fastest_mega_flops));
};

template <>
struct RowColumns<BestRow> : WrittenWhole {
  using R = BestRow;
  static constexpr char kTable[] = "best_trials";
  static constexpr auto kKey = std::make_tuple(
      column::Int("study", &R::study), column::Int("number", &R::number));
  static constexpr auto kChanging =
      std::make_tuple(column::Blob("objective_values", &R::values));
};

template <>
struct RowColumns<ReplyRow> : WrittenWhole {
  using R = ReplyRow;
  static constexpr char kTable[] = "replies";
  static constexpr auto kKey =
      std::make_tuple(column::Text("request_id", &R::request_id));
  static constexpr auto kChanging = std::make_tuple(
      column::Text("method", &R::method),
      column::Int("request_hash", &R::request_hash),
      column::Blob("reply", &R::reply), column::Int("created", &R::created));
};

template <>
struct RowColumns<LeadRow> : WrittenWhole {
  using R = LeadRow;
  static constexpr char kTable[] = "lead";
  static constexpr auto kKey = std::make_tuple(column::Int("id", &R::id));
  static constexpr auto kChanging =
      std::make_tuple(column::Int("epoch", &R::epoch));
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_ROW_COLUMNS_H_
