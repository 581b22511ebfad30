// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/split_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "worker/registry/table_look.h"

namespace frostline::registry {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

// "validation-00000-of-00001" is of the split validation.
std::string SplitOf(const fs::path& file) {
  std::string stem = absl::AsciiStrToLower(file.stem().string());
  const std::size_t end = stem.find_first_of("-._");
  const std::string word = stem.substr(0, end);
  if (word == "train" || word == "training") return "train";
  if (word == "validation" || word == "valid" || word == "val" ||
      word == "dev") {
    return "validation";
  }
  if (word == "test") return "test";
  // Universal Dependencies: en_ewt-ud-train.conllu.
  const std::size_t dash = stem.rfind('-');
  if (dash == std::string::npos) return "";
  return SplitOf(fs::path(stem.substr(dash + 1)));
}

// In their order; those of `data/` too, where Hugging Face keeps them.
absl::StatusOr<std::vector<fs::path>> FilesBelow(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::path& place : {fs::path(folder), fs::path(folder) / "data"}) {
    if (!fs::is_directory(place, error)) {
      error.clear();  // there need not be one
      continue;
    }
    for (fs::directory_iterator at(place, error), end; at != end && !error;
         at.increment(error)) {
      if (at->is_regular_file(error)) files.push_back(at->path());
    }
  }
  if (error) {
    return MakeError(ErrorId::kTrainerFile,
                     absl::StrCat(folder, ": ", error.message()),
                     "check the path and its permissions");
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::Status SavedToDisk(const std::string& folder) {
  return MakeError(
      ErrorId::kTrainerUnsupported,
      absl::StrCat(folder,
                   " was written by save_to_disk, as Arrow files, which are "
                   "not read here"),
      absl::StrCat("write rows: python -c \"import datasets; d = "
                   "datasets.load_from_disk('",
                   folder, "'); [d[s].to_json('", folder,
                   "/' + s + '.jsonl') for s in d]\""));
}

bool IsSavedToDisk(const std::string& folder) {
  std::error_code ignored;
  return fs::exists(folder + "/dataset_dict.json", ignored) ||
         fs::exists(folder + "/state.json", ignored);
}

absl::Status TwoFiles(const std::string& split, const std::string& first,
                      const std::string& second) {
  const std::string ending = fs::path(first).extension().string();
  return MakeError(
      ErrorId::kTrainerUnsupported,
      absl::StrCat("the split ", split, " is in several files, ", first,
                   " and ", second),
      ending == ".jsonl"
          ? absl::StrCat("make one of them: cat ",
                         fs::path(first).parent_path().string(), "/", split,
                         "-*.jsonl >", split, ".jsonl, and name that file")
          : "make one of them, and name that file");
}

absl::StatusOr<Files> SplitsBelow(const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> files, FilesBelow(folder));
  Files splits;
  std::optional<absl::Status> refused;  // of a file that is no table
  std::string other;
  for (const fs::path& file : files) {
    const std::string split = SplitOf(file);
    if (split.empty()) continue;
    if (FormatOfName(file.string()).empty()) {
      if (!refused) refused = NoTable(file.string());
      continue;
    }
    const auto [known, is_new] = splits.emplace(split, file.string());
    if (!is_new) return TwoFiles(split, known->second, file.string());
  }
  if (splits.contains("train")) return splits;
  if (IsSavedToDisk(folder)) return SavedToDisk(folder);
  if (refused) return *refused;
  return MakeError(
      ErrorId::kTrainerFile,
      absl::StrCat(folder, " has no file of the split train"),
      "call it train.csv, train.tsv, train.jsonl or train.conllu, or name a "
      "file instead of the folder");
}

}  // namespace

absl::StatusOr<Files> FindSplitFiles(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return SplitsBelow(path);
  if (fs::exists(path, error)) return Files{{"train", path}};
  return MakeError(ErrorId::kTrainerFile,
                   absl::StrCat(path, ": there is no such file or folder"),
                   "check the path");
}

}  // namespace frostline::registry
