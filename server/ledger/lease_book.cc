// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/lease_book.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "proto/wire_values.h"

namespace frostline::server {
namespace {

constexpr char kVersion[] = "v1:";
constexpr std::size_t kVersionSize = sizeof(kVersion) - 1;
constexpr std::size_t kSaltSize = 32;  // digits, of 128 bits
constexpr std::size_t kHalf = 32;      // of the digits of a sum
constexpr std::size_t kShownSize = kSaltSize + kHalf;

bool IsVersioned(const SecretString& text) {
  return absl::StartsWith(text.Reveal(), kVersion);
}

}  // namespace

SecretString AsStored(const SecretString& shown) {
  const std::string& text = shown.Reveal();
  if (text.size() != kShownSize && !IsVersioned(shown)) return shown;
  Sha256Sum sum;
  sum.Add(text);
  return SecretString(
      absl::StrCat(kVersion, text.substr(0, kSaltSize), ":", sum.Finish()));
}

SecretString LeaseSecrets::Draw(TrialKey trial, std::int64_t attempt) const {
  return Shown(RandomHexId(), trial, attempt);
}

SecretString LeaseSecrets::Again(TrialKey trial, std::int64_t attempt,
                                 const SecretString& stored) const {
  if (!IsVersioned(stored)) return stored;
  return Shown(stored.Reveal().substr(kVersionSize, kSaltSize), trial, attempt);
}

SecretString LeaseSecrets::Shown(const std::string& salt, TrialKey trial,
                                 std::int64_t attempt) const {
  Sha256Sum sum;
  sum.AddField(key_.Reveal());
  sum.AddField(salt);
  sum.AddNumber(static_cast<std::uint64_t>(trial.study));
  sum.AddNumber(static_cast<std::uint64_t>(trial.number));
  sum.AddNumber(static_cast<std::uint64_t>(attempt));
  return SecretString(absl::StrCat(salt, sum.Finish().substr(0, kHalf)));
}

void ProgressBoard::Post(TrialKey trial, const v1::LeaseProgress& said,
                         WallMicros now) {
  if (!said.has_progress()) return;
  Entry entry{said.lease().attempt(), said.progress()};
  // Fields that this version does not know were checked by nobody.
  entry.progress.DiscardUnknownFields();
  entry.progress.set_step(std::max<std::int64_t>(0, said.step()));
  entry.progress.set_total_steps(std::max<std::int64_t>(0, said.total_steps()));
  *entry.progress.mutable_as_of() = proto::TimestampToProto(now);
  const MutexLock lock(&mutex_);
  entries_[trial] = std::move(entry);
}

void ProgressBoard::Remove(TrialKey trial) {
  const MutexLock lock(&mutex_);
  entries_.erase(trial);
}

void ProgressBoard::Clear() {
  const MutexLock lock(&mutex_);
  entries_.clear();
}

std::optional<v1::TrialProgress> ProgressBoard::Of(TrialKey trial,
                                                   std::int64_t attempt) const {
  const MutexLock lock(&mutex_);
  const auto found = entries_.find(trial);
  if (found == entries_.end() || found->second.attempt != attempt) {
    return std::nullopt;
  }
  return found->second.progress;
}

}  // namespace frostline::server
