// SPDX-License-Identifier: Apache-2.0
//
// File: openssl_handles.h
//
// What OpenSSL gives out is freed with these.
#ifndef FROSTLINE_TLS_OPENSSL_HANDLES_H_
#define FROSTLINE_TLS_OPENSSL_HANDLES_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace frostline::tls {

template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* one) const {
    kFree(one);
  }
};

inline void FreeNames(GENERAL_NAMES* names) { GENERAL_NAMES_free(names); }
// What is on it belongs to others.
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

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_OPENSSL_HANDLES_H_
