// SPDX-License-Identifier: Apache-2.0
//
// File: connection.h
//
// A connection to PostgreSQL, as a pipeline: statements are queued, and one
// round trip settles all of them.
//
//   connection.Queue("SELECT epoch FROM lead", {}, take);
//   RETURN_IF_ERROR(connection.Settle());
//
// The server answers in order; after the first error it runs none of the rest.
// A statement is prepared at its first use.
#ifndef FROSTLINE_STORAGE_POSTGRES_CONNECTION_H_
#define FROSTLINE_STORAGE_POSTGRES_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/postgres/libpq.h"

namespace frostline::storage {

// The values of a statement, $1 first. Numbers are BIGINT, all else is BYTEA:
// texts of ours may hold any byte, and are ordered by their bytes.
class Parameters {
 public:
  void Int(std::int64_t value);
  void Text(const std::string& value) { Bytes(value); }
  void Blob(const std::string& value) { Bytes(value); }

 private:
  friend class Connection;
  void Bytes(const std::string& value);

  std::vector<std::string> values_;  // as the wire has them
  std::vector<Oid> types_;
};

// What a statement answered.
class Answer {
 public:
  Answer(const Libpq& libpq, PGresult* result)
      : libpq_(&libpq), result_(result, libpq.PQclear) {}

  int rows() const { return libpq_->PQntuples(result_.get()); }
  std::int64_t changed() const;  // rows that it wrote
  std::int64_t IntAt(int row, int column) const;
  std::string BytesAt(int row, int column) const;

 private:
  const Libpq* libpq_;
  std::unique_ptr<PGresult, decltype(Libpq::PQclear)> result_;
};

// A row of an answer, as row_codec.h reads it.
struct RowSource {
  const Answer& answer;
  int row = 0;
  std::int64_t IntAt(int column) const { return answer.IntAt(row, column); }
  std::string BytesAt(int column) const { return answer.BytesAt(row, column); }
};

// A connection. Not thread-safe.
class Connection {
 public:
  // Connects, and sets what we count on: timeouts on both sides, and commits
  // that wait for the disk. `url` is a connection URI or "key=value" words, as
  // libpq has them. The error is STORE_BUSY when nobody answers, else
  // STORE_UNWRITABLE (a password, a certificate, no such database).
  static absl::StatusOr<std::unique_ptr<Connection>> Open(
      const std::string& url);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Says whether the server is still there, as far as is known.
  bool IsAlive() const;
  // Adds a statement. `take` gets its answer when it is settled.
  void Queue(const std::string& sql, Parameters parameters,
             std::function<void(Answer)> take = nullptr);
  // Sends what is queued, and waits for the answers. The error is STORE_BUSY
  // (the connection is lost, a lock or a time limit), STORE_FULL, STORE_IO, or
  // INTERNAL for a statement that cannot be right. Nothing is queued
  // afterwards.
  absl::Status Settle();
  // Queues one and settles.
  absl::StatusOr<Answer> Ask(const std::string& sql,
                             const Parameters& parameters);

  // These are for set-up, before anything is queued: text without parameters,
  // run by itself.
  absl::Status Execute(const std::string& sql);
  absl::StatusOr<std::string> ReadText(const std::string& sql);

  // Says whether it is time to settle: answers wait in the socket while more is
  // sent.
  bool IsFull() const;
  // Returns "15.20 at db.example:5432/frostline".
  std::string Describe() const;
  int backend_pid() const { return libpq_.PQbackendPID(handle_.get()); }

 private:
  struct Statement {
    bool is_preparation = false;
    std::string sql;
    std::function<void(Answer)> take;
  };
  Connection(const Libpq& libpq, PGconn* handle)
      : libpq_(libpq), handle_(handle, libpq.PQfinish) {}

  absl::Status Configure();
  absl::Status Lost(const std::string& doing);
  absl::Status Refused(const PGresult& result, const std::string& sql) const;
  absl::Status Receive(const Statement& statement);

  const Libpq& libpq_;
  std::unique_ptr<PGconn, decltype(Libpq::PQfinish)> handle_;
  std::map<std::string, std::string> names_;  // of prepared statements
  int names_given_ = 0;
  std::vector<Statement> queue_;
  bool is_lost_ = false;
  bool is_pipeline_ = false;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_POSTGRES_CONNECTION_H_
