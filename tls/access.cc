// SPDX-License-Identifier: Apache-2.0
#include "tls/access.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "tls/private_file.h"

namespace frostline::tls {
namespace {

constexpr char kField[] = "--token-file";

absl::StatusOr<SecretString> ReadToken(const std::string& path) {
  ASSIGN_OR_RETURN(const SecretString text, ReadPrivateFile(path, kField));
  const std::string token(absl::StripAsciiWhitespace(text.Reveal()));
  const bool good = !token.empty() &&
                    std::all_of(token.begin(), token.end(),
                                [](char c) { return c > ' ' && c < '\x7F'; });
  if (good) return SecretString(token);
  return MakeError(ErrorId::kTlsFile,
                   absl::StrCat(path, " holds no token in one line"),
                   "put there what `frostline token create` printed", kField);
}

}  // namespace

bool IsLocalAddress(const std::string& address) {
  if (absl::StartsWith(address, "unix:")) return true;
  const std::string host = address.substr(0, address.rfind(':'));
  return host == "localhost" || host == "[::1]" ||
         absl::StartsWith(host, "127.");
}

Access::Access() : credentials_(grpc::InsecureChannelCredentials()) {}

absl::StatusOr<Access> Access::Open(const AccessFiles& files,
                                    const std::string& address,
                                    const Clock& clock) {
  Access access;
  ASSIGN_OR_RETURN(access.credentials_, ChannelCredentialsOf(files.tls, clock));
  if (files.token.empty()) return access;
  if (files.tls.empty() && !IsLocalAddress(address)) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("the token would travel to ", address, " in plaintext"),
        "give --tls-ca FILE, the CA of the coordinator", kField);
  }
  ASSIGN_OR_RETURN(access.token_, ReadToken(files.token));
  return access;
}

void Access::ShowToken(grpc::ClientContext* context) const {
  if (token_.empty()) return;
  context->AddMetadata("authorization",
                       absl::StrCat("Bearer ", token_.Reveal()));
}

}  // namespace frostline::tls
