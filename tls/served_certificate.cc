// SPDX-License-Identifier: Apache-2.0
#include "tls/served_certificate.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mutex.h"
#include "tls/certificate.h"
#include "tls/openssl.h"
#include "tls/private_file.h"

namespace frostline::tls {
namespace {

constexpr char kServedCertificate[] = "--tls-cert";
constexpr char kServedKey[] = "--tls-key";

// What changes when another file takes a path, or when its text changes.
using FileVersion = std::tuple<ino_t, off_t, std::int64_t, std::int64_t>;
using PairVersion = std::array<FileVersion, 2>;

FileVersion VersionOf(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return {};
  return {found.st_ino, found.st_size, found.st_mtim.tv_sec,
          found.st_mtim.tv_nsec};
}

PairVersion VersionOf(const TlsFiles& files) {
  return {VersionOf(files.certificate), VersionOf(files.key)};
}

// A server's certificate with its key, and those that vouch for it.
struct ServedPair {
  Certificate own;
  Key key;
  std::vector<Certificate> others;

  bool ShowIn(SSL* connection) const {
    const Stack chain(sk_X509_new_null());
    if (chain == nullptr) return false;
    for (const Certificate& one : others) {
      if (sk_X509_push(chain.get(), one.get()) <= 0) return false;
    }
    // The connection takes references of its own.
    return SSL_use_cert_and_key(connection, own.get(), key.get(), chain.get(),
                                /*override=*/1) == 1;
  }
};

using ServedPairPtr = std::shared_ptr<const ServedPair>;

absl::StatusOr<ServedPairPtr> ReadServedPair(const TlsFiles& files) {
  ASSIGN_OR_RETURN(const std::string certificate,
                   ReadPublicFile(files.certificate, kServedCertificate));
  ASSIGN_OR_RETURN(const SecretString key,
                   ReadPrivateFile(files.key, kServedKey));
  RETURN_IF_ERROR(CheckPair(certificate, key));
  auto pair = std::make_shared<ServedPair>();
  pair->key = ReadPem(key.Reveal(), PEM_read_bio_PrivateKey);
  const Bio from = ReaderOf(certificate);
  pair->own.reset(PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr));
  while (X509* const next =
             PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr)) {
    pair->others.emplace_back(next);
  }
  return pair;
}

}  // namespace

class ServedCertificate::Impl {
 public:
  Impl(TlsFiles files, PairVersion version, ServedPairPtr pair)
      : files_(std::move(files)), version_(version), pair_(std::move(pair)) {}

  ServedPairPtr Current() {
    const MutexLock lock(&mutex_);
    const PairVersion now = VersionOf(files_);
    if (now == version_) return pair_;
    version_ = now;
    // What reading leaves in OpenSSL's queue of errors, such as where a file
    // ends, would be taken for an error of the handshake under way.
    ERR_set_mark();
    absl::StatusOr<ServedPairPtr> read = ReadServedPair(files_);
    ERR_pop_to_mark();
    if (read.ok()) {
      pair_ = *std::move(read);
      Log(LogLevel::kInfo, "certificate_read", {{"file", files_.certificate}});
    } else {
      Log(LogLevel::kWarning, "certificate_not_read",
          {{"file", files_.certificate},
           {"cause", std::string(read.status().message())}});
    }
    return pair_;
  }

  // OpenSSL asks for it when a handshake needs a certificate; 0 ends that.
  static int Show(SSL* connection, void* impl) {
    return static_cast<Impl*>(impl)->Current()->ShowIn(connection) ? 1 : 0;
  }

 private:
  const TlsFiles files_;
  Mutex mutex_;
  PairVersion version_ ABSL_GUARDED_BY(mutex_);
  ServedPairPtr pair_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<std::unique_ptr<ServedCertificate>> ServedCertificate::Open(
    const TlsFiles& files) {
  // Looked at first: what changes while it is read is read once more.
  const PairVersion version = VersionOf(files);
  ASSIGN_OR_RETURN(ServedPairPtr pair, ReadServedPair(files));
  return std::unique_ptr<ServedCertificate>(new ServedCertificate(
      std::make_unique<Impl>(files, version, std::move(pair))));
}

ServedCertificate::ServedCertificate(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
ServedCertificate::~ServedCertificate() = default;

void ServedCertificate::ServeIn(ssl_ctx_st* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_cert_cb(context, &Impl::Show, impl_.get());
}

}  // namespace frostline::tls
