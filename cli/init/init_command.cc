// SPDX-License-Identifier: Apache-2.0
//
// frostline init: from a person's own rows to a study that can be created.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/file.h"
#include "cli/commands/command.h"
#include "cli/commands/importance.h"
#include "cli/commands/registry.h"
#include "cli/demo/demo_registry.h"
#include "cli/study_file/study_file.h"
#include "cli/term/table.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"
#include "cli/view/registry_view.h"
#include "worker/registry/fit.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr int kMostInitTrials = 1'000'000;
constexpr std::int64_t kLeastRows = 10;

struct InitArgs {
  std::string folder;
  std::string model;
  std::string id;    // of the study
  std::string file;  // of the study
  int trials = StarterFacts().trials;
  DataFlags flags;
};

double LargestClass(const registry::DataFacts& facts) {
  double most = 0.0;
  double all = 0.0;
  for (const auto& [name, rows] : facts.classes) {
    most = std::max(most, static_cast<double>(rows));
    all += static_cast<double>(rows);
  }
  return all > 0.0 ? most / all : 0.0;
}

bool HasValidation(const registry::DataFacts& facts) {
  return std::any_of(
      facts.splits.begin(), facts.splits.end(),
      [](const auto& split) { return split.name == "validation"; });
}

absl::Status CheckRows(const InitArgs& args, const registry::DataFacts& data) {
  const std::int64_t rows = data.splits.front().rows;
  if (HasValidation(data) || rows >= kLeastRows) return absl::OkStatus();
  return MakeError(ErrorId::kTrainerMismatch,
                   absl::StrCat(args.flags.set.path, " has ", rows,
                                " rows, too few to hold some out"),
                   absl::StrCat("give ", kLeastRows,
                                " rows at least, or --validation FILE"));
}

absl::StatusOr<StarterFacts> FactsFor(const InitArgs& args,
                                      const registry::Registry& registry,
                                      const registry::ModelFacts& model,
                                      const registry::DataFacts& data) {
  StarterFacts facts;
  facts.id = args.id.empty() ? data.id : args.id;
  facts.model = model.id;
  facts.layers = model.layers;
  facts.has_pooler = model.has_pooler();
  facts.longest_text = model.longest_text;
  facts.data = data.id;
  facts.task = registry::NameOf(data.task);
  facts.rows = data.splits.front().rows;
  facts.has_validation = HasValidation(data);
  facts.largest_class = LargestClass(data);
  facts.trials = args.trials;
  ASSIGN_OR_RETURN(facts.text_tokens,
                   registry::LongTextTokens(registry, model.id, data.id));
  return facts;
}

bool WritesToStandardOutput(const InitArgs& args) {
  return !args.file.empty() && IsStandardOutput(args.file);
}

// Writes the study file. It refuses to replace a file that the user has
// changed. Returns false when the file exists with the same text.
absl::StatusOr<bool> WriteStudy(const std::string& path,
                                const std::string& text) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    const Expected<std::string> before = ReadWholeFile(path, kMaxFileBytes);
    if (before.ok() && before.value() == text) return false;
    return MakeError(ErrorId::kStudyAlreadyExists,
                     absl::StrCat(path, " is there already, and is another"),
                     "name another file, --out FILE, or remove it");
  }
  const Expected<Done> written = WriteFileAtomically(path, text);
  if (written.ok()) return true;
  const Fault& fault = written.fault();
  return DiskErrorOr(
      fault.system_error, fault.cause,
      MakeError(ErrorId::kStoreUnwritable, fault.cause, fault.fix));
}

// Writes both the study file and the registry's entries, or neither.
absl::Status KeepAll(const std::string& file, const std::string& text,
                     registry::Addition& addition) {
  ASSIGN_OR_RETURN(const bool is_new, WriteStudy(file, text));
  const absl::Status kept = addition.Keep();
  std::error_code ignored;
  if (!kept.ok() && is_new) std::filesystem::remove(file, ignored);
  return kept;
}

// Returns the next command. Importance of a small study would only say that it
// needs more trials.
const char* Question(const InitArgs& args) {
  return args.trials < kImportanceTrials ? "study best" : "importance";
}

void PrintNext(const Session& session, const InitArgs& args,
               const std::string& file, const std::string& id) {
  // A context is for people: a worker is told where to go.
  const std::string& named = session.flags.connect.empty()
                                 ? session.environment.connect
                                 : session.flags.connect;
  const bool usual = named.empty() || named == kUsualConnect;
  const std::string connect = usual ? "" : absl::StrCat(" --connect ", named);
  std::cerr << "next, with a coordinator running (frostline serve --data "
               "./frost &):\n"
            << "  frostline worker" << connect << " --registry " << args.folder
            << " --slots 2 &\n"
            << "  frostline study create " << file << connect << "\n"
            << "  frostline study watch " << id << " --until-done" << connect
            << "\n"
            << "  frostline " << Question(args) << " " << id << connect << "\n"
            << "  frostline report " << id << " -o " << id << ".html" << connect
            << "\n";
}

