// SPDX-License-Identifier: Apache-2.0
#include "tls/join.h"

#include <arpa/inet.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/mutex.h"
#include "tls/certificate.h"
#include "tls/openssl.h"

namespace frostline::tls {
namespace {

constexpr std::size_t kTokenIdDigits = 16;
constexpr std::size_t kSecretDigits = 64;
constexpr std::size_t kFingerprintDigits = 64;
constexpr std::size_t kLongestJoinHost = 253;
constexpr int kLastPort = 65'535;

absl::Status Broken(const std::string& cause) {
  return MakeError(ErrorId::kRequestInvalid, absl::StrCat("--join ", cause),
                   "paste the whole line that `frostline worker invite` "
                   "printed, TOKEN@HOST:PORT#FINGERPRINT, in quotes",
                   "--join");
}

bool IsHex(const std::string& text, std::size_t digits) {
  return text.size() == digits &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isxdigit(static_cast<unsigned char>(c));
         });
}

absl::Status ReadJoinToken(const std::string& text, JoinLine* line) {
  const std::vector<std::string> parts = absl::StrSplit(text, '_');
  if (parts.size() != 3 || parts[0] != "frost" ||
      !IsHex(parts[1], kTokenIdDigits) || !IsHex(parts[2], kSecretDigits)) {
    return Broken("has no token before its @");
  }
  line->token = SecretString(text);
  line->token_id = parts[1];
  return absl::OkStatus();
}

bool IsName(const std::string& host) {
  return !host.empty() && host.size() <= kLongestJoinHost &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '.' || c == '-' || c == '_';
         });
}

