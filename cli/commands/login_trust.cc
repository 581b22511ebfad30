// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/plain/sums.h"
#include "cli/client/address.h"
#include "cli/commands/login.h"
#include "tls/certificate.h"
#include "tls/credentials.h"
#include "tls/private_file.h"

namespace frostline::cli {
namespace {

// openssl writes AB:CD:…, we write abcd….
std::string PlainDigits(const std::string& fingerprint) {
  return absl::AsciiStrToLower(absl::StrReplaceAll(fingerprint, {{":", ""}}));
}

absl::Status CheckFingerprint(const std::string& ca_pem,
                              const Destination& to) {
  if (to.fingerprint.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto facts, tls::ReadCertificate(ca_pem));
  if (facts.sha256 == to.fingerprint) return absl::OkStatus();
  return MakeError(
      ErrorId::kFingerprintWrong,
      absl::StrCat("the CA of --tls-ca has the fingerprint ", facts.sha256),
      "compare with `frostline tls fingerprint` on the "
      "coordinator's machine",
      "--fingerprint");
}

}  // namespace

absl::StatusOr<Destination> DestinationOf(const std::string& address,
                                          const std::string& fingerprint) {
  const std::size_t hash = address.find('#');
  Destination to{address.substr(0, hash), PlainDigits(fingerprint)};
  if (hash != std::string::npos) {
    const std::string behind = PlainDigits(address.substr(hash + 1));
    if (!to.fingerprint.empty() && to.fingerprint != behind) {
      return MakeError(ErrorId::kRequestInvalid,
                       "--fingerprint is another than that behind #",
                       "give one of them", "--fingerprint");
    }
    to.fingerprint = behind;
  }
  if (!IsAddress(to.connect)) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("'", to.connect, "' is no address of a coordinator"),
        "write HOST:PORT, e.g. gpu-head.lan:7443");
  }
  const bool named = hash != std::string::npos || !fingerprint.empty();
  if (named && !IsSha256(to.fingerprint)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("'", to.fingerprint,
                                  "' is no SHA-256 of 64 hexadecimal digits"),
                     "take what `frostline tls fingerprint` prints on the "
                     "coordinator's machine",
                     "--fingerprint");
  }
  return to;
}

absl::StatusOr<Trust> TrustIn(const Destination& to,
                              const std::string& ca_file) {
  Trust trust;
  if (!ca_file.empty()) {
    ASSIGN_OR_RETURN(trust.ca_pem, tls::ReadPublicFile(ca_file, "--tls-ca"));
    RETURN_IF_ERROR(CheckFingerprint(trust.ca_pem, to));
    tls::TlsFiles files;
    files.ca = ca_file;
    ASSIGN_OR_RETURN(trust.credentials,
                     tls::ChannelCredentialsOf(files, SystemClock()));
    return trust;
  }
  if (!to.fingerprint.empty()) {
    trust.pinned.emplace(tls::Pin{HostOf(to.connect), to.fingerprint},
                         SystemClock().Wall());
    trust.credentials = trust.pinned->credentials();
    return trust;
  }
  trust.credentials = grpc::InsecureChannelCredentials();
  if (tls::IsLocalAddress(to.connect)) return trust;
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("the token would travel to ", to.connect, " in plaintext"),
      "give --tls-ca FILE, the CA of the coordinator, or --fingerprint, what "
      "`frostline tls fingerprint` prints on its machine",
      "--tls-ca");
}

}  // namespace frostline::cli
