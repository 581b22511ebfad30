// SPDX-License-Identifier: Apache-2.0
#include "tls/credentials.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/error.h"
#include "base/status_macros.h"
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

}  // namespace frostline::tls
