// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/lease_key.h"

#include <sys/stat.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/plain/file.h"
#include "base/plain/sha256.h"
#include "base/status_macros.h"
#include "storage/sqlite/files.h"

namespace frostline::storage {
namespace {

constexpr std::size_t kMostBytes = 4096;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

absl::Status CheckMode(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return absl::OkStatus();
  if ((found.st_mode & kOthers) == 0) return absl::OkStatus();
  return MakeError(
      ErrorId::kStoreUnwritable,
      absl::StrCat("others may read ", path, ", which has mode ",
                   absl::StrFormat("%04o", found.st_mode & 07777U)),
      absl::StrCat("`chmod 600 ", path, "`"));
}

// A file that is there under its name is whole.
absl::Status WriteKey(const std::string& path, const SecretString& key) {
  const std::string fresh = absl::StrCat(path, ".new");
  RETURN_IF_ERROR(CreateFile(fresh));
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << key.Reveal() << '\n';
    if (!file.flush()) return FileError(absl::StrCat("write ", fresh));
  }
  RETURN_IF_ERROR(SyncFile(fresh));
  return RenameFile(fresh, path);
}

}  // namespace

absl::StatusOr<SecretString> KeepLeaseKey(const std::string& path) {
  RETURN_IF_ERROR(CheckMode(path));
  const auto stored = ReadWholeFile(path, kMostBytes);
  if (stored.ok()) {
    const std::string key = stored.value().substr(0, stored.value().find('\n'));
    // It has the form of a sum, 64 hexadecimal digits.
    if (IsSha256(key)) return SecretString(key);
  }
  const SecretString key(absl::StrCat(RandomHexId(), RandomHexId()));
  const absl::Status written = WriteKey(path, key);
  if (!written.ok()) {
    Log(LogLevel::kWarning, "lease_key_not_kept",
        {{"file", path}, {"why", std::string(written.message())}});
  }
  return key;
}

}  // namespace frostline::storage
