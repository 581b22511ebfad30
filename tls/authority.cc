// SPDX-License-Identifier: Apache-2.0
#include "tls/authority.h"

#include <arpa/inet.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "tls/openssl.h"

namespace frostline::tls {
namespace {

constexpr int kWeakestBits = 112;  // NIST SP 800-57, part 1, table 2

absl::Status BadRequest(const std::string& cause) {
  return MakeError(ErrorId::kRequestInvalid, cause,
                   "send a PKCS #10 request in PEM form, signed by a key of "
                   "P-256 or stronger",
                   "certificate_request");
}

}  // namespace

absl::StatusOr<KeyRequest> MakeRequest(const std::string& name) {
  const Key key(EVP_EC_gen("P-256"));
  const CertificateRequest made(X509_REQ_new());
  if (key == nullptr || made == nullptr) return OpenSslFailed("make a key");
  X509_NAME_add_entry_by_txt(
      X509_REQ_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
      reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  if (X509_REQ_set_pubkey(made.get(), key.get()) != 1 ||
      X509_REQ_sign(made.get(), key.get(), EVP_sha256()) == 0) {
    return OpenSslFailed("sign a certificate request");
  }
  return KeyRequest{PemOf(made.get()), PemOf(key.get())};
}

absl::StatusOr<Key> RequestedKey(const std::string& request_pem) {
  const CertificateRequest read = ReadPem(request_pem, PEM_read_bio_X509_REQ);
  if (read == nullptr) return BadRequest("the text holds no request");
  Key key(X509_REQ_get_pubkey(read.get()));
  if (key == nullptr || X509_REQ_verify(read.get(), key.get()) != 1) {
    return BadRequest("the request is not signed by its key");
  }
  if (EVP_PKEY_get_security_bits(key.get()) < kWeakestBits) {
    return BadRequest("the key is too weak");
  }
  return key;
}

namespace {

constexpr WallMicros kSecond = 1'000'000;
constexpr WallMicros kEarlier = 3'600 * kSecond;
constexpr std::size_t kLongestHost = 253;
constexpr std::size_t kLongestSubject = 64;  // X.520's bound

bool IsNumeric(const std::string& host) {
  std::array<unsigned char, 16> ignored{};
  return inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

// Returns the entry of a host. Hosts with a separator of OpenSSL's lists of
// names are refused.
absl::StatusOr<std::string> HostEntry(const std::string& host) {
  if (IsNumeric(host)) return absl::StrCat("IP:", host);
  const bool good = !host.empty() && host.size() <= kLongestHost &&
                    std::all_of(host.begin(), host.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '.' || c == '-';
                    });
  if (good) return absl::StrCat("DNS:", host);
  return MakeError(
      ErrorId::kRequestInvalid, "a host is neither a DNS name nor an address",
      "write it as nodes reach it: gpu-head.lan or 10.0.0.7", "--host");
}

absl::StatusOr<std::string> AlternativeNames(const LeafSpec& spec) {
  std::vector<std::string> names;
  for (const std::string& host : spec.hosts) {
    ASSIGN_OR_RETURN(names.emplace_back(), HostEntry(host));
  }
  if (!spec.uri.empty()) names.push_back(absl::StrCat("URI:", spec.uri));
  return absl::StrJoin(names, ",");
}

absl::Status SetSerial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return OpenSslFailed("draw a serial number");
  }
  bytes[0] &= 0x7F;  // positive
  const Number number(BN_bin2bn(bytes.data(), bytes.size(), nullptr));
  BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate));
  return absl::OkStatus();
}