bool IsIpv6(const std::string& host) {
  std::array<unsigned char, 16> ignored{};
  return inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

absl::Status ReadAddress(const std::string& text, JoinLine* line) {
  const std::size_t colon = text.rfind(':');
  int port = 0;
  if (colon == std::string::npos ||
      !absl::SimpleAtoi(text.substr(colon + 1), &port) || port < 1 ||
      port > kLastPort) {
    return Broken("has no port behind its host");
  }
  line->host = text.substr(0, colon);
  const bool brackets = line->host.size() > 2 && line->host.front() == '[' &&
                        line->host.back() == ']';
  if (brackets) line->host = line->host.substr(1, line->host.size() - 2);
  if (!(brackets ? IsIpv6(line->host) : IsName(line->host))) {
    return Broken(
        "has no host behind its @, or an IPv6 address without brackets");
  }
  line->address = absl::StrCat(
      brackets ? absl::StrCat("[", line->host, "]") : line->host, ":", port);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<JoinLine> ParseJoinLine(const std::string& given) {
  const std::string text(absl::StripAsciiWhitespace(given));
  const std::size_t at = text.find('@');
  const std::size_t hash = text.find('#');
  if (at == std::string::npos || hash == std::string::npos || hash < at) {
    return Broken("is no line of the form TOKEN@HOST:PORT#FINGERPRINT");
  }
  JoinLine line;
  RETURN_IF_ERROR(ReadJoinToken(text.substr(0, at), &line));
  RETURN_IF_ERROR(ReadAddress(text.substr(at + 1, hash - at - 1), &line));
  line.ca_sha256 = absl::AsciiStrToLower(text.substr(hash + 1));
  if (IsHex(line.ca_sha256, kFingerprintDigits)) return line;
  return Broken("has no fingerprint of 64 hexadecimal digits behind its #");
}

namespace {

namespace verified = grpc::experimental;

constexpr WallMicros kPinnedSecond = 1'000'000;
constexpr std::size_t kMostCertificates = 16;

absl::Status Wrong(const std::string& cause) {
  return MakeError(ErrorId::kFingerprintWrong, cause,
                   "compare with `frostline tls fingerprint` on the "
                   "coordinator's machine, and see who listens at the address; "
                   "the file of --tls-cert has to have its CA behind it");
}

absl::Status Refused(const std::string& cause, const std::string& fix) {
  return MakeError(ErrorId::kTlsRefused, cause, fix);
}

std::vector<Certificate> ReadChain(const std::string& pem) {
  std::vector<Certificate> chain;
  const Bio from = ReaderOf(pem);
  while (chain.size() < kMostCertificates) {
    Certificate read(PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr));
    if (read == nullptr) break;
    chain.push_back(std::move(read));
  }
  return chain;
}

// Returns the CA of the pin; null when the chain has none.
X509* FindAuthority(const std::vector<Certificate>& chain, const Pin& pin) {
  for (const Certificate& one : chain) {
    const auto facts = ReadCertificate(PemOf(one.get()));
    if (facts.ok() && facts->sha256 == pin.ca_sha256) return one.get();
  }
  return nullptr;
}

absl::Status Judge(int error, const std::string& host) {
  switch (error) {
    case X509_V_OK:
      return absl::OkStatus();
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return Refused(absl::StrCat("the certificate of ", host,
                                  " holds only from a time that this machine's "
                                  "clock has not reached"),
                     "set the clock");
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return Refused(absl::StrCat("the certificate of ", host, " has expired"),
                     "have it renewed there with `frostline tls issue --host "
                     "HOST`, or set "
                     "this machine's clock");
    case X509_V_ERR_INVALID_PURPOSE:
      return Refused(
          absl::StrCat("the certificate of ", host, " is no coordinator's"),
          "serve with the certificate of `frostline tls init --host HOST`");
    default:
      return Wrong(absl::StrCat("the certificate of ", host,
                                " is not signed by the CA of the fingerprint: ",
                                X509_verify_cert_error_string(error)));
  }
}

// Checks the signatures. The CA is the only anchor; other certificates of the
// chain may lie between.
absl::Status CheckSignatures(const std::vector<Certificate>& chain,
                             X509* authority, const std::string& host,
                             WallMicros now) {
  const Store store(X509_STORE_new());
  const StoreContext context(X509_STORE_CTX_new());
  const Stack between(sk_X509_new_null());
  for (const Certificate& one : chain) sk_X509_push(between.get(), one.get());
  if (X509_STORE_add_cert(store.get(), authority) != 1 ||
      X509_STORE_CTX_init(context.get(), store.get(), chain.front().get(),
                          between.get()) != 1) {
    return OpenSslFailed("check a chain");
  }
  X509_VERIFY_PARAM* const asked = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_flags(asked, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_purpose(asked, X509_PURPOSE_SSL_SERVER);
  X509_VERIFY_PARAM_set_time(asked,
                             static_cast<std::time_t>(now / kPinnedSecond));
  if (X509_verify_cert(context.get()) == 1) return absl::OkStatus();
  return Judge(X509_STORE_CTX_get_error(context.get()), host);
}

bool HasHost(X509* leaf, const std::string& host) {
  std::array<unsigned char, 16> ignored{};
  const bool numeric = inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
                       inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
  if (numeric) return X509_check_ip_asc(leaf, host.c_str(), 0) == 1;
  return X509_check_host(leaf, host.data(), host.size(),
                         X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, nullptr) == 1;
}

// Returns the CA in PEM form; "" when the chain does not have it.
std::string PinnedAuthority(const std::string& chain_pem, const Pin& pin) {
  const std::vector<Certificate> chain = ReadChain(chain_pem);
  X509* const authority = FindAuthority(chain, pin);
  return authority == nullptr ? "" : PemOf(authority);
}

}  // namespace

absl::Status CheckPinnedChain(const std::string& chain_pem, const Pin& pin,
                              WallMicros now) {
  const std::vector<Certificate> chain = ReadChain(chain_pem);
  X509* const authority = FindAuthority(chain, pin);
  if (authority == nullptr) {
    return Wrong(absl::StrCat(pin.host,
                              " shows no CA with the fingerprint of the "
                              "invitation"));
  }
  if (X509_check_ca(authority) != 1) {
    return Wrong("the fingerprint is that of a certificate which is no CA");
  }
  RETURN_IF_ERROR(CheckSignatures(chain, authority, pin.host, now));
  if (HasHost(chain.front().get(), pin.host)) return absl::OkStatus();
  return MakeError(
      ErrorId::kFingerprintWrong,
      absl::StrCat("the coordinator's certificate has not the host ", pin.host),
      "join by a name that it has, or issue it anew with all names: "
      "`frostline tls issue --host HOST`");
}

class PinnedChannel::Verdict {
 public:
  void Set(const absl::Status& refusal, const std::string& ca_pem) {
    const MutexLock lock(&mutex_);
    refusal_ = refusal;
    if (refusal.ok()) ca_pem_ = ca_pem;
  }
  std::string ca_pem() const {
    const MutexLock lock(&mutex_);
    return ca_pem_;
  }
  absl::Status refusal() const {
    const MutexLock lock(&mutex_);
    return refusal_;
  }

 private:
  mutable Mutex mutex_;
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);
  std::string ca_pem_ ABSL_GUARDED_BY(mutex_);
};

// Checks handshakes. gRPC owns it and calls it after each one, on a thread of
// its own.
class PinnedChannel::Verifier : public verified::ExternalCertificateVerifier {
 public:
  Verifier(Pin pin, WallMicros now, std::shared_ptr<Verdict> verdict)
      : pin_(std::move(pin)), now_(now), verdict_(std::move(verdict)) {}

  bool Verify(verified::TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)> /*callback*/,
              grpc::Status* sync_status) override {
    const grpc::string_ref chain = request->peer_cert_full_chain();
    const std::string pem(chain.data(), chain.size());
    const absl::Status judged = CheckPinnedChain(pem, pin_, now_);
    verdict_->Set(judged, PinnedAuthority(pem, pin_));
    *sync_status = judged.ok() ? grpc::Status::OK
                               : grpc::Status(grpc::StatusCode::UNAUTHENTICATED,
                                              std::string(judged.message()));
    return true;  // it has been judged
  }
  void Cancel(verified::TlsCustomVerificationCheckRequest*) override {}

 private:
  const Pin pin_;
  const WallMicros now_;
  const std::shared_ptr<Verdict> verdict_;
};

PinnedChannel::PinnedChannel(const Pin& pin, WallMicros now)
    : verdict_(std::make_shared<Verdict>()) {
  verified::TlsChannelCredentialsOptions options;
  // gRPC would check this against the roots of the system; here it is ours to
  // check.
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(
      verified::ExternalCertificateVerifier::Create<Verifier>(pin, now,
                                                              verdict_));
  credentials_ = verified::TlsCredentials(options);
}

absl::Status PinnedChannel::refusal() const { return verdict_->refusal(); }
std::string PinnedChannel::ca_pem() const { return verdict_->ca_pem(); }

}  // namespace frostline::tls
