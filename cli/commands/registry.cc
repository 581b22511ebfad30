// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/registry.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/commands/hub.h"
#include "cli/view/format.h"
#include "cli/view/registry_view.h"
#include "proto/wire_error.h"
#include "worker/registry/check.h"

namespace frostline::cli {
namespace {

struct AddModelArgs {
  std::string folder;
  registry::NewModel model;
};

struct AddDataArgs {
  std::string folder;
  DataFlags flags;
};

struct RemoveArgs {
  std::string folder;
  std::string id;
};

struct RegistryListArgs {
  std::string folder;
  bool fleet = false;
  Output output;
};

std::string Where(bool was_there, const std::string& folder, const char* file) {
  return absl::StrCat(was_there ? "is in " : "added to ", folder, "/", file,
                      was_there ? " already\n" : "\n");
}

absl::StatusOr<ExitCode> AddOneModel(Session& /*session*/,
                                     const AddModelArgs& args) {
  ASSIGN_OR_RETURN(const registry::AddedModel added,
                   registry::AddModel(args.folder, args.model));
  std::cout << DescribeModel(added.facts) << "\n"
            << Where(added.was_there, args.folder, registry::kModelsFile);
  return kExitOk;
}

absl::StatusOr<ExitCode> AddOneDataSet(Session& /*session*/,
                                       const AddDataArgs& args) {
  ASSIGN_OR_RETURN(const registry::AddedDataSet added,
                   registry::AddDataSet(args.folder, Taken(args.flags)));
  std::cout << DescribeData(added.facts)
            << "  columns: " << DescribeColumns(added) << "\n"
            << DataWarnings(added.facts)
            << Where(added.was_there, args.folder, registry::kDataSetsFile);
  return kExitOk;
}

// Says what stays: a worker may read it, and it may be the user's own file.
ExitCode TellRemoved(const RemoveArgs& args, const char* file,
                     const std::vector<std::string>& left) {
  std::cout << args.id << " is no more in " << args.folder << "/" << file
            << "\n";
  std::string command = "rm -r";
  for (const std::string& path : left) {
    absl::StrAppend(&command, " ", args.folder, "/", path);
  }
  std::cout << "its files stay; without them: " << command << "\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> RemoveOneModel(Session& /*session*/,
                                        const RemoveArgs& args) {
  ASSIGN_OR_RETURN(const auto left,
                   registry::RemoveModel(args.folder, args.id));
  return TellRemoved(args, registry::kModelsFile, left);
}

absl::StatusOr<ExitCode> RemoveOneDataSet(Session& /*session*/,
                                          const RemoveArgs& args) {
  ASSIGN_OR_RETURN(const auto left,
                   registry::RemoveDataSet(args.folder, args.id));
  return TellRemoved(args, registry::kDataSetsFile, left);
}

// Checks every entry, so that one call reports all mistakes.
absl::StatusOr<ExitCode> CheckEntries(Session& /*session*/,
                                      const std::string& folder) {
  ASSIGN_OR_RETURN(const registry::Registry registry,
                   registry::ReadRegistry(folder));
  int wrong = 0;
  const auto tell = [&wrong](const std::string& what,
                             const absl::Status& status) {
    ++wrong;
    std::cout << what << " is wrong\n" << std::flush;
    std::cerr << DescribeError(status) << "\n";
  };
  for (const auto& [id, model] : registry.models) {
    const auto facts = registry::CheckModel(registry, id);
    if (!facts.ok()) tell("model " + id, facts.status());
    if (facts.ok()) std::cout << "model " << DescribeModel(*facts) << "\n";
  }
  for (const auto& [id, set] : registry.data_sets) {
    const auto facts = registry::CheckDataSet(registry, id);
    if (!facts.ok()) tell("data set " + id, facts.status());
    if (facts.ok()) std::cout << "data set " << DescribeData(*facts);
  }
  const std::size_t all = registry.models.size() + registry.data_sets.size();
  std::cout << (wrong == 0 ? absl::StrCat("all ", all, " entries of ", folder,
                                          " are right\n")
                           : absl::StrCat(wrong, " of ", all, " entries of ",
                                          folder, " are wrong\n"));
  return wrong == 0 ? kExitOk : kExitInvalidFile;
}

absl::StatusOr<ExitCode> ListFleet(Session& session, const Output& output) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::ListWorkersReply all, FetchWorkers(*client));
  // Programs get the workers, people what those have.
  const std::vector<v1::Worker> workers(all.workers().begin(),
                                        all.workers().end());
  const bool for_people =
      output.format == Format::kTable || output.format == Format::kWide;
  if (!for_people && output.format != Format::kCsv) {
    return PrintList(
        session.terminal, output, all,
        [&workers](bool) { return StockTable(workers); }, "");
  }
  const std::string silent = SilentWorkers(workers);
  const Table table = FleetStockTable(workers);
  if (!for_people || !table.empty() || silent.empty()) {
    RETURN_IF_ERROR(
        PrintList(
            session.terminal, output, all, [&table](bool) { return table; },
            "no worker has told what it has; start one with `frostline worker "
            "--registry DIR`")
            .status());
  }
  if (for_people) std::cout << silent;
  return kExitOk;
}

