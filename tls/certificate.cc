// SPDX-License-Identifier: Apache-2.0
#include "tls/certificate.h"

#include <arpa/inet.h>

#include <array>
#include <ctime>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "tls/openssl.h"

namespace frostline::tls {
namespace {

constexpr char kScheme[] = "spiffe://";
constexpr WallMicros kCertificateSecond = 1'000'000;

absl::Status NoCertificate(const std::string& cause, const std::string& fix) {
  return MakeError(ErrorId::kTlsFile, cause, fix);
}

absl::StatusOr<Certificate> Parse(const std::string& pem) {
  Certificate read = ReadPem(pem, PEM_read_bio_X509);
  if (read != nullptr) return read;
  return NoCertificate("the text holds no certificate in PEM form",
                       "give the file that begins with -----BEGIN "
                       "CERTIFICATE-----");
}

WallMicros MicrosOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return static_cast<WallMicros>(timegm(&parts)) * kCertificateSecond;
}

std::string TextOf(const ASN1_STRING* text) {
  return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                     static_cast<std::size_t>(ASN1_STRING_length(text)));
}

std::string AddressOf(const ASN1_OCTET_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  const char* const shown =
      inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return shown == nullptr ? "" : shown;
}

void ReadNames(const X509* certificate, CertificateFacts* facts) {
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  if (names == nullptr) return;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME& name = *sk_GENERAL_NAME_value(names.get(), i);
    if (name.type == GEN_DNS) facts->hosts.push_back(TextOf(name.d.dNSName));
    if (name.type == GEN_IPADD) {
      facts->hosts.push_back(AddressOf(name.d.iPAddress));
    }
    if (name.type == GEN_URI) {
      facts->uris.push_back(TextOf(name.d.uniformResourceIdentifier));
    }
  }
}

std::string FingerprintOf(const X509* certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate, &der);
  if (size <= 0) return "";
  Sha256Sum sum;
  sum.Add({reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)});
  OPENSSL_free(der);
  return sum.Finish();
}

}  // namespace

std::string FormatOwnerName(const OwnerName& owner) {
  return absl::StrCat(kScheme, "frostline/frostline/", owner.role, "/",
                      owner.name);
}

OwnerName ParseOwnerName(const std::string& uri) {
  if (!absl::StartsWith(uri, kScheme)) return {};
  const std::vector<std::string> parts =
      absl::StrSplit(uri.substr(sizeof(kScheme) - 1), '/');
  const bool ours = parts.size() == 4 && !parts[0].empty() &&
                    parts[1] == "frostline" && CheckId(parts[3], "").ok();
  return ours ? OwnerName{parts[2], parts[3]} : OwnerName();
}

absl::StatusOr<CertificateFacts> ReadCertificate(const std::string& pem) {
  ASSIGN_OR_RETURN(const Certificate certificate, Parse(pem));
  CertificateFacts facts;
  ReadNames(certificate.get(), &facts);
  facts.begins = MicrosOf(X509_get0_notBefore(certificate.get()));
  facts.expires = MicrosOf(X509_get0_notAfter(certificate.get()));
  facts.sha256 = FingerprintOf(certificate.get());
  facts.is_authority = X509_check_ca(certificate.get()) == 1;
  return facts;
}

absl::Status CheckPair(const std::string& certificate_pem,
                       const SecretString& key_pem) {
  ASSIGN_OR_RETURN(const Certificate certificate, Parse(certificate_pem));
  const Key key = ReadPem(key_pem.Reveal(), PEM_read_bio_PrivateKey);
  if (key == nullptr) {
    return NoCertificate("the text holds no private key in PEM form",
                         "give the file that begins with -----BEGIN PRIVATE "
                         "KEY-----, without a passphrase");
  }
  if (X509_check_private_key(certificate.get(), key.get()) == 1) {
    return absl::OkStatus();
  }
  return NoCertificate("the private key is not that of the certificate",
                       "give a certificate and the key it was made with");
}

}  // namespace frostline::tls
