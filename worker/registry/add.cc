// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/add.h"

#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "worker/registry/entry_text.h"
#include "worker/registry/split_files.h"
#include "worker/trainer/data/limits.h"

namespace frostline::registry {
namespace {

namespace fs = std::filesystem;

using trainer::DatasetEntry;
using trainer::SplitEntry;

constexpr char kTrain[] = "train";

absl::StatusOr<std::string> IdOf(const std::string& given,
                                 const std::string& path) {
  const std::string id = given.empty() ? IdFromPath(path) : given;
  if (trainer::IsRegistryId(id)) return id;
  return MakeError(
      ErrorId::kRequestInvalid,
      given.empty() ? absl::StrCat("of ", path, " no id can be made")
                    : absl::StrCat("--id is '", given, "'"),
      "give one of 1 to 64 of a-z 0-9 . _ -, first a letter or digit: --id ID");
}

absl::Status Taken(const std::string& folder, const char* what,
                   const std::string& id, const char* file) {
  return MakeError(
      ErrorId::kTrainerMismatch,
      absl::StrCat(folder, " has another ", what, " '", id, "' already"),
      absl::StrCat("give this one another id with --id, or remove that one's "
                   "lines from ",
                   folder, "/", file));
}

absl::StatusOr<std::string> SumOf(const std::string& path) {
  Expected<trainer::InputFile> file = trainer::InputFile::Open(path);
  if (!file.ok()) return ErrorOf(file.fault());
  Expected<std::string> sum = file.value().Sha256();
  if (!sum.ok()) return ErrorOf(sum.fault());
  return std::move(sum).value();
}

absl::StatusOr<std::map<std::string, std::string>> FilesOf(
    const NewDataSet& set) {
  ASSIGN_OR_RETURN(auto files, FindSplitFiles(set.path));
  for (const auto& [split, file] :
       {std::pair("validation", set.validation), std::pair("test", set.test)}) {
    if (file.empty()) continue;
    files[split] = file;
    ASSIGN_OR_RETURN(const auto found, FindSplitFiles(file));
    if (fs::is_directory(file)) {
      return MakeError(ErrorId::kRequestInvalid,
                       absl::StrCat("--", split, " is a folder: ", file),
                       "name a file");
    }
  }
  return files;
}

// The splits are those of files that are looked at, and nothing is placed yet.
absl::StatusOr<DatasetEntry> Describe(
    const NewDataSet& set, const std::string& id,
    const std::map<std::string, std::string>& files, RoleGuess* guess) {
  DatasetEntry entry;
  entry.id = id;
  ASSIGN_OR_RETURN(const TableLook train,
                   LookAtTable(files.at(kTrain), set.hints));
  ASSIGN_OR_RETURN(*guess,
                   GuessRoles(files.at(kTrain), train, set.columns, set.task));
  entry.task = guess->task;
  for (const auto& [name, file] : files) {
    SplitEntry& split = entry.splits[name];
    split.format = train.format;
    split.columns = guess->columns;
    split.skip_unlabelled = set.skip_unlabelled;
    ASSIGN_OR_RETURN(const TableLook look, LookAtTable(file, set.hints));
    if (look.format.kind != train.format.kind) {
      return MakeError(ErrorId::kTrainerMismatch,
                       absl::StrCat(files.at(kTrain), " and ", file,
                                    " have different formats"),
                       "give all splits in one format");
    }
    split.format = look.format;
    // A test set is often published without its labels.
    const auto label = guess->columns.find("label");
    const bool lacks = label != guess->columns.end() && set.hints.has_header &&
                       look.Find(label->second) == nullptr;
    if (name != "test" || !lacks) continue;
    split.labelled = false;
    split.columns.erase("label");
  }
  return entry;
}

absl::Status PlaceSplits(const std::map<std::string, std::string>& files,
                         Placing& placing, DatasetEntry& entry) {
  for (const auto& [name, file] : files) {
    SplitEntry& split = entry.splits.at(name);
    ASSIGN_OR_RETURN(split.sha256, SumOf(file));
    split.path = placing.Below(file);
    if (!split.path.empty()) continue;
    split.path = absl::StrCat("data/", entry.id, "/", name,
                              fs::path(file).extension().string());
    RETURN_IF_ERROR(placing.Copy(file, split.path));
  }
  return absl::OkStatus();
}

// What a person says now may not be what the entry says: another column would
// be silently passed over.
bool SaysTheSame(const NewDataSet& set, const DatasetEntry& known) {
  const trainer::ColumnMap& columns = known.splits.at(kTrain).columns;
  for (const auto& [role, column] : set.columns) {
    const auto found = columns.find(role);
    if ((found == columns.end() ? role : found->second) != column) return false;
  }
  return (set.task.empty() || set.task == NameOf(TaskOfSet(known))) &&
         (set.validation.empty() || known.splits.contains("validation")) &&
         (set.test.empty() || known.splits.contains("test"));
}

// With these rows, or others.
absl::StatusOr<bool> IsThere(const Registry& registry, const NewDataSet& set,
                             const std::string& id,
                             const std::string& train_file) {
  const auto known = registry.data_sets.find(id);
  if (known == registry.data_sets.end()) return false;
  const auto train = known->second.splits.find(kTrain);
  ASSIGN_OR_RETURN(const std::string sum, SumOf(train_file));
  if (train == known->second.splits.end() || train->second.sha256 != sum ||
      !SaysTheSame(set, known->second)) {
    return Taken(registry.folder, "data set", id, kDataSetsFile);
  }
  return true;
}

}  // namespace

std::string IdFromPath(const std::string& path) {
  std::error_code error;
  fs::path whole = fs::weakly_canonical(path, error);
  if (error) whole = path;
  fs::path name =
      fs::is_directory(whole, error) ? whole.filename() : whole.stem();
  if (name == "model" || name == "data") name = whole.parent_path().filename();
  std::string id;
  for (const char c : absl::AsciiStrToLower(name.string())) {
    const bool fits = absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                      c == '.' || c == '_' || c == '-';
    if (fits || (!id.empty() && id.back() != '-')) id += fits ? c : '-';
  }
  while (!id.empty() &&
         !absl::ascii_isalnum(static_cast<unsigned char>(id.front()))) {
    id.erase(0, 1);
  }
  id = id.substr(0, trainer::kMaxIdBytes);
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id;
}

absl::StatusOr<AddedDataSet> Addition::Add(const NewDataSet& set) {
  ASSIGN_OR_RETURN(const auto files, FilesOf(set));
  ASSIGN_OR_RETURN(const std::string id, IdOf(set.id, set.path));
  RoleGuess guess;
  ASSIGN_OR_RETURN(DatasetEntry entry, Describe(set, id, files, &guess));
  AddedDataSet added;
  ASSIGN_OR_RETURN(added.was_there,
                   IsThere(registry_, set, id, files.at(kTrain)));
  if (!added.was_there) {
    RETURN_IF_ERROR(PlaceSplits(files, placing_, entry));
    registry_.data_sets[id] = entry;
  }
  ASSIGN_OR_RETURN(added.facts, CheckDataSet(registry_, id));
  added.columns = registry_.data_sets.at(id).splits.at(kTrain).columns;
  if (added.was_there) return added;
  added.guessed = guess.guessed;
  data_entries_ += EntryText(entry);
  return added;
}

absl::StatusOr<AddedDataSet> AddDataSet(const std::string& folder,
                                        const NewDataSet& set) {
  ASSIGN_OR_RETURN(Addition addition, Addition::To(folder));
  ASSIGN_OR_RETURN(AddedDataSet added, addition.Add(set));
  RETURN_IF_ERROR(addition.Keep());
  return added;
}

}  // namespace frostline::registry
