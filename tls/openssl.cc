// SPDX-License-Identifier: Apache-2.0
#include "tls/openssl.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::tls {
namespace {

std::string ReadAll(BIO* from) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(from, &bytes);
  return std::string(bytes, static_cast<std::size_t>(size));
}

}  // namespace

absl::Status OpenSslFailed(const std::string& what) {
  return MakeError(ErrorId::kInternal, absl::StrCat("OpenSSL could not ", what),
                   "report it with the version that `openssl version` says");
}

Bio ReaderOf(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string PemOf(X509* certificate) {
  const Bio text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(text.get(), certificate);
  return ReadAll(text.get());
}

std::string PemOf(X509_REQ* request) {
  const Bio text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509_REQ(text.get(), request);
  return ReadAll(text.get());
}

SecretString PemOf(EVP_PKEY* key) {
  const Bio text(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(text.get(), key, nullptr, nullptr, 0, nullptr,
                           nullptr);
  return SecretString(ReadAll(text.get()));
}

}  // namespace frostline::tls
