// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/registry.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/file.h"
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

// What the file itself says wrong is a mistake in the file, whatever kind of
// mistake its reader calls it.
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

}  // namespace frostline::registry
