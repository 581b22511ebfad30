// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/connection.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "storage/trial_store.h"

namespace frostline::storage {
namespace {

// Types as every PostgreSQL numbers them.
constexpr Oid kBigint = 20;
constexpr Oid kBytea = 17;
constexpr int kBinary = 1;

// Answers wait in the socket while more is sent; so many fit into it.
constexpr std::size_t kMostQueued = 500;

// A message of libpq in one line.
std::string OneLine(const std::string& message) {
  std::string line(absl::StripAsciiWhitespace(message));
  return absl::StrReplaceAll(line, {{"\n", " "}, {"\t", " "}});
}

absl::Status Busy(const std::string& cause) {
  return MakeError(ErrorId::kStoreBusy, cause,
                   "look whether PostgreSQL runs and what its log says; it is "
                   "tried again");
}

// Says whether nobody answered, rather than said no.
bool IsUnanswered(const std::string& message) {
  for (const char* const words :
       {"Connection refused", "timeout expired", "No such file or directory",
        "could not translate host name", "No route to host", "starting up",
        "shutting down", "server closed the connection", "too many clients",
        "remaining connection slots"}) {
    if (absl::StrContains(message, words)) return true;
  }
  return false;
}

}  // namespace

void Parameters::Int(std::int64_t value) {
  std::string bytes(8, '\0');
  auto bits = static_cast<std::uint64_t>(value);
  for (std::size_t i = 8; i-- > 0; bits >>= 8) {
    bytes[i] = static_cast<char>(bits & 0xff);
  }
  values_.push_back(std::move(bytes));
  types_.push_back(kBigint);
}

void Parameters::Bytes(const std::string& value) {
  values_.push_back(value);
  types_.push_back(kBytea);
}

std::int64_t Answer::changed() const {
  std::int64_t rows = 0;
  return absl::SimpleAtoi(libpq_->PQcmdTuples(result_.get()), &rows) ? rows : 0;
}

std::int64_t Answer::IntAt(int row, int column) const {
  const std::string bytes = BytesAt(row, column);
  std::uint64_t bits = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
  }
  return static_cast<std::int64_t>(bits);
}

