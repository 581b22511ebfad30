// SPDX-License-Identifier: Apache-2.0
//
// What verbs about registries have in common, and a study held against one.
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/status_macros.h"
#include "cli/commands/registry.h"

namespace frostline::cli {
namespace {

constexpr char kVariable[] = "FROSTLINE_REGISTRY";
constexpr char kUsual[] = "registry";

std::string UsualFolder() {
  const char* const named = std::getenv(kVariable);
  return named == nullptr || *named == '\0' ? kUsual : named;
}

// Returns nothing where nobody named a folder and the usual one is not there.
absl::StatusOr<std::optional<registry::Registry>> FindRegistry(
    const std::string& folder) {
  const std::string usual = folder.empty() ? UsualFolder() : folder;
  std::error_code ignored;
  const bool is_there =
      std::filesystem::exists(usual + "/" + registry::kModelsFile, ignored);
  if (folder.empty() && !is_there) return std::nullopt;
  return registry::ReadRegistry(usual);
}

std::string ExtraOf(const v1::StudySpec& spec, const std::string& key) {
  const auto& fields = spec.training().extra().fields();
  const auto found = fields.find(key);
  return found == fields.end() ? "" : found->second.string_value();
}

}  // namespace

void AddRegistryOption(CLI::App& verb, std::string& folder) {
  folder = kUsual;
  verb.add_option("--registry", folder,
                  "Folder of models.yaml and datasets.yaml")
      ->type_name("DIR")
      ->envname(kVariable)
      ->capture_default_str();
}

void AddDataFlags(CLI::App& verb, DataFlags& flags) {
  const auto column = [&verb](const char* name, std::string& value,
                              const char* help) {
    verb.add_option(name, value, help)->type_name("COL");
  };
  column("--text", flags.text, "The column of the texts; guessed");
  column("--second", flags.second, "The column of the second text of a pair");
  column("--label", flags.label, "The column of the labels; guessed");
  column("--words", flags.words, "Tagging: the column of the words");
  column("--tags", flags.tags, "Tagging: the column of the words' tags");
  verb.add_option("--task", flags.set.task,
                  "classification, regression, tagging or pair; guessed")
      ->type_name("TASK");
  verb.add_option("--validation", flags.set.validation,
                  "Rows to validate on; without it a share is held out")
      ->type_name("FILE");
  verb.add_option("--test", flags.set.test, "Rows of the split test")
      ->type_name("FILE");
  verb.add_option("--format", flags.set.hints.format,
                  "tsv, csv, jsonl or conllu; from the file's name")
      ->type_name("FORMAT");
  verb.add_option("--delimiter", flags.set.hints.delimiter,
                  "Of CSV: one character, or tab; found out")
      ->type_name("CHAR");
  verb.add_flag("--no-header", flags.no_header,
                "The first line is a row; columns go by number");
  verb.add_flag("--skip-unlabelled", flags.set.skip_unlabelled,
                "Leave out rows without a label");
}

registry::NewDataSet Taken(const DataFlags& flags) {
  registry::NewDataSet set = flags.set;
  set.hints.has_header = !flags.no_header;
  for (const auto& [role, column] :
       {std::pair("text", flags.text), std::pair("second", flags.second),
        std::pair("label", flags.label), std::pair("words", flags.words),
        std::pair("tags", flags.tags)}) {
    if (!column.empty()) set.columns[role] = column;
  }
  return set;
}

registry::StudyNeeds NeedsOf(const v1::StudySpec& spec) {
  registry::StudyNeeds needs;
  needs.model = spec.model().id();
  needs.model_sha256 = spec.model().sha256();
  needs.layers = spec.model().layers();
  needs.heads = spec.model().heads();
  needs.no_pooler = spec.model().no_pooler();
  needs.data = spec.data().id();
  needs.data_sha256 = spec.data().sha256();
  needs.task = spec.data().task();
  needs.columns = {spec.data().columns().begin(), spec.data().columns().end()};
  needs.train_split = spec.data().train_split();
  needs.validation_split = spec.data().validation_split();
  needs.stopping_metric = spec.training().early_stopping().metric();
  for (const v1::Objective& objective : spec.objectives()) {
    needs.metrics.push_back(objective.metric());
  }
  needs.also_evaluate = {spec.training().also_evaluate().begin(),
                         spec.training().also_evaluate().end()};
  return needs;
}

absl::Status CheckStudyFit(const StudyFile& study, const std::string& folder) {
  ASSIGN_OR_RETURN(const auto registry, FindRegistry(folder));
  if (!registry.has_value()) return absl::OkStatus();
  const registry::StudyNeeds needs = NeedsOf(study.spec);
  if (folder.empty() && !registry::HasAll(*registry, needs)) {
    return absl::OkStatus();
  }
  return PlaceError(registry::CheckFit(*registry, needs), study);
}

absl::StatusOr<std::optional<registry::BoundaryNeeds>> FindBoundaryNeeds(
    const v1::StudySpec& spec, const std::string& folder) {
  ASSIGN_OR_RETURN(const auto registry, FindRegistry(folder));
  registry::BoundaryUse use;
  use.study = NeedsOf(spec);
  if (!registry.has_value() || !registry::HasAll(*registry, use.study)) {
    return std::nullopt;
  }
  use.test_split = spec.data().test_split();
  use.train_rows = spec.data().train_rows();
  use.train_share = spec.data().train_share();
  use.validation_share = spec.data().validation_share();
  use.max_length = spec.training().max_length();
  use.reads_apart = ExtraOf(spec, "head") == "cosine";
  use.reads_all = use.reads_apart && ExtraOf(spec, "pooling") == "mean";
  use.evaluates_only =
      spec.freeze().prefix_dropout() == v1::FreezeSemantics::HF;
  return registry::BoundaryNeedsOf(*registry, use);
}

}  // namespace frostline::cli
