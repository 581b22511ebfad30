// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/log_wishes.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace frostline::server {

std::string LogWishes::Add(const std::string& worker, v1::ListenReply wish) {
  std::string id = NextId();
  wishes_[worker].emplace(++last_, std::move(wish));
  return id;
}

std::string LogWishes::NextId() const {
  return absl::StrCat(life_, ".", last_ + 1);
}

void LogWishes::Drop(const std::string& worker, const std::string& id) {
  const auto found = wishes_.find(worker);
  if (found == wishes_.end()) return;
  found->second.erase(NumberOf(id));
  if (found->second.empty()) wishes_.erase(found);
}

bool LogWishes::HasMore(const std::string& worker,
                        const std::string& seen) const {
  const auto found = wishes_.find(worker);
  return found != wishes_.end() &&
         found->second.rbegin()->first > NumberOf(seen);
}

v1::ListenReply LogWishes::Since(const std::string& worker,
                                 const std::string& seen) const {
  v1::ListenReply reply;
  reply.set_seen(absl::StrCat(life_, ".", last_));
  const auto found = wishes_.find(worker);
  if (found == wishes_.end()) return reply;
  const auto& mine = found->second;
  for (auto next = mine.upper_bound(NumberOf(seen)); next != mine.end();
       ++next) {
    reply.MergeFrom(next->second);
  }
  return reply;
}

std::int64_t LogWishes::NumberOf(const std::string& seen) const {
  std::int64_t number = 0;
  const bool is_ours = absl::StartsWith(seen, life_ + ".") &&
                       absl::SimpleAtoi(seen.substr(life_.size() + 1), &number);
  return is_ours ? number : 0;
}

}  // namespace frostline::server
