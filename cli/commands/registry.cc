// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/registry.h"

#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/view/format.h"
#include "cli/view/registry_view.h"
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

struct RegistryListArgs {
  std::string folder;
  bool fleet = false;
  Output output;
};

std::string Where(bool was_there, const std::string& folder, const char* file) {
  return absl::StrCat(was_there ? "is in " : "added to ", folder, "/", file,
                      was_there ? " already\n" : "\n");
}

absl::StatusOr<ExitCode> AddOneModel(const AddModelArgs& args) {
  ASSIGN_OR_RETURN(const registry::AddedModel added,
                   registry::AddModel(args.folder, args.model));
  std::cout << DescribeModel(added.facts) << "\n"
            << Where(added.was_there, args.folder, registry::kModelsFile);
  return kExitOk;
}

absl::StatusOr<ExitCode> AddOneDataSet(const AddDataArgs& args) {
  ASSIGN_OR_RETURN(const registry::AddedDataSet added,
                   registry::AddDataSet(args.folder, Taken(args.flags)));
  std::cout << DescribeData(added.facts)
            << "  columns: " << DescribeColumns(added) << "\n"
            << Where(added.was_there, args.folder, registry::kDataSetsFile);
  return kExitOk;
}

// Every entry is looked at, so that one call tells all that is wrong.
absl::StatusOr<ExitCode> CheckEntries(const std::string& folder) {
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
    RETURN_IF_ERROR(PrintList(
        session.terminal, output, all,
        [&workers](bool) { return StockTable(workers); }, ""));
    return kExitOk;
  }
  const std::string silent = SilentWorkers(workers);
  const Table table = FleetStockTable(workers);
  if (!for_people || !table.empty() || silent.empty()) {
    RETURN_IF_ERROR(PrintList(
        session.terminal, output, all, [&table](bool) { return table; },
        "no worker has told what it has; start one with `frostline worker "
        "--registry DIR`"));
  }
  if (for_people) std::cout << silent;
  return kExitOk;
}

absl::StatusOr<ExitCode> ListRegistry(Session& session,
                                      const RegistryListArgs& args) {
  if (args.fleet) return ListFleet(session, args.output);
  ASSIGN_OR_RETURN(const registry::Registry registry,
                   registry::ReadRegistry(args.folder));
  RETURN_IF_ERROR(PrintList(
      session.terminal, args.output, StockOf(registry),
      [&registry](bool) { return RegistryTable(registry); },
      args.folder + " is empty; `frostline registry add model DIR` fills it"));
  return kExitOk;
}

void AddAdding(CLI::App& noun, Invocation& invocation) {
  CLI::App* const add = noun.add_subcommand(
      "add", "Put a model or a data set into a registry, checked");
  add->require_subcommand(1)->fallthrough();
  const auto model = std::make_shared<AddModelArgs>();
  CLI::App* const one =
      AddVerb(*add, "model", "Add a model: its folder as transformers saves it",
              invocation, [model](Session&) { return AddOneModel(*model); });
  one->add_option("DIR", model->model.path,
                  "config.json, model.safetensors and the tokenizer's files")
      ->required();
  one->add_option("--id", model->model.id, "What studies call it; from DIR")
      ->type_name("ID");
  AddRegistryOption(*one, model->folder);
  const auto data = std::make_shared<AddDataArgs>();
  CLI::App* const set =
      AddVerb(*add, "dataset", "Add a data set: CSV, TSV, JSON lines, CoNLL-U",
              invocation, [data](Session&) { return AddOneDataSet(*data); });
  set->add_option("PATH", data->flags.set.path,
                  "A file of rows, or a folder with train.*, validation.*, "
                  "test.*")
      ->required();
  set->add_option("--id", data->flags.set.id, "What studies call it; from PATH")
      ->type_name("ID");
  AddRegistryOption(*set, data->folder);
  AddDataFlags(*set, data->flags);
}

}  // namespace

void AddRegistryCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun = app.add_subcommand(
      "registry", "A node's models and data sets: add, check, list");
  noun->require_subcommand(1)->fallthrough();
  AddAdding(*noun, invocation);
  const auto folder = std::make_shared<std::string>();
  CLI::App* const check = AddVerb(
      *noun, "check", "Find what is wrong with a registry before a trial does",
      invocation, [folder](Session&) { return CheckEntries(*folder); });
  AddRegistryOption(*check, *folder);
  const auto args = std::make_shared<RegistryListArgs>();
  CLI::App* const list = AddVerb(
      *noun, "list", "List what is in a registry", invocation,
      [args](Session& session) { return ListRegistry(session, *args); });
  AddRegistryOption(*list, args->folder);
  list->add_flag("--fleet", args->fleet,
                 "What the coordinator's workers have, and who has what");
  AddListFormats(list, args->output);
}

}  // namespace frostline::cli
