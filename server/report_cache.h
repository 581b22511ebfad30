// SPDX-License-Identifier: Apache-2.0
//
// File: report_cache.h
//
// Importance reports by what they are a function of: study, revision, options.
#ifndef FROSTLINE_SERVER_REPORT_CACHE_H_
#define FROSTLINE_SERVER_REPORT_CACHE_H_

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "frostline/v1/importance.pb.h"

namespace frostline {

// Any thread. Keeps the few that were asked for last.
class ReportCache {
 public:
  std::optional<v1::ImportanceReport> Find(const std::string& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->first != key) continue;
      entries_.splice(entries_.begin(), entries_, entry);
      return entry->second;
    }
    return std::nullopt;
  }

  void Put(const std::string& key, const v1::ImportanceReport& report) {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.emplace_front(key, report);
    if (entries_.size() > kMost) entries_.pop_back();
  }

 private:
  static constexpr std::size_t kMost = 32;
  std::mutex mutex_;
  std::list<std::pair<std::string, v1::ImportanceReport>> entries_;
};

}  // namespace frostline

#endif  // FROSTLINE_SERVER_REPORT_CACHE_H_
