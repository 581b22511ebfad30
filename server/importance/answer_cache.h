// SPDX-License-Identifier: Apache-2.0
//
// File: answer_cache.h
//
// Who asks while another computes is called back, so nobody waits on a thread.
#ifndef FROSTLINE_SERVER_IMPORTANCE_ANSWER_CACHE_H_
#define FROSTLINE_SERVER_IMPORTANCE_ANSWER_CACHE_H_

#include <google/protobuf/message.h>

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "importance/report/report.h"
#include "server/loop/call_context.h"

namespace frostline::server {

struct KeptAnswer {
  std::unique_ptr<google::protobuf::Message> message;
  std::optional<importance::Report> report;  // what the message was made from
};

using AnswerPtr = std::shared_ptr<const KeptAnswer>;

struct WaitingCaller {
  CancelFlag cancelled;  // may be null
  absl::AnyInvocable<void(absl::StatusOr<AnswerPtr>)> reply;
};

// It is thread-safe, and holds no lock while callers are replied to.
class AnswerCache {
 public:
  // Keeps the last ones asked for that fit into `max_bytes`, and at least one.
  explicit AnswerCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Replies at once with what is kept, unless `anew`; else the caller waits.
  // True means that nobody computes this yet: somebody has to call Begin, and
  // Resolve.
  bool Ask(const std::string& key, bool anew, WaitingCaller caller);
  // Returns false when all who wait have hung up: they are told so.
  bool Begin(const std::string& key);
  // Replies to all who wait, and keeps an answer.
  void Resolve(const std::string& key, const absl::StatusOr<AnswerPtr>& answer);

  // Both serve parts of other answers. Null means that none is kept.
  AnswerPtr Find(const std::string& key);
  void Keep(const std::string& key, AnswerPtr answer);

 private:
  using Entry = std::pair<std::string, AnswerPtr>;

  AnswerPtr FindLocked(const std::string& key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepLocked(const std::string& key, AnswerPtr answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t max_bytes_;
  Mutex mutex_;
  std::list<Entry> kept_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<WaitingCaller>> waiting_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_ANSWER_CACHE_H_
