// SPDX-License-Identifier: Apache-2.0
//
// File: openssl.h
//
// OpenSSL's objects, freed when they go out of scope, as PEM text and back.
#ifndef FROSTLINE_TLS_OPENSSL_H_
#define FROSTLINE_TLS_OPENSSL_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "base/secret.h"

namespace frostline::tls {

// A deleter that frees what OpenSSL returns.
template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* one) const {
    kFree(one);
  }
};

inline void FreeNames(GENERAL_NAMES* names) { GENERAL_NAMES_free(names); }
// Frees only the stack: its entries belong to others.
inline void FreeStack(STACK_OF(X509) * stack) { sk_X509_free(stack); }

using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using CertificateRequest = std::unique_ptr<X509_REQ, Freed<X509_REQ_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<FreeNames>>;
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using Stack = std::unique_ptr<STACK_OF(X509), Freed<FreeStack>>;
using Store = std::unique_ptr<X509_STORE, Freed<X509_STORE_free>>;
using StoreContext =
    std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>>;

// OpenSSL's objects as PEM text and back, for this folder alone.

// Returns the error for a bug of ours or of OpenSSL.
absl::Status OpenSslFailed(const std::string& what);

Bio ReaderOf(std::string_view text);

// Reads an object with `read`, which is one of PEM_read_bio_…. Returns null
// when the text holds none. A key with a passphrase counts as none: nobody is
// there to type it.
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
