// SPDX-License-Identifier: Apache-2.0
#include "server/importance/answer_cache.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"

namespace frostline::server {
namespace {

bool HasHungUp(const WaitingCaller& caller) {
  return caller.cancelled != nullptr && caller.cancelled->load();
}

std::size_t BytesOf(const KeptAnswer& answer) {
  std::size_t bytes = sizeof(answer) + answer.message->SpaceUsedLong();
  if (!answer.report.has_value()) return bytes;
  bytes += answer.report->pairs.size() * sizeof(importance::PairImportance);
  bytes += answer.report->parameters.size() *
           sizeof(importance::ParameterImportance);
  for (const std::vector<double>& draw : answer.report->main_draws) {
    bytes += draw.size() * sizeof(double);
  }
  return bytes;
}

}  // namespace

bool AnswerCache::Ask(const std::string& key, bool anew, WaitingCaller caller) {
  AnswerPtr kept;
  {
    const MutexLock lock(&mutex_);
    if (!anew) kept = FindLocked(key);
    if (kept == nullptr) {
      const auto [waiting, is_first] = waiting_.try_emplace(key);
      waiting->second.push_back(std::move(caller));
      return is_first;
    }
  }
  caller.reply(std::move(kept));
  return false;
}

bool AnswerCache::Begin(const std::string& key) {
  std::vector<WaitingCaller> gone;
  {
    const MutexLock lock(&mutex_);
    const auto waiting = waiting_.find(key);
    if (!std::all_of(waiting->second.begin(), waiting->second.end(),
                     HasHungUp)) {
      return true;
    }
    gone = std::move(waiting->second);
    waiting_.erase(waiting);
  }
  for (WaitingCaller& caller : gone) {
    caller.reply(absl::CancelledError("the caller has hung up"));
  }
  return false;
}

void AnswerCache::Resolve(const std::string& key,
                          const absl::StatusOr<AnswerPtr>& answer) {
  std::vector<WaitingCaller> callers;
  {
    const MutexLock lock(&mutex_);
    if (answer.ok()) KeepLocked(key, *answer);
    const auto waiting = waiting_.find(key);
    callers = std::move(waiting->second);
    waiting_.erase(waiting);
  }
  for (WaitingCaller& caller : callers) caller.reply(answer);
}

AnswerPtr AnswerCache::Find(const std::string& key) {
  const MutexLock lock(&mutex_);
  return FindLocked(key);
}

void AnswerCache::Keep(const std::string& key, AnswerPtr answer) {
  const MutexLock lock(&mutex_);
  KeepLocked(key, std::move(answer));
}

AnswerPtr AnswerCache::FindLocked(const std::string& key) {
  const auto found =
      std::find_if(kept_.begin(), kept_.end(),
                   [&key](const Entry& entry) { return entry.first == key; });
  if (found == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found);
  return kept_.front().second;
}

void AnswerCache::KeepLocked(const std::string& key, AnswerPtr answer) {
  kept_.remove_if([&key](const Entry& entry) { return entry.first == key; });
  kept_.emplace_front(key, std::move(answer));
  std::size_t bytes = 0;
  for (auto entry = kept_.begin(); entry != kept_.end();) {
    bytes += BytesOf(*entry->second);
    const bool stays = entry == kept_.begin() || bytes <= max_bytes_;
    entry = stays ? std::next(entry) : kept_.erase(entry);
  }
}

}  // namespace frostline::server