// Returns the named folder, else the demo's model.
absl::StatusOr<std::string> ModelFor(const InitArgs& args) {
  if (!args.model.empty()) return args.model;
  const auto found = FindDemoModel("");
  if (found.ok()) return found;
  return MakeError(ErrorId::kTrainerFile,
                   "no --model is given, and the demo's model is not there",
                   "name a folder as transformers saves a model, --model DIR, "
                   "or run ./dev setup, which fetches MiniLM (84 MB)");
}

std::string WrapLines(const std::string& text, int width) {
  std::string wrapped;
  for (const absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    wrapped += WrapText(std::string(line), width);
  }
  return wrapped;
}

// Adds data and model. The data comes first, because newcomers have it and make
// mistakes there.
absl::StatusOr<StarterFacts> AddBoth(const InitArgs& args,
                                     registry::Addition& addition, int width,
                                     std::ostream& told) {
  ASSIGN_OR_RETURN(const registry::AddedDataSet data,
                   addition.Add(Taken(args.flags)));
  RETURN_IF_ERROR(CheckRows(args, data.facts));
  ASSIGN_OR_RETURN(const std::string path, ModelFor(args));
  ASSIGN_OR_RETURN(const registry::AddedModel model,
                   addition.Add(registry::NewModel{path, ""}));
  told << "model " << DescribeModel(model.facts) << "\n"
       << "data set " << DescribeData(data.facts) << "  "
       << WrapText(absl::StrCat("columns: ", DescribeColumns(data)), width - 2)
       << WrapLines(DataWarnings(data.facts), width) << std::flush;
  return FactsFor(args, addition.registry(), model.facts, data.facts);
}

absl::StatusOr<ExitCode> InitStudy(Session& session, const InitArgs& args) {
  if (!args.id.empty()) RETURN_IF_ERROR(CheckNewName(args.id, "--study"));
  ASSIGN_OR_RETURN(registry::Addition addition,
                   registry::Addition::To(args.folder));
  const int width = session.terminal.width;
  // A study that goes to standard output is all that goes there.
  const bool is_piped = WritesToStandardOutput(args);
  std::ostream& told = is_piped ? std::cerr : std::cout;
  ASSIGN_OR_RETURN(const StarterFacts facts,
                   AddBoth(args, addition, width, told));
  const StarterStudy study = WriteStarterStudy(facts);
  const std::string file = args.file.empty() ? facts.id + ".yaml" : args.file;
  ASSIGN_OR_RETURN(const StudyFile parsed, ParseStudyFile(study.text, file));
  RETURN_IF_ERROR(CheckStudyFit(parsed, addition.registry()));
  RETURN_IF_ERROR(is_piped ? addition.Keep()
                           : KeepAll(file, study.text, addition));
  told << WrapText(
              absl::StrCat("study file ", file, ": ", facts.trials,
                           " trials, each on ", FormatCount(study.train_rows),
                           " of ", FormatCount(facts.rows), " rows, texts to ",
                           study.max_length, " tokens, by ", study.metric),
              width)
       << WrapText(WhatItCanTell(facts, study), width) << std::flush;
  if (is_piped) {
    std::cout << study.text;
    return kExitOk;
  }
  PrintNext(session, args, file, facts.id);
  return kExitOk;
}

}  // namespace

void AddInitCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      app, "init", "From data of your own to a registry and a study file",
      invocation, InitStudy);
  verb->add_option("--data", args->flags.set.path,
                   "A file of rows (CSV, TSV, JSON lines, CoNLL-U), or a "
                   "folder with train.*, validation.*, test.*")
      ->type_name("PATH")
      ->required();
  verb->add_option("--model", args->model,
                   "A folder as transformers saves a model; else MiniLM, as "
                   "./dev setup has fetched it")
      ->type_name("DIR");
  AddDataFlags(*verb, args->flags);
  verb->add_option("--id", args->flags.set.id,
                   "What studies call the data; from its path")
      ->type_name("ID");
  verb->add_option("--study", args->id, "The study's id; that of the data")
      ->type_name("ID");
  verb->add_option("--trials", args->trials, "The study's budget")
      ->type_name("N")
      ->check(CLI::Range(1, kMostInitTrials))
      ->capture_default_str();
  verb->add_option("-o,--out", args->file,
                   "The study file; ID.yaml; - is standard output")
      ->type_name("FILE");
  AddRegistryOption(*verb, args->folder);
}

}  // namespace frostline::cli
