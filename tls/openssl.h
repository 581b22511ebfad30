// SPDX-License-Identifier: Apache-2.0
//
// File: openssl.h
//
// OpenSSL's objects as PEM text and back, within this folder.
#ifndef FROSTLINE_TLS_OPENSSL_H_
#define FROSTLINE_TLS_OPENSSL_H_

#include <openssl/pem.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "base/secret.h"
#include "tls/openssl_handles.h"

namespace frostline::tls {

// It is a bug of ours or of OpenSSL.
absl::Status OpenSslFailed(const std::string& what);

Bio ReaderOf(std::string_view text);

// `read` is one of PEM_read_bio_…. It answers null when the text holds none. A
// key with a passphrase is none, too: nobody is there to type it.
template <typename T>
auto ReadPem(std::string_view text,
             T* (*read)(BIO*, T**, pem_password_cb*, void*)) {
  const auto no_passphrase = [](char*, int, int, void*) { return 0; };
  using Handle = std::conditional_t<
      std::is_same_v<T, X509>, Certificate,
      std::conditional_t<std::is_same_v<T, EVP_PKEY>, Key, CertificateRequest>>;
  const Bio from = ReaderOf(text);
  return Handle(read(from.get(), nullptr, no_passphrase, nullptr));
}

std::string PemOf(X509* certificate);
std::string PemOf(X509_REQ* request);
SecretString PemOf(EVP_PKEY* key);

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_OPENSSL_H_
