// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/identity.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "base/plain/sums.h"
#include "tls/authority.h"
#include "tls/certificate.h"
#include "tls/private_file.h"
#include "worker/agent/file.h"

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;

constexpr char kField[] = "--run-dir";
constexpr char kAddress[] = "/address";
constexpr char kToken[] = "/token";
constexpr char kKey[] = "/worker.key";
constexpr char kCertificate[] = "/worker.crt";
constexpr char kCa[] = "/ca.crt";
constexpr char kRequest[] = "/request.pem";
constexpr std::size_t kRequestIdDigits = 32;

absl::Status CheckFolder(const std::string& folder) {
  struct stat found{};
  if (lstat(folder.c_str(), &found) != 0) return FileError("read", folder);
  if (S_ISDIR(found.st_mode) && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorId::kTlsFile,
      absl::StrCat("others may write ", folder, ", which has mode ",
                   absl::StrFormat("%04o", found.st_mode & 07777U)),
      absl::StrCat("`chmod 700 ", folder, "`, if nobody has been there"),
      kField);
}

// A folder that is there stays as it is, for CheckFolder() to judge.
absl::Status MakePrivateFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return FileError("create the folder", folder);
}

WallMicros WrittenAt(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return 0;
  return found.st_mtim.tv_sec * WallMicros{1'000'000} +
         found.st_mtim.tv_nsec / 1000;
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  return tls::WritePrivateFile(path, SecretString(text), kField);
}

std::string IdentityFolder(const std::string& run_dir,
                           const std::string& worker_id) {
  return absl::StrCat(fs::absolute(run_dir).lexically_normal().string(),
                      "/agents/", worker_id, "/identity");
}

absl::Status Unfit(const std::string& cause) {
  return MakeError(ErrorId::kTlsFile,
                   absl::StrCat("the coordinator answered ", cause),
                   "use a coordinator of this version, and its own address");
}

}  // namespace

Identity::Identity(const std::string& run_dir, const std::string& worker_id)
    : worker_id_(worker_id),
      folder_(IdentityFolder(run_dir, worker_id)),
      next_(folder_ + "/next") {}

std::vector<std::string> Identity::JoinedFrom(const std::string& run_dir) {
  std::vector<std::string> ids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_dir + "/agents", error)) {
    const std::string id = entry.path().filename().string();
    if (Identity(run_dir, id).exists()) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

int Identity::Newest() const {
  int newest = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    int number = 0;
    if (absl::SimpleAtoi(entry.path().filename().string(), &number)) {
      newest = std::max(newest, number);
    }
  }
  return newest;
}

std::string Identity::NumberedFolder(int number) const {
  return absl::StrCat(folder_, "/", number);
}

bool Identity::exists() const { return Newest() > 0; }

tls::TlsFiles Identity::files() const {
  const std::string folder = NumberedFolder(Newest());
  return {folder + kCertificate, folder + kKey, folder + kCa};
}

absl::StatusOr<IdentityFacts> Identity::Read() const {
  const tls::TlsFiles files = this->files();
  RETURN_IF_ERROR(CheckFolder(folder_));
  RETURN_IF_ERROR(CheckFolder(fs::path(files.key).parent_path().string()));
  RETURN_IF_ERROR(tls::ReadPrivateFile(files.key, kField).status());
  ASSIGN_OR_RETURN(const std::string address,
                   tls::ReadPublicFile(folder_ + kAddress, kField));
  ASSIGN_OR_RETURN(const std::string certificate,
                   tls::ReadPublicFile(files.certificate, kField));
  ASSIGN_OR_RETURN(const std::string ca, tls::ReadPublicFile(files.ca, kField));
  ASSIGN_OR_RETURN(const tls::CertificateFacts own,
                   tls::ReadCertificate(certificate));
  ASSIGN_OR_RETURN(const tls::CertificateFacts issuer,
                   tls::ReadCertificate(ca));
  const auto token_id = tls::ReadPublicFile(folder_ + kToken, kField);
  IdentityFacts facts;
  facts.address = std::string(absl::StripAsciiWhitespace(address));
  if (token_id.ok()) {
    facts.token_id = std::string(absl::StripAsciiWhitespace(*token_id));
  }
  facts.ca_sha256 = issuer.sha256;
  facts.begins = std::max(own.begins, WrittenAt(files.certificate));
  facts.expires = own.expires;
  return facts;
}

