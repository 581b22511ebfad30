// SPDX-License-Identifier: Apache-2.0
//
// What a trained model's folder holds, file by file.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/file.h"
#include "base/plain/sums.h"
#include "worker/agent/file.h"
#include "worker/agent/kept_models.h"

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;

// Lists regular files by their names below the folder, with their sizes.
absl::StatusOr<std::map<std::string, std::int64_t>> FilesIn(
    const std::string& folder) {
  std::map<std::string, std::int64_t> files;
  std::error_code error;
  const auto end = fs::recursive_directory_iterator();
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != end; entry.increment(error)) {
    if (entry->is_directory(error)) continue;
    const std::string name =
        entry->path().lexically_relative(folder).generic_string();
    const bool is_plain = entry->is_regular_file(error) &&
                          !entry->is_symlink(error) &&
                          name.find_first_of("\n\r\\") == std::string::npos;
    if (!is_plain) {
      return MakeError(ErrorId::kTrainerProtocol,
                       absl::StrCat(entry->path().string(),
                                    " is no plain file with a plain name"),
                       "leave plain files in the folder `model`");
    }
    if (name == kModelSums) continue;
    files[name] = static_cast<std::int64_t>(entry->file_size(error));
  }
  if (!error) return files;
  errno = error.value();
  return FileError("read", folder);
}

}  // namespace

absl::StatusOr<v1::TrainedModel> DescribeModel(const std::string& folder,
                                               const std::string& host) {
  ASSIGN_OR_RETURN(const auto files, FilesIn(folder));
  v1::TrainedModel model;
  model.set_host(host);
  model.set_folder(folder);
  std::string sums;
  for (const auto& [name, bytes] : files) {
    ASSIGN_OR_RETURN(const std::string sum,
                     Sha256OfFile(absl::StrCat(folder, "/", name)));
    absl::StrAppend(&sums, sum, "  ", name, "\n");
    model.set_bytes(model.bytes() + bytes);
  }
  const std::string path = absl::StrCat(folder, "/", kModelSums);
  if (!WriteFileAtomically(path, sums).ok()) {
    errno = EIO;
    return FileError("write", path);
  }
  model.set_bytes(model.bytes() + static_cast<std::int64_t>(sums.size()));
  Sha256Sum whole;
  whole.Add(sums);
  model.set_sums_sha256(whole.Finish());
  return model;
}

}  // namespace frostline::agent
