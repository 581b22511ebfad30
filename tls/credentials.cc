// SPDX-License-Identifier: Apache-2.0
#include "tls/credentials.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mutex.h"
#include "tls/certificate.h"
#include "tls/private_file.h"

namespace frostline::tls {
namespace {

namespace watched = grpc::experimental;

constexpr unsigned kLookSeconds = 2;
constexpr char kCertificate[] = "--tls-cert";
constexpr char kKey[] = "--tls-key";
constexpr char kCa[] = "--tls-ca";

absl::Status AtFile(const absl::Status& status, const std::string& path,
                    const std::string& field) {
  const auto detail = DetailOf(status);
  if (!detail.has_value()) return status;
  return MakeError(detail->id,
                   absl::StrCat(path, ": ", std::string(status.message())),
                   detail->fix, field);
}

std::string Shown(WallMicros time) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", absl::FromUnixMicros(time),
                          absl::UTCTimeZone());
}

absl::Status CheckTime(const std::string& path, const std::string& pem,
                       const std::string& field, WallMicros now) {
  const auto facts = ReadCertificate(pem);
  if (!facts.ok()) return AtFile(facts.status(), path, field);
  if (now < facts->begins) {
    return MakeError(
        ErrorId::kTlsFile,
        absl::StrCat(path, " holds from ", Shown(facts->begins),
                     ", and this machine's clock says ", Shown(now)),
        "set the clock, or give another certificate", field);
  }
  if (now < facts->expires) return absl::OkStatus();
  return MakeError(ErrorId::kTlsFile,
                   absl::StrCat(path, " expired at ", Shown(facts->expires)),
                   "make another with `frostline tls issue --host HOST`, or "
                   "have its issuer renew it",
                   field);
}

absl::Status CheckOwn(const TlsFiles& files, WallMicros now) {
  ASSIGN_OR_RETURN(const std::string certificate,
                   ReadPublicFile(files.certificate, kCertificate));
  RETURN_IF_ERROR(CheckTime(files.certificate, certificate, kCertificate, now));
  ASSIGN_OR_RETURN(const SecretString key, ReadPrivateFile(files.key, kKey));
  const absl::Status pair = CheckPair(certificate, key);
  return pair.ok() ? pair : AtFile(pair, files.key, kKey);
}

std::shared_ptr<watched::CertificateProviderInterface> WatcherOf(
    const TlsFiles& files) {
  return std::make_shared<watched::FileWatcherCertificateProvider>(
      files.key, files.certificate, files.ca, kLookSeconds);
}

void Watch(const TlsFiles& files, watched::TlsCredentialsOptions* options) {
  if (!files.ca.empty()) options->watch_root_certs();
  if (!files.certificate.empty()) options->watch_identity_key_cert_pairs();
}

}  // namespace

absl::Status CheckTlsFiles(const TlsFiles& files, const Clock& clock) {
  if (files.certificate.empty() != files.key.empty()) {
    return MakeError(
        ErrorId::kRequestInvalid,
        "--tls-cert and --tls-key are given together or not at all",
        "give both files", files.certificate.empty() ? kCertificate : kKey);
  }
  if (!files.certificate.empty()) {
    RETURN_IF_ERROR(CheckOwn(files, clock.Wall()));
  }
  if (files.ca.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string ca, ReadPublicFile(files.ca, kCa));
  return CheckTime(files.ca, ca, kCa, clock.Wall());
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentialsOf(
    const TlsFiles& files, const Clock& clock) {
  RETURN_IF_ERROR(CheckTlsFiles(files, clock));
  if (files.certificate.empty()) {
    return MakeError(ErrorId::kRequestInvalid, "--tls-ca needs a certificate",
                     "give --tls-cert and --tls-key as well", kCertificate);
  }
  watched::TlsServerCredentialsOptions options(WatcherOf(files));
  Watch(files, &options);
  options.set_cert_request_type(
      files.ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                       : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  return watched::TlsServerCredentials(options);
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ChannelCredentialsOf(
    const TlsFiles& files, const Clock& clock) {
  if (files.empty()) return grpc::InsecureChannelCredentials();
  RETURN_IF_ERROR(CheckTlsFiles(files, clock));
  watched::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(WatcherOf(files));
  Watch(files, &options);
  return watched::TlsCredentials(options);
}

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

// A token that is read again when its file changes. Thread-safe.
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
  // What changes when another file takes the path, or when its text changes.
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
  // No file has an empty name, so this token never changes.
  access.token_ = std::make_shared<TokenFile>("", token);
  return access;
}

void Access::ShowToken(grpc::ClientContext* context) const {
  if (token_ == nullptr) return;
  context->AddMetadata("authorization",
                       absl::StrCat("Bearer ", token_->Token().Reveal()));
}

void LookAfterIdleConnections() {
  setenv("GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS", "200",
         /*overwrite=*/0);
}

}  // namespace frostline::tls
