// SPDX-License-Identifier: Apache-2.0
#include "cli/context/own_path.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"

namespace frostline::cli {

absl::Status Unwritable(const std::string& path, const std::string& why) {
  return MakeError(ErrorId::kTlsFile,
                   absl::StrCat(path, " cannot be written: ", why),
                   "make your folder for settings writable, or name another: "
                   "XDG_CONFIG_HOME=DIR");
}

absl::StatusOr<std::optional<mode_t>> ModeOf(const std::string& path) {
  struct stat found{};
  if (lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return std::optional<mode_t>();
    return MakeError(ErrorId::kTlsFile,
                     absl::StrCat(path, ": ", std::strerror(errno)),
                     "make the folder readable for yourself");
  }
  if (found.st_uid != geteuid()) {
    return MakeError(ErrorId::kTlsFile,
                     absl::StrCat(path, " is another user's"),
                     "run this as its owner, or name a folder of yours: "
                     "XDG_CONFIG_HOME=DIR");
  }
  return std::optional<mode_t>(found.st_mode);
}

absl::Status CheckMode(const std::string& path, mode_t mode, mode_t refused) {
  if ((mode & refused) == 0) return absl::OkStatus();
  return MakeError(
      ErrorId::kTlsFile,
      absl::StrCat("others may ", (refused & S_IROTH) != 0 ? "read " : "write ",
                   path, ", which has mode ",
                   absl::StrFormat("%04o", mode & 07777U)),
      absl::StrCat("`chmod ", S_ISDIR(mode) ? "700 " : "600 ", path,
                   "`; a token that others may have read is to be revoked"));
}

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return Unwritable(path, std::strerror(errno));
}

}  // namespace frostline::cli
