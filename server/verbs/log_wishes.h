// SPDX-License-Identifier: Apache-2.0
//
// File: log_wishes.h
//
// Who waits for which log or predictions, by worker. Wishes are numbered as
// they come, and a worker says up to which it has heard: so it hears of each
// once, of none that was dropped, and after a restart of the coordinator of all
// again. It costs as much as there are calls that wait.
#ifndef FROSTLINE_SERVER_VERBS_LOG_WISHES_H_
#define FROSTLINE_SERVER_VERBS_LOG_WISHES_H_

#include <cstdint>
#include <map>
#include <string>

#include "base/ids.h"
#include "frostline/v1/worker_service.pb.h"

namespace frostline::server {

// It is not thread-safe.
class LogWishes {
 public:
  // A wish is an answer that holds nothing else. Returns its id, by which it is
  // dropped.
  std::string Add(const std::string& worker, v1::ListenReply wish);
  void Drop(const std::string& worker, const std::string& id);
  // What Add() will return next.
  std::string NextId() const;

  // Says whether a worker that has heard up to `seen` has something to hear.
  bool HasMore(const std::string& worker, const std::string& seen) const;
  v1::ListenReply Since(const std::string& worker,
                        const std::string& seen) const;

 private:
  // What was seen of another life of the coordinator counts for nothing.
  std::int64_t NumberOf(const std::string& seen) const;

  const std::string life_ = RandomHexId();
  std::int64_t last_ = 0;
  std::map<std::string, std::map<std::int64_t, v1::ListenReply>> wishes_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_LOG_WISHES_H_
