// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/entry_text.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/plain/file.h"
#include "worker/registry/check.h"
#include "worker/trainer/data/limits.h"

namespace frostline::registry {
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

absl::Status AppendEntry(const std::string& folder, const char* file,
                         const std::string& entry) {
  const std::string path = absl::StrCat(folder, "/", file);
  std::string text;
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    Expected<std::string> before =
        ReadWholeFile(path, trainer::kMaxRegistryBytes);
    if (!before.ok()) return ErrorOf(before.fault());
    text = std::move(before).value();
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  text += entry;
  const bool models = file == std::string_view(kModelsFile);
  if (models) {
    const auto read = trainer::ParseModels(text, path);
    if (!read.ok()) return ErrorOf(read.fault());
  } else {
    const auto read = trainer::ParseDatasets(text, path);
    if (!read.ok()) return ErrorOf(read.fault());
  }
  const Expected<Done> written = WriteFileAtomically(path, text);
  if (written.ok()) return absl::OkStatus();
  const Fault& fault = written.fault();
  return DiskErrorOr(
      fault.system_error, fault.cause,
      MakeError(ErrorId::kStoreUnwritable, fault.cause, fault.fix));
}

}  // namespace frostline::registry
