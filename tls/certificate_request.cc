// SPDX-License-Identifier: Apache-2.0
#include "tls/certificate_request.h"

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

}  // namespace frostline::tls
