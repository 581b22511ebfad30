// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/add.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/plain/descriptor.h"
#include "base/plain/file.h"
#include "base/plain/json.h"
#include "worker/registry/guess.h"
#include "worker/registry/registry.h"
#include "worker/trainer/data/input_file.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/model/limits.h"
#include "worker/trainer/model/safetensors.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::registry {
namespace {

namespace fs = std::filesystem;

absl::Status CannotWrite(const fs::path& path, const std::error_code& error) {
  return MakeError(ErrorId::kStoreUnwritable,
                   absl::StrCat(path.string(), ": ", error.message()),
                   "name a folder that can be written and has room: "
                   "--registry DIR");
}

}  // namespace

absl::StatusOr<Placing> Placing::Into(const std::string& folder) {
  std::error_code error;
  const bool is_new = !fs::exists(folder, error);
  fs::create_directories(folder, error);
  if (error) return CannotWrite(folder, error);
  const std::string whole = fs::canonical(folder, error).string();
  const int lock = open(whole.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (error || lock < 0) {
    return CannotWrite(folder, std::error_code(errno, std::generic_category()));
  }
  Placing placing(whole, lock);  // closing it unlocks
  if (!TakeLock(lock, LockKind::kAlone, LockWait::kAwait)) {
    return CannotWrite(folder, std::error_code(errno, std::generic_category()));
  }
  if (is_new) placing.made_.emplace_back(placing.folder_);
  return placing;
}

Placing::Placing(Placing&& other) noexcept
    : folder_(std::move(other.folder_)),
      lock_(std::exchange(other.lock_, -1)),
      made_(std::exchange(other.made_, {})) {}

Placing::~Placing() {
  std::error_code ignored;  // what cannot be removed stays, and does no harm
  std::reverse(made_.begin(), made_.end());
  for (const fs::path& path : made_) fs::remove(path, ignored);
  if (lock_ >= 0) close(lock_);
}

std::string Placing::Below(const std::string& path) const {
  std::error_code error;
  const fs::path whole = fs::canonical(path, error);
  if (error) return "";
  const fs::path relative = whole.lexically_relative(folder_);
  if (relative.empty() || *relative.begin() == "..") return "";
  return relative.string();
}

absl::StatusOr<fs::path> Placing::Prepare(const std::string& to) {
  fs::path at = folder_;
  std::error_code error;
  for (const fs::path& part : fs::path(to).parent_path()) {
    at /= part;
    if (fs::create_directory(at, error)) made_.push_back(at);
    if (error) return CannotWrite(at, error);
  }
  at = fs::path(folder_) / to;
  if (fs::exists(at, error)) {
    return MakeError(ErrorId::kStoreUnwritable,
                     absl::StrCat(at.string(), " is there already"),
                     "give another --id, or remove it");
  }
  made_.push_back(at);
  return at;
}

absl::Status Placing::Copy(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const fs::path target, Prepare(to));
  std::error_code error;
  fs::copy_file(from, target, error);
  return error ? CannotWrite(target, error) : absl::OkStatus();
}

absl::Status Placing::Link(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const fs::path target, Prepare(to));
  std::error_code error;
  // A hard link to a symbolic link would lead out of the folder.
  fs::create_hard_link(fs::canonical(from, error), target, error);
  if (!error) return absl::OkStatus();
  fs::copy_file(from, target, error);
  return error ? CannotWrite(target, error) : absl::OkStatus();
}

namespace {

using Files = std::map<std::string, std::string>;

// Returns the split that a file belongs to: "validation" for
// "validation-00000-of-00001".
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
  // As Universal Dependencies name files: en_ewt-ud-train.conllu.
  const std::size_t dash = stem.rfind('-');
  if (dash == std::string::npos) return "";
  return SplitOf(fs::path(stem.substr(dash + 1)));
}

// Returns the files, sorted, with those of `data/`, where Hugging Face keeps
// them.
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
                   "check the path; one of the Hub is fetched and added with "
                   "`frostline registry add --data NAME`");
}

