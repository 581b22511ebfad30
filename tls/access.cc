// SPDX-License-Identifier: Apache-2.0
#include "tls/access.h"

#include <sys/stat.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mutex.h"
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

// It is thread-safe.
class Access::TokenFile {
 public:
  TokenFile(std::string path, SecretString token)
      : path_(std::move(path)), version_(Look()), token_(std::move(token)) {}

  SecretString Token() {
    const MutexLock lock(&mutex_);
    const Version now = Look();
    if (now == version_) return token_;
    version_ = now;
    const auto read = ReadToken(path_);
    if (read.ok()) {
      token_ = *read;
    } else {
      Log(LogLevel::kWarning, "token_not_read",
          {{"cause", std::string(read.status().message())}});
    }
    return token_;
  }

 private:
  // What changes when another file takes the path, or its text changes.
  using Version = std::tuple<ino_t, off_t, std::int64_t, std::int64_t>;

  Version Look() const {
    struct stat found{};
    if (stat(path_.c_str(), &found) != 0) return {};
    return {found.st_ino, found.st_size, found.st_mtim.tv_sec,
            found.st_mtim.tv_nsec};
  }

  const std::string path_;
  Mutex mutex_;
  Version version_ ABSL_GUARDED_BY(mutex_);
  SecretString token_ ABSL_GUARDED_BY(mutex_);
};

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
  ASSIGN_OR_RETURN(SecretString token, ReadToken(files.token));
  access.token_ = std::make_shared<TokenFile>(files.token, std::move(token));
  return access;
}

Access Access::WithToken(std::shared_ptr<grpc::ChannelCredentials> credentials,
                         const SecretString& token) {
  Access access;
  access.credentials_ = std::move(credentials);
  // There is no file of that name, now or later.
  access.token_ = std::make_shared<TokenFile>("", token);
  return access;
}

void Access::ShowToken(grpc::ClientContext* context) const {
  if (token_ == nullptr) return;
  context->AddMetadata("authorization",
                       absl::StrCat("Bearer ", token_->Token().Reveal()));
}

}  // namespace frostline::tls
