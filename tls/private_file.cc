// SPDX-License-Identifier: Apache-2.0
#include "tls/private_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "base/plain/file.h"

namespace frostline::tls {
namespace {

absl::Status Unreadable(const std::string& path, const std::string& cause,
                        const std::string& field) {
  return MakeError(ErrorId::kTlsFile, absl::StrCat(path, " ", cause),
                   "name a file that is there and readable", field);
}

absl::Status CheckMode(const std::string& path, const std::string& field) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) {
    return Unreadable(path, std::strerror(errno), field);
  }
  const mode_t refused =
      found.st_uid == 0 ? S_IRWXO | S_IWGRP : S_IRWXO | S_IRWXG;
  if ((found.st_mode & refused) == 0) return absl::OkStatus();
  return MakeError(
      ErrorId::kTlsFile,
      absl::StrCat("others may read ", path, ", which has mode ",
                   absl::StrFormat("%04o", found.st_mode & 07777U)),
      absl::StrCat("`chmod 600 ", path, "`"), field);
}

}  // namespace

absl::StatusOr<std::string> ReadPublicFile(const std::string& path,
                                           const std::string& field) {
  const auto text = ReadWholeFile(path, kMostFileBytes);
  if (!text.ok()) return Unreadable(path, text.fault().cause, field);
  return text.value();
}

absl::StatusOr<SecretString> ReadPrivateFile(const std::string& path,
                                             const std::string& field) {
  RETURN_IF_ERROR(CheckMode(path, field));
  ASSIGN_OR_RETURN(std::string text, ReadPublicFile(path, field));
  return SecretString(std::move(text));
}

absl::Status WritePrivateFile(const std::string& path, const SecretString& text,
                              const std::string& field) {
  const Expected<Done> written =
      WriteFileAtomically(path, text.Reveal(), kPrivateFile);
  if (written.ok()) return absl::OkStatus();
  const int error = written.fault().system_error;
  const std::string cause =
      absl::StrCat(path, " cannot be written: ", std::strerror(error));
  return DiskErrorOr(
      error, cause,
      MakeError(ErrorId::kTlsFile, cause,
                "name a folder that is there and writable", field));
}

}  // namespace frostline::tls
