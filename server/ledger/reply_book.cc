// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/reply_book.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/rng.h"
#include "server/wire/ordered_bytes.h"

namespace frostline::server {

std::uint64_t HashRequest(const google::protobuf::Message& request) {
  return Fnv1a(OrderedBytes(request));
}

absl::StatusOr<std::optional<std::string>> ReplyBook::Find(
    const RequestMark& request,
    const std::optional<storage::ReplyRow>& stored) const {
  const auto fresh = fresh_.find(request.request_id);
  const storage::ReplyRow* const row = fresh != fresh_.end() ? &fresh->second
                                       : stored.has_value()  ? &*stored
                                                             : nullptr;
  if (row == nullptr) return std::optional<std::string>();
  if (row->method != request.method || row->request_hash != request.hash) {
    return MakeError(ErrorId::kRequestIdReused,
                     absl::StrCat("request id ", request.request_id,
                                  " was used for another ", row->method),
                     "draw a new request id for every new request",
                     "request_id");
  }
  return std::optional<std::string>(row->reply);
}

absl::Status ReplyBook::Remember(storage::Transaction& transaction,
                                 const RequestMark& request,
                                 const std::string& reply, WallMicros now) {
  const storage::ReplyRow row{.request_id = request.request_id,
                              .method = request.method,
                              .request_hash = request.hash,
                              .reply = reply,
                              .created = now};
  RETURN_IF_ERROR(transaction.RememberReply(row));
  Keep(request, reply, now);
  return absl::OkStatus();
}

void ReplyBook::Keep(const RequestMark& request, const std::string& reply,
                     WallMicros now) {
  order_.emplace_back(lookups_.group(), request.request_id);
  fresh_[request.request_id] = {.request_id = request.request_id,
                                .method = request.method,
                                .request_hash = request.hash,
                                .reply = reply,
                                .created = now};
}

void ReplyBook::Committed() {
  const std::int64_t oldest = lookups_.OldestGroup();
  while (!order_.empty() && order_.front().first < oldest) {
    fresh_.erase(order_.front().second);
    order_.pop_front();
  }
}

void ReplyBook::Undone() {
  while (!order_.empty() && order_.back().first == lookups_.group()) {
    fresh_.erase(order_.back().second);
    order_.pop_back();
  }
}

}  // namespace frostline::server