absl::StatusOr<Identity::Question> Identity::Ask(const std::string& purpose) {
  RETURN_IF_ERROR(MakeFolders(fs::path(folder_).parent_path().string()));
  RETURN_IF_ERROR(MakePrivateFolder(folder_));
  RETURN_IF_ERROR(CheckFolder(folder_));
  // The request is written last: with it everything is there.
  if (!fs::exists(next_ + kRequest)) {
    fs::remove_all(next_);
    RETURN_IF_ERROR(MakePrivateFolder(next_));
    ASSIGN_OR_RETURN(const tls::KeyRequest made, tls::MakeRequest(worker_id_));
    RETURN_IF_ERROR(tls::WritePrivateFile(next_ + kKey, made.key_pem, kField));
    RETURN_IF_ERROR(SyncFolder(next_));
    RETURN_IF_ERROR(WriteFile(next_ + kRequest, made.request_pem));
    RETURN_IF_ERROR(SyncFolder(next_));
    RETURN_IF_ERROR(SyncFolder(folder_));
  }
  ASSIGN_OR_RETURN(const std::string request,
                   tls::ReadPublicFile(next_ + kRequest, kField));
  Sha256Sum sum;
  sum.AddField(purpose);
  sum.AddField(request);
  return Question{sum.Finish().substr(0, kRequestIdDigits), request};
}

absl::Status Identity::CheckAnswer(const v1::JoinReply& reply,
                                   const std::string& ca_sha256) const {
  ASSIGN_OR_RETURN(const SecretString key,
                   tls::ReadPrivateFile(next_ + kKey, kField));
  RETURN_IF_ERROR(tls::CheckPair(reply.certificate(), key));
  ASSIGN_OR_RETURN(const tls::CertificateFacts own,
                   tls::ReadCertificate(reply.certificate()));
  const bool ours = std::any_of(
      own.uris.begin(), own.uris.end(), [this](const std::string& uri) {
        const tls::OwnerName owner = tls::ParseOwnerName(uri);
        return owner.role == "worker" && owner.name == worker_id_;
      });
  if (!ours) return Unfit("a certificate that is not this worker's");
  ASSIGN_OR_RETURN(const tls::CertificateFacts issuer,
                   tls::ReadCertificate(reply.ca()));
  if (!issuer.is_authority) return Unfit("a CA that is none");
  if (ca_sha256.empty() || issuer.sha256 == ca_sha256) return absl::OkStatus();
  return Unfit("another CA than that of the fingerprint");
}

absl::Status Identity::Store(const v1::JoinReply& reply,
                             const std::string& ca_sha256) {
  RETURN_IF_ERROR(CheckAnswer(reply, ca_sha256));
  RETURN_IF_ERROR(WriteFile(next_ + kCertificate, reply.certificate()));
  RETURN_IF_ERROR(WriteFile(next_ + kCa, reply.ca()));
  RETURN_IF_ERROR(SyncFolder(next_));
  const int number = Newest() + 1;
  std::error_code error;
  fs::rename(next_, NumberedFolder(number), error);
  if (error) {
    errno = error.value();
    return FileError("name", NumberedFolder(number));
  }
  RETURN_IF_ERROR(SyncFolder(folder_));
  fs::remove(NumberedFolder(number) + kRequest, error);
  fs::remove_all(NumberedFolder(number - 2), error);
  return absl::OkStatus();
}

absl::Status Identity::StoreLine(const char* name, const std::string& line) {
  RETURN_IF_ERROR(WriteFile(folder_ + name, line + "\n"));
  return SyncFolder(folder_);
}

absl::Status Identity::StoreAddress(const std::string& address) {
  return StoreLine(kAddress, address);
}

absl::Status Identity::StoreTokenId(const std::string& token_id) {
  return StoreLine(kToken, token_id);
}

}  // namespace frostline::agent
