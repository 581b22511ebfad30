// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "server/ledger/lease_secrets.h"

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

}  // namespace frostline::server