std::string Answer::BytesAt(int row, int column) const {
  return {libpq_->PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(
              libpq_->PQgetlength(result_.get(), row, column))};
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(
    const std::string& url) {
  ASSIGN_OR_RETURN(const Libpq* const libpq, LoadLibpq());
  // What the URL says comes last and wins. Of several servers one that writes
  // is taken: a replica's answers would be old.
  const char* const keys[] = {
      "application_name",     "connect_timeout",  "keepalives_idle",
      "keepalives_interval",  "keepalives_count", "tcp_user_timeout",
      "target_session_attrs", "dbname",           nullptr};
  const char* const values[] = {"frostline-coordinator",
                                "5",
                                "5",
                                "2",
                                "3",
                                "10000",
                                "read-write",
                                url.c_str(),
                                nullptr};
  std::unique_ptr<Connection> connection(
      new Connection(*libpq, libpq->PQconnectdbParams(keys, values, 1)));
  if (libpq->PQstatus(connection->handle_.get()) != CONNECTION_OK) {
    const std::string why =
        OneLine(libpq->PQerrorMessage(connection->handle_.get()));
    if (IsUnanswered(why)) return Busy(why);
    return MakeError(ErrorId::kStoreUnwritable, why,
                     "correct --store: postgres://USER@HOST/DATABASE; a "
                     "password belongs into ~/.pgpass or PGPASSFILE");
  }
  RETURN_IF_ERROR(connection->Configure());
  return connection;
}

Connection::~Connection() = default;

absl::Status Connection::Configure() {
  // A statement or a transaction that hangs ends by itself, and what it had
  // locked is free. Whatever the database is set to, a commit is on a disk.
  RETURN_IF_ERROR(
      Execute("SET statement_timeout = '30s';"
              "SET lock_timeout = '10s';"
              "SET idle_in_transaction_session_timeout = '10s';"
              "SET search_path = frostline;"
              "SET default_transaction_isolation = 'read committed'"));
  RETURN_IF_ERROR(
      Execute("SELECT set_config('synchronous_commit', 'on', false) "
              "WHERE current_setting('synchronous_commit') = 'off'"));
  return absl::OkStatus();
}

bool Connection::IsFull() const { return queue_.size() >= kMostQueued; }

bool Connection::IsAlive() const {
  return !is_lost_ && libpq_.PQstatus(handle_.get()) == CONNECTION_OK;
}

absl::Status Connection::Lost(const std::string& doing) {
  is_lost_ = true;
  const std::string why = OneLine(libpq_.PQerrorMessage(handle_.get()));
  return Busy(absl::StrCat("the connection to PostgreSQL was lost while ",
                           doing, why.empty() ? "" : ": ", why));
}

absl::Status Connection::Refused(const PGresult& result,
                                 const std::string& sql) const {
  const char* const field =
      libpq_.PQresultErrorField(&result, PG_DIAG_SQLSTATE);
  const std::string state = field == nullptr ? "" : field;
  const std::string cause =
      absl::StrCat(OneLine(libpq_.PQresultErrorMessage(&result)),
                   " (PostgreSQL ", state, ")");
  // https://www.postgresql.org/docs/current/errcodes-appendix.html
  if (state == "53100") return StoreFull(cause);
  for (const char* const passing : {"08", "40", "53", "55P03", "57"}) {
    if (absl::StartsWith(state, passing)) return Busy(cause);
  }
  if (state == "25006" || state == "42501" || absl::StartsWith(state, "28")) {
    return MakeError(ErrorId::kStoreUnwritable, cause,
                     "give the coordinator's role the rights of "
                     "deploy/postgres/rights.sql, on the primary");
  }
  if (absl::StartsWith(state, "58") || absl::StartsWith(state, "XX")) {
    return MakeError(ErrorId::kStoreIo, cause,
                     "look at PostgreSQL's log, and start again when its disk "
                     "is healthy");
  }
  return MakeError(ErrorId::kInternal, absl::StrCat(cause, " in ", sql),
                   "this is a bug in Frostline: report it with the "
                   "coordinator's log");
}

void Connection::Queue(const std::string& sql, Parameters parameters,
                       std::function<void(Answer)> take) {
  if (!is_pipeline_) {
    is_pipeline_ = true;
    is_lost_ = is_lost_ || libpq_.PQenterPipelineMode(handle_.get()) == 0;
  }
  auto [name, is_new] = names_.try_emplace(sql, "");
  if (is_new) {
    name->second = absl::StrCat("s", ++names_given_);
    queue_.push_back({.is_preparation = true, .sql = sql, .take = nullptr});
    if (libpq_.PQsendPrepare(handle_.get(), name->second.c_str(), sql.c_str(),
                             static_cast<int>(parameters.types_.size()),
                             parameters.types_.data()) == 0) {
      is_lost_ = true;
    }
  }
  std::vector<const char*> values;
  std::vector<int> lengths;
  for (const std::string& value : parameters.values_) {
    values.push_back(value.data());
    lengths.push_back(static_cast<int>(value.size()));
  }
  const std::vector<int> formats(values.size(), kBinary);
  queue_.push_back(
      {.is_preparation = false, .sql = sql, .take = std::move(take)});
  if (libpq_.PQsendQueryPrepared(
          handle_.get(), name->second.c_str(), static_cast<int>(values.size()),
          values.data(), lengths.data(), formats.data(), kBinary) == 0) {
    is_lost_ = true;
  }
}

// Receives the answer of one statement, with the NULL that ends it.
absl::Status Connection::Receive(const Statement& statement) {
  PGresult* const result = libpq_.PQgetResult(handle_.get());
  if (result == nullptr) return Lost("waiting for an answer");
  const ExecStatusType kind = libpq_.PQresultStatus(result);
  Answer answer(libpq_, result);
  if (kind == PGRES_FATAL_ERROR || kind == PGRES_PIPELINE_ABORTED) {
    if (statement.is_preparation) names_.erase(statement.sql);
  }
  absl::Status status;
  if (kind == PGRES_FATAL_ERROR) {
    status = IsAlive() ? Refused(*result, statement.sql)
                       : Lost("waiting for an answer");
  } else if (kind == PGRES_PIPELINE_ABORTED) {
    status = Busy("an earlier statement failed");  // that one's error is told
  } else if (statement.take != nullptr) {
    statement.take(std::move(answer));
  }
  if (!is_lost_) {
    if (PGresult* const end = libpq_.PQgetResult(handle_.get())) {
      libpq_.PQclear(end);
      return Lost("waiting for the end of an answer");
    }
  }
  return status;
}

absl::Status Connection::Settle() {
  if (queue_.empty()) return absl::OkStatus();
  std::vector<Statement> queue;
  queue.swap(queue_);
  if (is_lost_ || libpq_.PQpipelineSync(handle_.get()) == 0) {
    return Lost("sending");
  }
  absl::Status first;
  for (const Statement& statement : queue) {
    const absl::Status status = Receive(statement);
    if (first.ok()) first = status;
    if (is_lost_) return first;
  }
  PGresult* const sync = libpq_.PQgetResult(handle_.get());
  const bool is_sync =
      sync != nullptr && libpq_.PQresultStatus(sync) == PGRES_PIPELINE_SYNC;
  libpq_.PQclear(sync);
  if (!is_sync) return Lost("waiting for the last answer");
  return first;
}

absl::StatusOr<Answer> Connection::Ask(const std::string& sql,
                                       const Parameters& parameters) {
  std::optional<Answer> answered;
  Queue(sql, parameters,
        [&answered](Answer answer) { answered.emplace(std::move(answer)); });
  RETURN_IF_ERROR(Settle());
  return *std::move(answered);
}

absl::Status Connection::Execute(const std::string& sql) {
  return ReadText(sql).status();
}

absl::StatusOr<std::string> Connection::ReadText(const std::string& sql) {
  PGresult* const result = libpq_.PQexec(handle_.get(), sql.c_str());
  if (result == nullptr) return Lost("setting up");
  const Answer answer(libpq_, result);
  const ExecStatusType kind = libpq_.PQresultStatus(result);
  if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK) {
    return IsAlive() ? Refused(*result, sql) : Lost("setting up");
  }
  return answer.rows() > 0 ? answer.BytesAt(0, 0) : "";
}

std::string Connection::Describe() const {
  const char* const version =
      libpq_.PQparameterStatus(handle_.get(), "server_version");
  const std::string number =
      version == nullptr ? "?"
                         : std::string(version, std::strcspn(version, " "));
  return absl::StrCat(number, " ", libpq_.PQhost(handle_.get()), ":",
                      libpq_.PQport(handle_.get()), "/",
                      libpq_.PQdb(handle_.get()));
}

}  // namespace frostline::storage