absl::StatusOr<ExitCode> ListRegistry(Session& session,
                                      const RegistryListArgs& args) {
  if (args.fleet) return ListFleet(session, args.output);
  ASSIGN_OR_RETURN(const registry::Registry registry,
                   registry::ReadRegistry(args.folder));
  return PrintList(
      session.terminal, args.output, StockOf(registry),
      [&registry](bool) { return RegistryTable(registry); },
      args.folder + " is empty; `frostline registry add model DIR` fills it");
}

void AddAdding(CLI::App& noun, Invocation& invocation) {
  CLI::App* const add = AddNoun(
      noun, "add", "Put a model or a data set into a registry, checked");
  AddFromHub(*add, invocation);
  const auto [one, model] =
      AddVerb(*add, "model", "Add a model: its folder as transformers saves it",
              invocation, AddOneModel);
  one->add_option("DIR", model->model.path,
                  "config.json, model.safetensors and the tokenizer's files")
      ->required();
  one->add_option("--id", model->model.id, "What studies call it; from DIR")
      ->type_name("ID");
  one->add_flag("--replace", model->model.replace,
                "Instead of another model of this id");
  AddRegistryOption(*one, model->folder);
  const auto [set, data] =
      AddVerb(*add, "dataset", "Add a data set: CSV, TSV, JSON lines, CoNLL-U",
              invocation, AddOneDataSet);
  set->add_option("PATH", data->flags.set.path,
                  "A file of rows, or a folder with train.*, validation.*, "
                  "test.*")
      ->required();
  set->add_option("--id", data->flags.set.id, "What studies call it; from PATH")
      ->type_name("ID");
  AddRegistryOption(*set, data->folder);
  AddDataFlags(*set, data->flags);
}

void AddRemoving(CLI::App& noun, Invocation& invocation) {
  CLI::App* const remove =
      AddNoun(noun, "remove", "Take a model or a data set out of a registry");
  const auto [one, model] =
      AddVerb(*remove, "model", "Take a model out; its files stay", invocation,
              RemoveOneModel);
  const auto [set, data] =
      AddVerb(*remove, "dataset", "Take a data set out; its files stay",
              invocation, RemoveOneDataSet);
  one->add_option("ID", model->id, "As `registry list` shows it")->required();
  set->add_option("ID", data->id, "As `registry list` shows it")->required();
  AddRegistryOption(*one, model->folder);
  AddRegistryOption(*set, data->folder);
}

}  // namespace

void AddRegistryCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun = AddNoun(
      app, "registry", "A node's models and data sets: add, check, list");
  AddAdding(*noun, invocation);
  AddRemoving(*noun, invocation);
  const auto [check, folder] = AddVerb(
      *noun, "check", "Find what is wrong with a registry before a trial does",
      invocation, CheckEntries);
  AddRegistryOption(*check, *folder);
  const auto [list, args] = AddVerb(*noun, "list", "List what is in a registry",
                                    invocation, ListRegistry);
  AddRegistryOption(*list, args->folder);
  list->add_flag("--fleet", args->fleet,
                 "What the coordinator's workers have, and who has what");
  AddListFormats(list, args->output);
}

