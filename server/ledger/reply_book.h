// SPDX-License-Identifier: Apache-2.0
//
// File: reply_book.h
//
// A request sent twice is done once. The store has committed answers; the book
// has those that somebody who is looking may not find there yet.
#ifndef FROSTLINE_SERVER_LEDGER_REPLY_BOOK_H_
#define FROSTLINE_SERVER_LEDGER_REPLY_BOOK_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "server/ledger/lookups.h"
#include "storage/trial_store.h"

namespace frostline::server {

struct RequestMark {
  std::string request_id;
  std::string method;
  std::uint64_t hash = 0;
};

std::uint64_t HashRequest(const google::protobuf::Message& request);

// It is not thread-safe.
class ReplyBook {
 public:
  explicit ReplyBook(const Lookups& lookups) : lookups_(lookups) {}

  // `stored` is the store's answer. An id of another request is
  // REQUEST_ID_REUSED.
  absl::StatusOr<std::optional<std::string>> Find(
      const RequestMark& request,
      const std::optional<storage::ReplyRow>& stored) const;
  absl::Status Remember(storage::Transaction& transaction,
                        const RequestMark& request, const std::string& reply,
                        WallMicros now);
  // Only until everybody who looks can read what the rows say of it.
  void Keep(const RequestMark& request, const std::string& reply,
            WallMicros now);
  // Forgets what everybody who looks can read.
  void Committed();
  // Forgets the group that was not committed.
  void Undone();

 private:
  const Lookups& lookups_;
  std::map<std::string, storage::ReplyRow> fresh_;          // by request id
  std::deque<std::pair<std::int64_t, std::string>> order_;  // by group
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_REPLY_BOOK_H_
