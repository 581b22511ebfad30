// SPDX-License-Identifier: Apache-2.0
//
// File: answer_cache.h
//
// Answers by what they are a function of. What several ask for at the same time
// is computed once, and nobody waits on a thread: whoever asks first computes,
// the others are called back.
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
  std::optional<importance::Report>
      report;  // of reports: what the message was made from
};

using AnswerPtr = std::shared_ptr<const KeptAnswer>;

struct WaitingCaller {
  CancelFlag cancelled;  // may be null
  absl::AnyInvocable<void(absl::StatusOr<AnswerPtr>)> reply;
};

// Thread-safe. Callers are replied to without any lock held.
class AnswerCache {
 public:
  // Keeps those asked for last that fit into `max_bytes` together, and at
  // least one.
  explicit AnswerCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Replies at once with what is kept, unless `anew`; else the caller waits.
  // True when nobody computes this yet: then somebody has to call Begin, and
  // Resolve.
  bool Ask(const std::string& key, bool anew, WaitingCaller caller);
  // False when all who wait have hung up: they are told so, and there is
  // nothing to compute.
  bool Begin(const std::string& key);
  // Replies to all who wait, and keeps an answer.
  void Resolve(const std::string& key, const absl::StatusOr<AnswerPtr>& answer);

  // For answers that are parts of others. Null: not kept.
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
  // The last one that was asked for is first.
  std::list<Entry> kept_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<WaitingCaller>> waiting_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_ANSWER_CACHE_H_
