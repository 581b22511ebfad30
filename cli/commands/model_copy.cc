// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/plain/file.h"
#include "base/plain/sums.h"
#include "cli/commands/model.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kSums[] = "SHA256SUMS";
constexpr std::size_t kMostSumsBytes = std::size_t{16} << 20;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kSumDigits = 64;
constexpr std::size_t kNameAt = kSumDigits + 2;  // two blanks between them

struct ListedFile {
  std::string name;
  std::string sum;
};

absl::Status StatusOf(const Fault& fault) {
  return MakeError(ErrorId::kStoreIo, fault.cause, fault.fix);
}

absl::Status Changed(const std::string& path) {
  return MakeError(ErrorId::kStoreIo,
                   absl::StrCat(path, " is not what SHA256SUMS says"),
                   "look at the worker's disk; `sha256sum -c SHA256SUMS` in "
                   "the folder says what else has changed");
}

// Stays below the folder that it is put in.
bool IsPlainName(const std::string& name) {
  const fs::path path = name;
  return !name.empty() && path.is_relative() && !name.ends_with('/') &&
         std::none_of(path.begin(), path.end(), [](const fs::path& part) {
           return part == ".." || part == ".";
         });
}

absl::StatusOr<std::vector<ListedFile>> ListedModels(const std::string& sums) {
  std::vector<ListedFile> files;
  for (const absl::string_view line :
       absl::StrSplit(sums, '\n', absl::SkipEmpty())) {
    ListedFile file;
    if (line.size() > kNameAt) {
      file = {std::string(line.substr(kNameAt)),
              std::string(line.substr(0, kSumDigits))};
    }
    if (!IsSha256(file.sum) || !IsPlainName(file.name)) {
      return MakeError(ErrorId::kStoreIo,
                       absl::StrCat(kSums, " has a line that is none of ours"),
                       "export the trial's model again, or another trial's");
    }
    files.push_back(std::move(file));
  }
  return files;
}

// Returns the bytes that were copied.
absl::StatusOr<std::int64_t> CopyFile(const std::string& from,
                                      const std::string& to,
                                      const std::string& sum) {
  const Expected<SourceFile> source = SourceFile::Open(from);
  if (!source.ok()) return StatusOf(source.fault());
  Expected<AtomicFile> target = AtomicFile::Create(to);
  if (!target.ok()) return StatusOf(target.fault());
  Sha256Sum seen;
  std::string chunk;
  for (std::uint64_t at = 0; at < source.value().size(); at += chunk.size()) {
    const std::uint64_t left = source.value().size() - at;
    chunk.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(left, kChunkBytes)));
    const Expected<Done> read =
        source.value().ReadAt(at, chunk.data(), chunk.size());
    if (!read.ok()) return StatusOf(read.fault());
    seen.Add(chunk);
    const Expected<Done> put =
        target.value().Append(chunk.data(), chunk.size());
    if (!put.ok()) return StatusOf(put.fault());
  }
  if (seen.Finish() != sum) return Changed(from);
  const Expected<Done> committed = target.value().Commit();
  if (!committed.ok()) return StatusOf(committed.fault());
  return static_cast<std::int64_t>(source.value().size());
}

absl::Status FolderError(const std::string& what, const std::error_code& code) {
  return MakeError(ErrorId::kStoreIo, absl::StrCat(what, ": ", code.message()),
                   "name a folder that you may write to");
}

// The copy, beside the folder that it is to become.
absl::StatusOr<ModelCopy> Fill(const v1::TrainedModel& model,
                               const std::string& folder) {
  ModelCopy copy;
  const Expected<std::string> sums =
      ReadWholeFile(absl::StrCat(model.folder(), "/", kSums), kMostSumsBytes);
  if (!sums.ok()) return StatusOf(sums.fault());
  ASSIGN_OR_RETURN(std::vector<ListedFile> files, ListedModels(sums.value()));
  files.push_back({kSums, model.sums_sha256()});
  for (const ListedFile& file : files) {
    const fs::path to = fs::path(folder) / file.name;
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (error) return FolderError(to.parent_path().string(), error);
    ASSIGN_OR_RETURN(const std::int64_t bytes,
                     CopyFile(absl::StrCat(model.folder(), "/", file.name),
                              to.string(), file.sum));
    copy.bytes += bytes;
    copy.files.push_back(file.name);
  }
  return copy;
}

// "out/" and "out" are one folder.
fs::path Plain(const std::string& folder) {
  std::error_code error;
  const fs::path full = fs::absolute(folder, error);
  // Without a working folder what was typed is all there is.
  const fs::path path = (error ? fs::path(folder) : full).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

bool IsHere(const v1::TrainedModel& model) {
  const Expected<std::string> sums =
      ReadWholeFile(absl::StrCat(model.folder(), "/", kSums), kMostSumsBytes);
  if (!sums.ok()) return false;
  Sha256Sum sum;
  sum.Add(sums.value());
  return sum.Finish() == model.sums_sha256();
}

absl::Status CheckTarget(const std::string& folder) {
  const fs::path path = Plain(folder);
  std::error_code error;
  const bool is_free = !fs::exists(fs::symlink_status(path, error)) ||
                       (fs::is_directory(fs::symlink_status(path, error)) &&
                        fs::is_empty(path, error) && !error);
  if (is_free) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(folder, " is there, and is no empty folder"),
                   "name a folder that is not there yet");
}

absl::StatusOr<ModelCopy> CopyModel(const v1::TrainedModel& model,
                                    const std::string& folder) {
  const fs::path target = Plain(folder);
  const fs::path beside =
      target.parent_path() /
      absl::StrCat(".", target.filename().string(), ".frostline-part");
  std::error_code error;
  fs::remove_all(beside, error);
  if (!error) fs::create_directories(beside, error);
  if (error) return FolderError(beside.string(), error);
  absl::StatusOr<ModelCopy> copy = Fill(model, beside.string());
  if (copy.ok()) {
    fs::rename(beside, target, error);
    if (error) copy = FolderError(target.string(), error);
  }
  if (!copy.ok()) {
    fs::remove_all(beside, error);
    return copy.status();
  }
  copy->folder = target.string();
  return copy;
}

}  // namespace frostline::cli
