// SPDX-License-Identifier: Apache-2.0
//
// Entries that come into a registry together, or not at all.
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/file.h"
#include "worker/registry/add.h"
#include "worker/registry/entry_text.h"
#include "worker/trainer/data/limits.h"

namespace frostline::registry {
namespace {

// Empty where the file is not there.
absl::StatusOr<std::optional<std::string>> TextOf(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  Expected<std::string> text = ReadWholeFile(path, trainer::kMaxRegistryBytes);
  if (!text.ok()) return ErrorOf(text.fault());
  return std::optional<std::string>(std::move(text).value());
}

// The error that made this necessary is told, so that one of this is not.
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
  if (!data_entries_.empty()) {
    RETURN_IF_ERROR(AppendEntry(folder, kDataSetsFile, data_entries_));
  }
  if (!model_entries_.empty()) {
    const absl::Status models =
        AppendEntry(folder, kModelsFile, model_entries_);
    if (!models.ok() && !data_entries_.empty()) PutBack(data_file, before);
    RETURN_IF_ERROR(models);
  }
  placing_.Keep();
  return absl::OkStatus();
}

}  // namespace frostline::registry
