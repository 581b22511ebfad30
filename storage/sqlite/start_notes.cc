// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/start_notes.h"

#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "storage/sqlite/files.h"

namespace frostline::storage {
namespace {

constexpr std::size_t kMostStarts = 128;

std::vector<WallMicros> ReadStarts(const std::string& path) {
  std::vector<WallMicros> starts;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    WallMicros start = 0;
    if (absl::SimpleAtoi(line, &start)) starts.push_back(start);
  }
  if (starts.size() > kMostStarts) {
    starts.erase(starts.begin(), starts.end() - kMostStarts);
  }
  return starts;
}

absl::Status WriteStarts(const std::string& path,
                         const std::vector<WallMicros>& starts) {
  const std::string fresh = absl::StrCat(path, ".new");
  RETURN_IF_ERROR(CreateFile(fresh));
  {
    std::ofstream file(fresh, std::ios::trunc);
    for (const WallMicros start : starts) file << start << '\n';
    if (!file.flush()) return FileError(absl::StrCat("write ", fresh));
  }
  RETURN_IF_ERROR(SyncFile(fresh));
  return RenameFile(fresh, path);
}

}  // namespace

std::vector<WallMicros> NoteStartIn(const std::string& path, WallMicros now) {
  const std::vector<WallMicros> before = ReadStarts(path);
  std::vector<WallMicros> starts = before;
  starts.push_back(now);
  const absl::Status noted = WriteStarts(path, starts);
  if (!noted.ok()) {
    Log(LogLevel::kWarning, "start_not_noted",
        {{"why", std::string(noted.message())}});
  }
  return before;
}

}  // namespace frostline::storage
