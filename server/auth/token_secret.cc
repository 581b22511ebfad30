// SPDX-License-Identifier: Apache-2.0
#include "server/auth/token_secret.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "base/plain/sums.h"

namespace frostline::server {
namespace {

constexpr char kPrefix[] = "frost_";
constexpr std::size_t kPrefixSize = sizeof(kPrefix) - 1;
constexpr std::size_t kIdSize = 16;
constexpr std::size_t kSecretSize = 64;
constexpr std::size_t kWholeSize = kPrefixSize + kIdSize + 1 + kSecretSize;

}  // namespace

std::string TokenIdOf(const std::string& request_id) {
  Sha256Sum sum;
  sum.AddField("token");
  sum.AddField(request_id);
  return sum.Finish().substr(0, kIdSize);
}

SecretString NewTokenSecret(const std::string& id) {
  // Two of 128 bits.
  return SecretString(
      absl::StrCat(kPrefix, id, "_", RandomHexId(), RandomHexId()));
}

std::string HashOfSecret(const SecretString& secret) {
  Sha256Sum sum;
  sum.Add(secret.Reveal());
  return sum.Finish();
}

std::string TokenIdIn(const SecretString& secret) {
  const std::string& text = secret.Reveal();
  const bool ours = text.size() == kWholeSize &&
                    absl::StartsWith(text, kPrefix) &&
                    text[kPrefixSize + kIdSize] == '_';
  return ours ? text.substr(kPrefixSize, kIdSize) : "";
}

}  // namespace frostline::server
