// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/registry.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/plain/file.h"
#include "base/plain/text.h"
#include "worker/registry/check.h"
#include "worker/trainer/data/input_file.h"
#include "worker/trainer/data/limits.h"

namespace frostline::registry {
namespace {

namespace fs = std::filesystem;

ErrorId EntryIdOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kUnreadable:
      return ErrorId::kTrainerFile;
    case FaultKind::kSyntax:
      return ErrorId::kTrainerSyntax;
    case FaultKind::kTooLarge:
      return ErrorId::kTrainerLimit;
    case FaultKind::kUnsupported:
      return ErrorId::kTrainerUnsupported;
    case FaultKind::kInconsistent:
      return ErrorId::kTrainerMismatch;
    case FaultKind::kMisuse:
      return ErrorId::kTrainerMisuse;
    case FaultKind::kOutOfMemory:
      return ErrorId::kTrainerMemory;
    case FaultKind::kInternal:
    case FaultKind::kStopped:
      break;
  }
  return ErrorId::kInternal;
}

// Returns the error for a mistake in the file, whatever kind of fault its
// reader calls it.
absl::Status Malformed(const Fault& fault) {
  return MakeError(ErrorId::kTrainerSyntax, fault.cause, fault.fix);
}

template <typename Entries>
absl::StatusOr<Entries> ReadEntries(
    const std::string& path,
    Expected<Entries> (*parse)(std::string_view, const std::string&)) {
  std::error_code error;
  if (!fs::exists(path, error) && !error) return Entries();
  const Expected<std::string> yaml =
      ReadWholeFile(path, trainer::kMaxRegistryBytes);
  if (!yaml.ok()) return ErrorOf(yaml.fault());
  Expected<Entries> entries = parse(yaml.value(), path);
  if (!entries.ok()) return Malformed(entries.fault());
  return std::move(entries).value();
}

}  // namespace

absl::Status ErrorOf(const Fault& fault, const std::string& field) {
  return MakeError(EntryIdOf(fault.kind), fault.cause, fault.fix, field);
}

absl::StatusOr<Registry> ReadRegistry(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return MakeError(ErrorId::kTrainerFile,
                     absl::StrCat("there is no folder ", folder),
                     "`frostline registry add model DIR --registry FOLDER` "
                     "makes one");
  }
  Registry registry;
  registry.folder = folder;
  ASSIGN_OR_RETURN(registry.models, ReadEntries<trainer::ModelEntries>(
                                        absl::StrCat(folder, "/", kModelsFile),
                                        trainer::ParseModels));
  ASSIGN_OR_RETURN(
      registry.data_sets,
      ReadEntries<trainer::DatasetEntries>(
          absl::StrCat(folder, "/", kDataSetsFile), trainer::ParseDatasets));
  return registry;
}