// Shared parts of the verbs about registries, and the check of a study.

namespace {

constexpr char kVariable[] = "FROSTLINE_REGISTRY";
constexpr char kUsualRegistry[] = "registry";

std::string UsualFolder() {
  const char* const named = std::getenv(kVariable);
  return named == nullptr || *named == '\0' ? kUsualRegistry : named;
}

// Returns the needs of one task of a study with several tasks.
registry::StudyNeeds NeedsOfTask(const registry::StudyNeeds& study,
                                 const v1::TaskSpec& task, int index) {
  registry::StudyNeeds needs = study;
  const v1::DataRef& data = task.data();
  needs.data_field = absl::StrCat("tasks[", index, "].data");
  needs.data = data.id();
  needs.data_sha256 = data.sha256();
  needs.task = data.task();
  needs.columns = {data.columns().begin(), data.columns().end()};
  needs.train_split = data.train_split();
  needs.validation_split = data.validation_split();
  const auto of_task = [&task](const std::string& metric) {
    const std::string prefix = task.name() + ".";
    return absl::StartsWith(metric, prefix) ? metric.substr(prefix.size()) : "";
  };
  for (std::string& metric : needs.metrics) metric = of_task(metric);
  needs.stopping_metric = of_task(needs.stopping_metric);
  return needs;
}

// Returns the needs of the study, or of each of its tasks.
std::vector<registry::StudyNeeds> AllNeedsOf(const v1::StudySpec& spec) {
  const registry::StudyNeeds whole = NeedsOf(spec);
  if (spec.tasks().empty()) return {whole};
  std::vector<registry::StudyNeeds> all;
  for (int i = 0; i < spec.tasks_size(); ++i) {
    all.push_back(NeedsOfTask(whole, spec.tasks(i), i));
  }
  return all;
}

std::string ExtraOf(const v1::StudySpec& spec, const std::string& key) {
  const auto& fields = spec.training().extra().fields();
  const auto found = fields.find(key);
  return found == fields.end() ? "" : found->second.string_value();
}

}  // namespace

absl::StatusOr<std::optional<registry::Registry>> FindRegistry(
    const std::string& folder) {
  const std::string usual = folder.empty() ? UsualFolder() : folder;
  std::error_code ignored;
  const bool is_there =
      std::filesystem::exists(usual + "/" + registry::kModelsFile, ignored);
  if (folder.empty() && !is_there) return std::nullopt;
  return registry::ReadRegistry(usual);
}

void AddRegistryOption(CLI::App& verb, std::string& folder) {
  folder = kUsualRegistry;
  verb.add_option("--registry", folder,
                  "Folder of models.yaml and datasets.yaml")
      ->type_name("DIR")
      ->envname(kVariable)
      ->capture_default_str();
}

void AddColumnFlags(CLI::App& verb, ColumnFlags& flags) {
  const auto column = [&verb](const char* name, std::string& value,
                              const char* help) {
    verb.add_option(name, value, help)->type_name("COL");
  };
  column("--text", flags.text, "The column of the texts; guessed");
  column("--second", flags.second, "The column of the second text of a pair");
  column("--label", flags.label, "The column of the labels; guessed");
  column("--words", flags.words, "Tagging: the column of the words");
  column("--tags", flags.tags, "Tagging: the column of the words' tags");
  verb.add_option("--format", flags.hints.format,
                  "tsv, csv, jsonl or conllu; from the file's name")
      ->type_name("FORMAT");
  verb.add_option("--delimiter", flags.hints.delimiter,
                  "Of CSV: one character, or tab; found out")
      ->type_name("CHAR");
  CLI::Option* const no_header =
      verb.add_flag("--no-header", flags.no_header,
                    "The first line is a row; columns go by number");
  verb.add_flag("--header", flags.header,
                "The first line names the columns; found out")
      ->excludes(no_header);
}

