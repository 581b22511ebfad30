// SPDX-License-Identifier: Apache-2.0
#include "cli/process/work_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::cli {
namespace {

absl::Status CannotMake(const std::string& path, const std::string& why) {
  return MakeError(ErrorId::kStoreUnwritable, absl::StrCat(path, ": ", why),
                   "name a folder you may write to with --dir DIR, or in "
                   "$TMPDIR");
}

}  // namespace

absl::StatusOr<WorkFolder> WorkFolder::Make(const std::string& named,
                                            bool keep) {
  std::error_code error;
  if (!named.empty()) {
    std::filesystem::create_directories(named, error);
    if (error) return CannotMake(named, error.message());
    return WorkFolder(named, true);
  }
  const auto parent = std::filesystem::temp_directory_path(error);
  if (error) return CannotMake("the temporary folder", error.message());
  std::string pattern = (parent / "frostline-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    return CannotMake(pattern, std::strerror(errno));
  }
  return WorkFolder(pattern, keep);
}

WorkFolder::~WorkFolder() {
  if (path_.empty() || stays_) return;
  std::error_code ignored;  // what is left is only a temporary file
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace frostline::cli