namespace {

using Kind = trainer::FileFormat::Kind;

std::string Quoted(const std::string& text) {
  return absl::StrCat(
      "\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

std::string FormatText(const trainer::FileFormat& format) {
  switch (format.kind) {
    case Kind::kTsv:
      return absl::StrCat("  format: tsv\n",
                          format.header ? "" : "  header: false\n");
    case Kind::kCsv:
      return absl::StrCat(
          "  format: csv\n",
          format.delimiter == '\t' ? "  delimiter: tab\n"
          : format.delimiter == ','
              ? ""
              : absl::StrCat("  delimiter: \"",
                             std::string(1, format.delimiter), "\"\n"),
          format.header ? "" : "  header: false\n");
    case Kind::kJsonl:
      return "  format: jsonl\n";
    case Kind::kConllu:
      break;
  }
  return "  format: conllu\n";
}

}  // namespace

std::string EntryText(const trainer::DatasetEntry& set) {
  std::string text = absl::StrCat(set.id, ":\n");
  if (set.task) absl::StrAppend(&text, "  task: ", NameOf(*set.task), "\n");
  const trainer::SplitEntry& any = set.splits.begin()->second;
  text += FormatText(any.format);
  std::string columns;
  for (const auto& [role, column] : any.columns) {
    absl::StrAppend(&columns, columns.empty() ? "" : ", ", role, ": ",
                    Quoted(column));
  }
  if (!columns.empty()) absl::StrAppend(&text, "  columns: {", columns, "}\n");
  text += "  splits:\n";
  for (const auto& [name, split] : set.splits) {
    absl::StrAppend(
        &text, "    ", name, ":\n      path: ", Quoted(split.path),
        "\n      sha256: ", split.sha256, "\n",
        split.skip_unlabelled ? "      skip_unlabelled: true\n" : "",
        split.labelled ? "" : "      labelled: false\n");
  }
  return text;
}

std::string EntryText(const trainer::ModelEntry& model) {
  std::string text =
      absl::StrCat(model.id, ":\n  path: ", Quoted(model.path), "\n");
  if (!model.shards.empty()) {
    absl::StrAppend(&text, "  weights: ", Quoted(model.weights), "\n");
  }
  absl::StrAppend(&text, "  sha256: ", model.sha256, "\n");
  if (model.shards.empty()) return text;
  text += "  shards:\n";
  for (const auto& [name, sum] : model.shards) {
    absl::StrAppend(&text, "    ", Quoted(name), ": ", sum, "\n");
  }
  return text;
}

namespace {

using EntryTexts = std::map<std::string, std::string>;  // by id

// Returns the key that begins an entry on this line, or "".
std::string KeyOf(const std::string& line) {
  const std::size_t colon = line.find(':');
  const bool begins = !line.empty() && colon != std::string::npos &&
                      line.front() != ' ' && line.front() != '#';
  if (!begins) return "";
  std::string key(Trimmed(line.substr(0, colon)));
  const bool quoted = key.size() > 1 && key.front() == key.back() &&
                      (key.front() == '"' || key.front() == '\'');
  return quoted ? key.substr(1, key.size() - 2) : key;
}

// Leaves out an entry's lines. Comments at the left margin stay.
std::string WithoutEntry(const std::string& text, const std::string& id) {
  std::string left;
  bool is_out = false;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    const std::string key = KeyOf(line);
    if (!key.empty()) is_out = key == id;
    const bool is_comment = !line.empty() && line.front() == '#';
    if (!is_out || is_comment) absl::StrAppend(&left, line, "\n");
  }
  if (!left.empty()) left.pop_back();  // behind the last line there is none
  return left;
}

// Says whether there are comments and empty lines alone.
bool IsBare(const std::string& text) {
  bool bare = true;
  ForEachLine(text, [&bare](std::string_view line) {
    const std::string_view said = Trimmed(line);
    bare = said.empty() || said.front() == '#';
    return bare;
  });
  return bare;
}

// Reads the text as the file that it is to be.
absl::StatusOr<EntryTexts> ReadTexts(const std::string& text, const char* file,
                                     const std::string& path) {
  EntryTexts texts;
  if (IsBare(text)) return texts;
  if (file == std::string_view(kModelsFile)) {
    const auto models = trainer::ParseModels(text, path);
    if (!models.ok()) return ErrorOf(models.fault());
    for (const auto& [id, model] : models.value()) texts[id] = EntryText(model);
    return texts;
  }
  const auto sets = trainer::ParseDatasets(text, path);
  if (!sets.ok()) return ErrorOf(sets.fault());
  for (const auto& [id, set] : sets.value()) texts[id] = EntryText(set);
  return texts;
}

absl::StatusOr<std::string> TakeOut(const std::string& text, const char* file,
                                    const std::string& path,
                                    const std::string& id) {
  ASSIGN_OR_RETURN(EntryTexts before, ReadTexts(text, file, path));
  before.erase(id);
  std::string left = WithoutEntry(text, id);
  const auto after = ReadTexts(left, file, path);
  if (after.ok() && *after == before) return left;
  return MakeError(ErrorId::kTrainerSyntax,
                   absl::StrCat(path, ": the lines of '", id,
                                "' cannot be told from those of others"),
                   absl::StrCat("take them out by hand, in ", path));
}

// A file without entries is malformed, so it goes with its last one.
absl::Status WriteEntries(const std::string& path, const std::string& text) {
  std::error_code error;
  if (IsBare(text)) {
    fs::remove(path, error);
    if (!error) return absl::OkStatus();
    return MakeError(ErrorId::kStoreUnwritable,
                     absl::StrCat(path, ": ", error.message()),
                     "check the permissions of its folder");
  }
  const Expected<Done> written = WriteFileAtomically(path, text);
  if (written.ok()) return absl::OkStatus();
  const Fault& fault = written.fault();
  return DiskErrorOr(
      fault.system_error, fault.cause,
      MakeError(ErrorId::kStoreUnwritable, fault.cause, fault.fix));
}

}  // namespace

absl::Status ChangeEntries(const std::string& folder, const char* file,
                           const EntryChange& change) {
  const std::string path = absl::StrCat(folder, "/", file);
  std::string text;
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    Expected<std::string> before =
        ReadWholeFile(path, trainer::kMaxRegistryBytes);
    if (!before.ok()) return ErrorOf(before.fault());
    text = std::move(before).value();
  }
  for (const std::string& id : change.taken_out) {
    ASSIGN_OR_RETURN(text, TakeOut(text, file, path, id));
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += change.added;
  RETURN_IF_ERROR(ReadTexts(text, file, path).status());
  return WriteEntries(path, text);
}

Expected<std::vector<StockEntry>> StockOfModels(std::string_view yaml) {
  ASSIGN_OR_FAULT(const auto models, trainer::ParseModels(yaml, kModelsFile));
  std::vector<StockEntry> entries;
  for (const auto& [id, model] : models) {
    const std::string folder = model.path + "/";
    StockEntry entry{id, model.sha256, model.path, {}};
    entry.files.push_back({folder + model.weights, model.sha256});
    entry.files.push_back({folder + "config.json", ""});
    for (const auto& [shard, sum] : model.shards) {
      entry.files.push_back({folder + shard, sum});
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Expected<std::vector<StockEntry>> StockOfDataSets(std::string_view yaml) {
  ASSIGN_OR_FAULT(const auto sets, trainer::ParseDatasets(yaml, kDataSetsFile));
  std::vector<StockEntry> entries;
  for (const auto& [id, set] : sets) {
    StockEntry entry{id, "", "", {}};
    const auto train = set.splits.find("train");
    if (train != set.splits.end()) {
      entry.sha256 = train->second.sha256;
      entry.files.push_back({train->second.path, train->second.sha256});
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

namespace {

// Returns a text that differs after the file has changed. The change time is
// part of it, as a program can set the modification time back.
std::string StampOf(const struct stat& info) {
  return absl::StrCat(info.st_dev, ".", info.st_ino, ".", info.st_size, ".",
                      info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec, ".",
                      info.st_ctim.tv_sec, ".", info.st_ctim.tv_nsec);
}

}  // namespace

void KnownSums::AllowToRead(std::uint64_t bytes) {
  left_ = bytes;
  has_read_ = false;
}

KnownSums::Answer KnownSums::Judge(const StockFile& file) {
  if (file.sha256.empty()) return Answer::kRight;
  Expected<trainer::DataRoot> root = trainer::DataRoot::Open(folder_);
  if (!root.ok()) return Answer::kUnknown;
  Expected<trainer::InputFile> opened = root.value().OpenFile(file.path);
  if (!opened.ok()) return Answer::kUnknown;
  struct stat info{};
  if (fstat(opened.value().fd(), &info) != 0) return Answer::kUnknown;
  const std::string stamp = StampOf(info);
  Sum& known = sums_[file.path];
  if (known.stamp != stamp) {
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (has_read_ && size > left_) return Answer::kLater;
    Expected<std::string> sum = opened.value().Sha256();
    if (!sum.ok()) return Answer::kUnknown;
    has_read_ = true;
    left_ -= std::min(left_, size);
    ++computed_;
    known = {stamp, std::move(sum).value()};
  }
  return known.sha256 == file.sha256 ? Answer::kRight : Answer::kWrong;
}

}  // namespace frostline::registry