absl::Status Extend(X509* certificate, X509* issuer, int kind,
                    const std::string& value) {
  if (value.empty()) return absl::OkStatus();
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension made(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  if (made == nullptr || X509_add_ext(certificate, made.get(), -1) != 1) {
    return OpenSslFailed(absl::StrCat("write ", value));
  }
  return absl::OkStatus();
}

// Begins a certificate, without extensions and signature.
absl::StatusOr<Certificate> Begin(const std::string& name, EVP_PKEY* key,
                                  WallMicros now, Duration lifetime) {
  Certificate made(X509_new());
  X509_set_version(made.get(), X509_VERSION_3);
  RETURN_IF_ERROR(SetSerial(made.get()));
  const auto begins = static_cast<std::time_t>((now - kEarlier) / kSecond);
  const auto ends = static_cast<std::time_t>(
      now / kSecond +
      std::chrono::duration_cast<std::chrono::seconds>(lifetime).count());
  ASN1_TIME_set(X509_getm_notBefore(made.get()), begins);
  ASN1_TIME_set(X509_getm_notAfter(made.get()), ends);
  const std::string shown = name.substr(0, kLongestSubject);
  X509_NAME_add_entry_by_txt(
      X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
      reinterpret_cast<const unsigned char*>(shown.c_str()), -1, -1, 0);
  if (X509_set_pubkey(made.get(), key) != 1) {
    return OpenSslFailed("take a public key");
  }
  return made;
}

absl::Status Sign(X509* certificate, EVP_PKEY* signer) {
  return X509_sign(certificate, signer, EVP_sha256()) == 0
             ? OpenSslFailed("sign a certificate")
             : absl::OkStatus();
}

struct Signer {
  Certificate certificate;
  Key key;
};

absl::StatusOr<Signer> SignerOf(const KeyPair& authority) {
  Signer signer{ReadPem(authority.certificate_pem, PEM_read_bio_X509),
                ReadPem(authority.key_pem.Reveal(), PEM_read_bio_PrivateKey)};
  if (signer.certificate != nullptr && signer.key != nullptr) return signer;
  return OpenSslFailed("read the authority");
}

// Makes a signed certificate for this key.
absl::StatusOr<Certificate> MakeLeaf(const LeafSpec& spec, EVP_PKEY* key,
                                     const KeyPair& authority, WallMicros now) {
  ASSIGN_OR_RETURN(const Signer signer, SignerOf(authority));
  ASSIGN_OR_RETURN(const std::string names, AlternativeNames(spec));
  ASSIGN_OR_RETURN(
      Certificate made,
      Begin(spec.name, key, now, std::min(spec.lifetime, kLongestLife)));
  X509* const issuer = signer.certificate.get();
  X509_set_issuer_name(made.get(), X509_get_subject_name(issuer));
  const bool serves = !spec.hosts.empty();
  const std::vector<std::pair<int, std::string>> extensions = {
      {NID_basic_constraints, "critical,CA:FALSE"},
      {NID_key_usage, "critical,digitalSignature"},
      {NID_ext_key_usage, serves ? "serverAuth" : "clientAuth"},
      {NID_subject_alt_name, names},
      {NID_subject_key_identifier, "hash"},
      {NID_authority_key_identifier, "keyid"}};
  for (const auto& [kind, value] : extensions) {
    RETURN_IF_ERROR(Extend(made.get(), issuer, kind, value));
  }
  RETURN_IF_ERROR(Sign(made.get(), signer.key.get()));
  return made;
}

}  // namespace

absl::StatusOr<KeyPair> MakeAuthority(const std::string& name, WallMicros now) {
  const Key key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpenSslFailed("make a key");
  ASSIGN_OR_RETURN(const Certificate made,
                   Begin(name, key.get(), now, kAuthorityLife));
  X509* const self = made.get();
  X509_set_issuer_name(self, X509_get_subject_name(self));
  RETURN_IF_ERROR(
      Extend(self, self, NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
  RETURN_IF_ERROR(
      Extend(self, self, NID_key_usage, "critical,keyCertSign,cRLSign"));
  RETURN_IF_ERROR(Extend(self, self, NID_subject_key_identifier, "hash"));
  RETURN_IF_ERROR(Sign(self, key.get()));
  return KeyPair{PemOf(self), PemOf(key.get())};
}

absl::StatusOr<KeyPair> Issue(const KeyPair& authority, const LeafSpec& spec,
                              WallMicros now) {
  const Key key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpenSslFailed("make a key");
  ASSIGN_OR_RETURN(const Certificate made,
                   MakeLeaf(spec, key.get(), authority, now));
  return KeyPair{PemOf(made.get()), PemOf(key.get())};
}

absl::StatusOr<std::string> IssueFor(const std::string& request_pem,
                                     const KeyPair& authority,
                                     const LeafSpec& spec, WallMicros now) {
  ASSIGN_OR_RETURN(const Key key, RequestedKey(request_pem));
  ASSIGN_OR_RETURN(const Certificate made,
                   MakeLeaf(spec, key.get(), authority, now));
  return PemOf(made.get());
}

}  // namespace frostline::tls