trainer::ColumnMap ColumnsOf(const ColumnFlags& flags) {
  trainer::ColumnMap columns;
  for (const auto& [role, column] :
       {std::pair("text", flags.text), std::pair("second", flags.second),
        std::pair("label", flags.label), std::pair("words", flags.words),
        std::pair("tags", flags.tags)}) {
    if (!column.empty()) columns[role] = column;
  }
  return columns;
}

registry::TableHints HintsOf(const ColumnFlags& flags) {
  registry::TableHints hints = flags.hints;
  if (flags.header || flags.no_header) hints.has_header = flags.header;
  return hints;
}

void AddDataFlags(CLI::App& verb, DataFlags& flags) {
  AddColumnFlags(verb, flags.table);
  verb.add_option("--task", flags.set.task,
                  "classification, regression, tagging, pair, answers or "
                  "choices; guessed")
      ->type_name("TASK");
  verb.add_option("--validation", flags.set.validation,
                  "Rows to validate on; without it a share is held out")
      ->type_name("FILE");
  verb.add_option("--test", flags.set.test, "Rows of the split test")
      ->type_name("FILE");
  verb.add_flag("--skip-unlabelled", flags.set.skip_unlabelled,
                "Leave out rows without a label");
  verb.add_flag("--replace", flags.set.replace,
                "Instead of another data set of this id");
}

registry::NewDataSet Taken(const DataFlags& flags) {
  registry::NewDataSet set = flags.set;
  set.hints = HintsOf(flags.table);
  set.columns = ColumnsOf(flags.table);
  return set;
}

registry::StudyNeeds NeedsOf(const v1::StudySpec& spec) {
  registry::StudyNeeds needs;
  needs.model = spec.model().id();
  needs.model_sha256 = spec.model().sha256();
  needs.layers = spec.model().layers();
  needs.heads = spec.model().heads();
  needs.no_pooler = spec.model().no_pooler();
  needs.max_length = spec.training().max_length();
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
  const auto all = AllNeedsOf(study.spec);
  const bool has_all = std::ranges::all_of(all, [&](const auto& needs) {
    return registry::HasAll(*registry, needs);
  });
  if (folder.empty() && !has_all) return absl::OkStatus();
  return CheckStudyFit(study, *registry);
}

absl::Status CheckStudyFit(const StudyFile& study,
                           const registry::Registry& registry) {
  for (const registry::StudyNeeds& needs : AllNeedsOf(study.spec)) {
    RETURN_IF_ERROR(PlaceError(registry::CheckFit(registry, needs), study));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<registry::BoundaryNeeds>> FindBoundaryNeeds(
    const v1::StudySpec& spec, const std::string& folder) {
  ASSIGN_OR_RETURN(const auto registry, FindRegistry(folder));
  if (!spec.tasks().empty()) return std::nullopt;  // of one data set alone
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
  // What "auto" stands for depends on the node, which may keep them in fp32.
  use.number_bytes = spec.training().precision() == "bf16" ? 2 : 4;
  const v1::HeadSpec& head = spec.training().head();
  const bool as_before = ExtraOf(spec, "head") == "cosine";
  const bool compares =
      !head.kind().empty() && head.kind() != "linear" && head.kind() != "mlp";
  use.reads_apart = as_before || compares || head.pair() == "apart";
  use.reads_all = (as_before && ExtraOf(spec, "pooling") == "mean") ||
                  head.pooling() == "mean" || head.pooling() == "max";
  use.evaluates_only =
      spec.freeze().prefix_dropout() == v1::FreezeSemantics::HF;
  return registry::BoundaryNeedsOf(*registry, use);
}

namespace {

// Returns the registry on this machine that study files are checked against, if
// any.
std::string RegistryHere() {
  const auto registry = FindRegistry("");
  const bool is_here = registry.ok() && registry->has_value();
  return is_here ? (*registry)->folder : "DIR";
}

}  // namespace

std::string IdleFix(const v1::ExplainStudyReply::Reason& reason,
                    const std::string& address) {
  if (reason.code() == "NO_WORKERS") {
    return absl::StrCat("start one: frostline worker --connect ", address,
                        " --registry ", RegistryHere());
  }
  return proto::CleanText(reason.fix(), proto::kMaxCauseBytes);
}

}  // namespace frostline::cli