namespace {

using trainer::DatasetEntry;
using trainer::SplitEntry;

constexpr char kTrain[] = "train";
constexpr std::size_t kSumInName = 8;  // hexadecimal digits

absl::StatusOr<std::string> IdOf(const std::string& given,
                                 const std::string& path) {
  std::string id = given.empty() ? IdFromPath(path) : given;
  if (trainer::IsRegistryId(id)) return id;
  return MakeError(
      ErrorId::kRequestInvalid,
      given.empty() ? absl::StrCat("of ", path, " no id can be made")
                    : absl::StrCat("--id is '", given, "'"),
      "give one of 1 to 64 of a-z 0-9 . _ -, first a letter or digit: --id ID");
}

absl::Status IsTaken(const std::string& folder, const char* what,
                     const std::string& id) {
  return MakeError(
      ErrorId::kTrainerMismatch,
      absl::StrCat(folder, " has another ", what, " '", id, "' already"),
      "give this one another id with --id, or put it in that one's place with "
      "--replace");
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

// Looks at a file of another split. Its first line is what that of `train` is.
absl::StatusOr<TableLook> LookAtSplit(const std::string& file, TableHints hints,
                                      const TableLook& train,
                                      const std::string& train_file) {
  const auto own = LookAtTable(file, hints);
  if (own.ok() && train.is_delimited &&
      own->format.header != train.format.header) {
    return MakeError(
        ErrorId::kTrainerMismatch,
        absl::StrCat(train.format.header ? file : train_file,
                     " has no header and ",
                     train.format.header ? train_file : file, " has one"),
        "give all splits a header, or none; --header and --no-header say of "
        "all what it is");
  }
  hints.has_header = train.format.header;
  ASSIGN_OR_RETURN(TableLook look, LookAtTable(file, hints));
  if (look.format.kind == train.format.kind) return look;
  return MakeError(
      ErrorId::kTrainerMismatch,
      absl::StrCat(train_file, " and ", file, " have different formats"),
      "give all splits in one format");
}

// Describes a data set from its files. Nothing is placed yet.
absl::StatusOr<DatasetEntry> Describe(
    const NewDataSet& set, const std::string& id,
    const std::map<std::string, std::string>& files, RoleGuess* guess,
    bool* is_header_guessed) {
  const TableHints hints = WithNames(set.hints, set.columns);
  const std::string& train_file = files.at(kTrain);
  DatasetEntry entry;
  entry.id = id;
  ASSIGN_OR_RETURN(const TableLook train, LookAtTable(train_file, hints));
  ASSIGN_OR_RETURN(*guess,
                   GuessRoles(train_file, train, set.columns, set.task));
  *is_header_guessed = train.is_header_guessed;
  entry.task = guess->task;
  for (const auto& [name, file] : files) {
    SplitEntry& split = entry.splits[name];
    split.columns = guess->columns;
    split.skip_unlabelled = set.skip_unlabelled;
    ASSIGN_OR_RETURN(const TableLook look,
                     LookAtSplit(file, hints, train, train_file));
    split.format = look.format;
    // A test set is often published without its labels.
    const auto label = guess->columns.find("label");
    const bool lacks = label != guess->columns.end() && look.format.header &&
                       look.Find(label->second) == nullptr;
    if (name != "test" || !lacks) continue;
    split.labelled = false;
    split.columns.erase("label");
  }
  return entry;
}

// Gives a split's file its path. Where an earlier one lies, which something may
// still read, the path has the sum's first digits. Returns whether this very
// file lies there.
absl::StatusOr<bool> FindPlace(const Placing& placing, const std::string& stem,
                               const std::string& ending, SplitEntry& split) {
  const std::string tagged =
      absl::StrCat(stem, "-", split.sha256.substr(0, kSumInName));
  for (const std::string& name : {stem, tagged}) {
    split.path = name + ending;
    const std::string whole = absl::StrCat(placing.folder(), "/", split.path);
    std::error_code ignored;
    if (!fs::exists(whole, ignored)) return false;
    ASSIGN_OR_RETURN(const std::string sum, SumOf(whole));
    if (sum == split.sha256) return true;
  }
  return false;  // Copy() then refuses
}

absl::Status PlaceSplits(const std::map<std::string, std::string>& files,
                         Placing& placing, DatasetEntry& entry) {
  for (const auto& [name, file] : files) {
    SplitEntry& split = entry.splits.at(name);
    ASSIGN_OR_RETURN(split.sha256, SumOf(file));
    split.path = placing.Below(file);
    if (!split.path.empty()) continue;
    const std::string stem = absl::StrCat("data/", entry.id, "/", name);
    const std::string ending = fs::path(file).extension().string();
    ASSIGN_OR_RETURN(const bool is_there,
                     FindPlace(placing, stem, ending, split));
    if (!is_there) RETURN_IF_ERROR(placing.Copy(file, split.path));
  }
  return absl::OkStatus();
}

// Says whether the entry says what the person says now. Otherwise another
// column would be ignored without a word.
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

// Says whether the data set is registered with these rows. The error is for
// other rows.
absl::StatusOr<bool> IsThere(const Registry& registry, const NewDataSet& set,
                             const std::string& id,
                             const std::string& train_file) {
  const auto known = registry.data_sets.find(id);
  if (known == registry.data_sets.end()) return false;
  const auto train = known->second.splits.find(kTrain);
  ASSIGN_OR_RETURN(const std::string sum, SumOf(train_file));
  if (train == known->second.splits.end() || train->second.sha256 != sum ||
      !SaysTheSame(set, known->second)) {
    return IsTaken(registry.folder, "data set", id);
  }
  return true;
}

// Where a file or folder lies below the registry, and how a person named it.
using GivenNames = std::vector<std::pair<std::string, std::string>>;

// Names in an error what a person gave instead of its copy.
absl::Status InWordsOfUser(const absl::Status& status,
                           const std::string& folder, const GivenNames& names) {
  const auto detail = DetailOf(status);
  if (!detail) return status;
  GivenNames all;
  for (const auto& [path, name] : names) {
    all.emplace_back(absl::StrCat(folder, "/", path), name);
  }
  all.insert(all.end(), names.begin(), names.end());
  return MakeError(detail->id, absl::StrReplaceAll(status.message(), all),
                   absl::StrReplaceAll(detail->fix, all), detail->field);
}

GivenNames NamesOf(const std::map<std::string, std::string>& files,
                   const DatasetEntry& set) {
  GivenNames names;
  for (const auto& [name, file] : files) {
    const auto split = set.splits.find(name);
    if (split == set.splits.end()) continue;
    names.emplace_back(split->second.path, file);
  }
  return names;
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
  AddedDataSet added;
  ASSIGN_OR_RETURN(DatasetEntry entry,
                   Describe(set, id, files, &guess, &added.is_header_guessed));
  if (set.replace && registry_.data_sets.erase(id) > 0) {
    data_.taken_out.push_back(id);
  }
  ASSIGN_OR_RETURN(added.was_there,
                   IsThere(registry_, set, id, files.at(kTrain)));
  if (!added.was_there) {
    RETURN_IF_ERROR(PlaceSplits(files, placing_, entry));
    registry_.data_sets[id] = entry;
  }
  const auto facts = CheckDataSet(registry_, id);
  const auto& splits = registry_.data_sets.at(id).splits;
  if (!facts.ok()) {
    return InWordsOfUser(facts.status(), placing_.folder(),
                         NamesOf(files, registry_.data_sets.at(id)));
  }
  added.facts = *facts;
  added.columns = splits.at(kTrain).columns;
  added.lacks_header = !splits.at(kTrain).format.header;
  if (added.was_there) return added;
  added.guessed = guess.guessed;
  data_.added += EntryText(entry);
  return added;
}

absl::StatusOr<AddedDataSet> AddDataSet(const std::string& folder,
                                        const NewDataSet& set) {
  ASSIGN_OR_RETURN(Addition addition, Addition::To(folder));
  ASSIGN_OR_RETURN(AddedDataSet added, addition.Add(set));
  RETURN_IF_ERROR(addition.Keep());
  return added;
}

namespace {

using trainer::ModelEntry;

constexpr char kWeights[] = "model.safetensors";
constexpr char kIndex[] = "model.safetensors.index.json";

absl::StatusOr<std::string> ModelSumOf(const std::string& path) {
  Expected<trainer::InputFile> file = trainer::InputFile::Open(path);
  if (!file.ok()) return ErrorOf(file.fault());
  Expected<std::string> sum = file.value().Sha256();
  if (!sum.ok()) return ErrorOf(sum.fault());
  return std::move(sum).value();
}

// The index names a file for each tensor.
absl::Status TakeShards(const std::string& folder, ModelEntry& entry) {
  const Expected<std::string> bytes =
      ReadWholeFile(folder + "/" + kIndex, trainer::kMaxHeaderBytes);
  if (!bytes.ok()) return ErrorOf(bytes.fault());
  const Expected<Json> json = Json::Parse(bytes.value());
  if (!json.ok()) return ErrorOf(json.fault());
  const JsonValue* const map = json.value().root().Find("weight_map");
  for (const JsonValue* v = map == nullptr ? nullptr : map->first; v != nullptr;
       v = v->next) {
    std::string& sum = entry.shards[std::string(v->text)];
    if (!sum.empty()) continue;
    ASSIGN_OR_RETURN(sum, ModelSumOf(folder + "/" + std::string(v->text)));
  }
  return absl::OkStatus();
}

// Says whether this could be "owner/name" or "name" of the Hub.
bool MayBeOnHub(const std::string& path) {
  return !path.empty() &&
         absl::ascii_isalnum(static_cast<unsigned char>(path.front())) &&
         std::ranges::count(path, '/') <= 1;
}

absl::Status NoModel(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    return MakeError(
        ErrorId::kTrainerFile, absl::StrCat(path, " is no folder"),
        absl::StrCat(
            "name the folder in which transformers saved the model",
            MayBeOnHub(path)
                ? absl::StrCat("; one of the Hub is fetched and added with "
                               "`frostline registry add --model ",
                               path, "`, or fetched alone with `hf download ",
                               path, " --local-dir ", IdFromPath(path), "`")
                : ": config.json, model.safetensors, "
                  "tokenizer.json"));
  }
  return MakeError(ErrorId::kTrainerFile,
                   absl::StrCat(path, " has no config.json"),
                   "name the folder in which transformers saved the model "
                   "(save_pretrained), or that of a Hugging Face snapshot");
}

absl::StatusOr<ModelEntry> DescribeModel(const std::string& path,
                                         const std::string& id) {
  std::error_code ignored;
  if (!fs::exists(path + "/config.json", ignored)) return NoModel(path);
  ModelEntry entry;
  entry.id = id;
  entry.weights =
      fs::exists(path + "/" + kWeights, ignored) ? kWeights : kIndex;
  if (!fs::exists(path + "/" + entry.weights, ignored)) {
    const auto weights = trainer::WeightFiles::Open(path);
    if (!weights.ok()) return ErrorOf(weights.fault());
  }
  ASSIGN_OR_RETURN(entry.sha256, ModelSumOf(path + "/" + entry.weights));
  if (entry.weights == kIndex) RETURN_IF_ERROR(TakeShards(path, entry));
  return entry;
}

// Gives a model's folder its path, as FindPlace() of a split does.
absl::StatusOr<bool> FindPlace(const Placing& placing, ModelEntry& entry) {
  const std::string plain = absl::StrCat("models/", entry.id);
  for (const std::string& path :
       {plain, absl::StrCat(plain, "-", entry.sha256.substr(0, kSumInName))}) {
    entry.path = path;
    const std::string whole = absl::StrCat(placing.folder(), "/", path);
    std::error_code ignored;
    if (!fs::exists(whole, ignored)) return false;
    const auto sum = ModelSumOf(absl::StrCat(whole, "/", entry.weights));
    if (sum.ok() && *sum == entry.sha256) return true;
  }
  return false;  // Link() then refuses
}

absl::Status Place(const std::string& path, Placing& placing,
                   ModelEntry& entry) {
  entry.path = placing.Below(path);
  if (!entry.path.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool is_there, FindPlace(placing, entry));
  if (is_there) return absl::OkStatus();
  std::vector<std::string> names = trainer::TokenizerFilesOf(path);
  names.insert(names.end(), {"config.json", entry.weights});
  for (const auto& [shard, sum] : entry.shards) names.push_back(shard);
  for (const std::string& name : names) {
    RETURN_IF_ERROR(placing.Link(absl::StrCat(path, "/", name),
                                 absl::StrCat(entry.path, "/", name)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AddedModel> Addition::Add(const NewModel& model) {
  const std::string id = model.id.empty() ? IdFromPath(model.path) : model.id;
  if (!trainer::IsRegistryId(id)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("'", id, "' is no id of a model"),
                     "give one of 1 to 64 of a-z 0-9 . _ -, first a letter or "
                     "digit: --id ID");
  }
  ASSIGN_OR_RETURN(ModelEntry entry, DescribeModel(model.path, id));
  AddedModel added;
  auto known = registry_.models.find(id);
  const bool is_other =
      known != registry_.models.end() && known->second.sha256 != entry.sha256;
  if (is_other && !model.replace) return IsTaken(named_, "model", id);
  if (is_other) {
    registry_.models.erase(known);
    models_.taken_out.push_back(id);
    known = registry_.models.end();
  }
  added.was_there = known != registry_.models.end();
  if (!added.was_there) {
    RETURN_IF_ERROR(Place(model.path, placing_, entry));
    registry_.models[id] = entry;
  }
  const auto facts = CheckModel(registry_, id);
  if (!facts.ok()) {
    return InWordsOfUser(facts.status(), placing_.folder(),
                         {{registry_.models.at(id).path, model.path}});
  }
  added.facts = *facts;
  if (!added.was_there) models_.added += EntryText(entry);
  return added;
}

absl::StatusOr<AddedModel> AddModel(const std::string& folder,
                                    const NewModel& model) {
  ASSIGN_OR_RETURN(Addition addition, Addition::To(folder));
  ASSIGN_OR_RETURN(AddedModel added, addition.Add(model));
  RETURN_IF_ERROR(addition.Keep());
  return added;
}

// Entries that are added to a registry together, or not at all.

namespace {

// Returns nothing if the file is not there.
absl::StatusOr<std::optional<std::string>> TextOf(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  Expected<std::string> text = ReadWholeFile(path, trainer::kMaxRegistryBytes);
  if (!text.ok()) return ErrorOf(text.fault());
  return std::optional<std::string>(std::move(text).value());
}

// Writes the file back as it was. A failure is not told, since the error that
// led here is.
void PutBack(const std::string& path, const std::optional<std::string>& text) {
  std::error_code ignored;
  if (text.has_value()) {
    static_cast<void>(WriteFileAtomically(path, *text));
  } else {
    std::filesystem::remove(path, ignored);
  }
}

}  // namespace

Addition::Addition(std::string named, Placing placing, Registry registry)
    : named_(std::move(named)),
      placing_(std::move(placing)),
      registry_(std::move(registry)) {}

absl::StatusOr<Addition> Addition::To(const std::string& folder) {
  ASSIGN_OR_RETURN(Placing placing, Placing::Into(folder));
  ASSIGN_OR_RETURN(Registry registry, ReadRegistry(placing.folder()));
  return Addition(folder, std::move(placing), std::move(registry));
}

absl::Status Addition::Keep() {
  const std::string& folder = placing_.folder();
  const std::string data_file = absl::StrCat(folder, "/", kDataSetsFile);
  ASSIGN_OR_RETURN(const auto before, TextOf(data_file));
  if (!data_.empty()) {
    RETURN_IF_ERROR(ChangeEntries(folder, kDataSetsFile, data_));
  }
  if (!models_.empty()) {
    const absl::Status models = ChangeEntries(folder, kModelsFile, models_);
    if (!models.ok() && !data_.empty()) PutBack(data_file, before);
    RETURN_IF_ERROR(models);
  }
  placing_.Keep();
  return absl::OkStatus();
}

namespace {

template <typename Entries>
absl::Status RemoveEntry(const std::string& folder, const Entries& entries,
                         const char* file, const std::string& id) {
  if (entries.contains(id)) return ChangeEntries(folder, file, {{id}, ""});
  std::vector<std::string> ids;
  ids.reserve(entries.size());
  for (const auto& [known, entry] : entries) ids.push_back(known);
  const std::string near = Nearest(id, ids);
  return MakeError(ErrorId::kTrainerFile,
                   absl::StrCat(folder, "/", file, " has no '", id, "'"),
                   near.empty() ? "`frostline registry list` shows what it has"
                                : absl::StrCat("did you mean '", near, "'?"));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> RemoveModel(const std::string& folder,
                                                     const std::string& id) {
  RETURN_IF_ERROR(ReadRegistry(folder).status());  // makes no folder
  ASSIGN_OR_RETURN(const Placing lock, Placing::Into(folder));
  ASSIGN_OR_RETURN(const Registry registry, ReadRegistry(folder));
  RETURN_IF_ERROR(RemoveEntry(folder, registry.models, kModelsFile, id));
  return std::vector<std::string>{registry.models.at(id).path};
}

absl::StatusOr<std::vector<std::string>> RemoveDataSet(
    const std::string& folder, const std::string& id) {
  RETURN_IF_ERROR(ReadRegistry(folder).status());  // makes no folder
  ASSIGN_OR_RETURN(const Placing lock, Placing::Into(folder));
  ASSIGN_OR_RETURN(const Registry registry, ReadRegistry(folder));
  RETURN_IF_ERROR(RemoveEntry(folder, registry.data_sets, kDataSetsFile, id));
  std::vector<std::string> files;
  for (const auto& [name, split] : registry.data_sets.at(id).splits) {
    files.push_back(split.path);
  }
  return files;
}

}  // namespace frostline::registry
