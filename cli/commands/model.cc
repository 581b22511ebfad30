// SPDX-License-Identifier: Apache-2.0
//
// `frostline model`: what trials leave on their workers.
#include "cli/commands/model.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/plain/file.h"
#include "base/plain/json.h"
#include "base/plain/sums.h"
#include "cli/commands/command.h"
#include "cli/commands/registry.h"
#include "cli/process/child_process.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"
#include "cli/view/message_text.h"
#include "cli/view/outcomes_view.h"
#include "cli/view/registry_view.h"
#include "cli/view/trial_view.h"
#include "worker/registry/fit.h"
#include "worker/registry/guess.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kSums[] = "SHA256SUMS";
constexpr std::size_t kMostSumsBytes = std::size_t{16} << 20;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kSumDigits = 64;
constexpr std::size_t kNameAt = kSumDigits + 2;  // two blanks between them

struct ListedFile {
  std::string name;
  std::string sum;
};

absl::Status StatusOf(const Fault& fault) {
  return MakeError(ErrorId::kStoreIo, fault.cause, fault.fix);
}

absl::Status Changed(const std::string& path) {
  return MakeError(ErrorId::kStoreIo,
                   absl::StrCat(path, " is not what SHA256SUMS says"),
                   "look at the worker's disk; `sha256sum -c SHA256SUMS` in "
                   "the folder says what else has changed");
}

// Returns whether a name stays inside the folder that it is put in.
bool IsPlainName(const std::string& name) {
  const fs::path path = name;
  return !name.empty() && path.is_relative() && !name.ends_with('/') &&
         std::none_of(path.begin(), path.end(), [](const fs::path& part) {
           return part == ".." || part == ".";
         });
}

absl::StatusOr<std::vector<ListedFile>> ListedModels(const std::string& sums) {
  std::vector<ListedFile> files;
  for (const absl::string_view line :
       absl::StrSplit(sums, '\n', absl::SkipEmpty())) {
    ListedFile file;
    if (line.size() > kNameAt) {
      file = {std::string(line.substr(kNameAt)),
              std::string(line.substr(0, kSumDigits))};
    }
    if (!IsSha256(file.sum) || !IsPlainName(file.name)) {
      return MakeError(ErrorId::kStoreIo,
                       absl::StrCat(kSums, " has a line that is none of ours"),
                       "export the trial's model again, or another trial's");
    }
    files.push_back(std::move(file));
  }
  return files;
}

// Returns the bytes that were copied.
absl::StatusOr<std::int64_t> CopyFile(const std::string& from,
                                      const std::string& to,
                                      const std::string& sum) {
  const Expected<SourceFile> source = SourceFile::Open(from);
  if (!source.ok()) return StatusOf(source.fault());
  Expected<AtomicFile> target = AtomicFile::Create(to);
  if (!target.ok()) return StatusOf(target.fault());
  Sha256Sum seen;
  std::string chunk;
  for (std::uint64_t at = 0; at < source.value().size(); at += chunk.size()) {
    const std::uint64_t left = source.value().size() - at;
    chunk.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(left, kChunkBytes)));
    const Expected<Done> read =
        source.value().ReadAt(at, chunk.data(), chunk.size());
    if (!read.ok()) return StatusOf(read.fault());
    seen.Add(chunk);
    const Expected<Done> put =
        target.value().Append(chunk.data(), chunk.size());
    if (!put.ok()) return StatusOf(put.fault());
  }
  if (seen.Finish() != sum) return Changed(from);
  const Expected<Done> committed = target.value().Commit();
  if (!committed.ok()) return StatusOf(committed.fault());
  return static_cast<std::int64_t>(source.value().size());
}

absl::Status FolderError(const std::string& what, const std::error_code& code) {
  return MakeError(ErrorId::kStoreIo, absl::StrCat(what, ": ", code.message()),
                   "name a folder that you may write to");
}

// Copies into the temporary folder, which is renamed later.
absl::StatusOr<ModelCopy> Fill(const v1::TrainedModel& model,
                               const std::string& folder) {
  ModelCopy copy;
  const Expected<std::string> sums =
      ReadWholeFile(absl::StrCat(model.folder(), "/", kSums), kMostSumsBytes);
  if (!sums.ok()) return StatusOf(sums.fault());
  ASSIGN_OR_RETURN(std::vector<ListedFile> files, ListedModels(sums.value()));
  files.push_back({kSums, model.sums_sha256()});
  for (const ListedFile& file : files) {
    const fs::path to = fs::path(folder) / file.name;
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (error) return FolderError(to.parent_path().string(), error);
    ASSIGN_OR_RETURN(const std::int64_t bytes,
                     CopyFile(absl::StrCat(model.folder(), "/", file.name),
                              to.string(), file.sum));
    copy.bytes += bytes;
    copy.files.push_back(file.name);
  }
  return copy;
}

// Removes the last slash: "out/" and "out" are the same folder.
fs::path Plain(const std::string& folder) {
  std::error_code error;
  const fs::path full = fs::absolute(folder, error);
  // Without a working folder what was typed is all there is.
  const fs::path path = (error ? fs::path(folder) : full).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

bool IsHere(const v1::TrainedModel& model) {
  const Expected<std::string> sums =
      ReadWholeFile(absl::StrCat(model.folder(), "/", kSums), kMostSumsBytes);
  if (!sums.ok()) return false;
  Sha256Sum sum;
  sum.Add(sums.value());
  return sum.Finish() == model.sums_sha256();
}

absl::Status CheckTarget(const std::string& folder) {
  const fs::path path = Plain(folder);
  std::error_code error;
  const bool is_free = !fs::exists(fs::symlink_status(path, error)) ||
                       (fs::is_directory(fs::symlink_status(path, error)) &&
                        fs::is_empty(path, error) && !error);
  if (is_free) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(folder, " is there, and is no empty folder"),
                   "name a folder that is not there yet");
}

absl::StatusOr<ModelCopy> CopyModel(const v1::TrainedModel& model,
                                    const std::string& folder) {
  const fs::path target = Plain(folder);
  const fs::path beside =
      target.parent_path() /
      absl::StrCat(".", target.filename().string(), ".frostline-part");
  std::error_code error;
  fs::remove_all(beside, error);
  if (!error) fs::create_directories(beside, error);
  if (error) return FolderError(beside.string(), error);
  absl::StatusOr<ModelCopy> copy = Fill(model, beside.string());
  if (copy.ok()) {
    fs::rename(beside, target, error);
    if (error) copy = FolderError(target.string(), error);
  }
  if (!copy.ok()) {
    fs::remove_all(beside, error);
    return copy.status();
  }
  copy->folder = target.string();
  return copy;
}

namespace {

struct ModelArgs {
  std::string trial;
  std::string folder;
  bool json = false;
};

struct NamedTrial {
  std::string study;
  std::optional<std::int64_t> number;  // absent: the best
};

// Parses "imdb", "imdb/17", "studies/imdb" or "studies/imdb/trials/17".
absl::StatusOr<NamedTrial> ParseModelWords(const std::string& argument) {
  const std::string text = absl::StrReplaceAll(
      absl::StripPrefix(argument, "studies/"), {{"/trials/", "/"}});
  const std::size_t slash = text.find('/');
  NamedTrial named;
  ASSIGN_OR_RETURN(named.study, StudyNameFrom(text.substr(0, slash)));
  if (slash == std::string::npos) return named;
  std::int64_t number = -1;
  const std::string digits = text.substr(slash + 1);
  if (!absl::SimpleAtoi(digits, &number) || number < 0) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("\"", digits, "\" is no trial's number"),
                     "write STUDY/N, e.g. imdb/17, or STUDY for its best");
  }
  named.number = number;
  return named;
}

absl::Status SeveralAreBest(const v1::Study& study,
                            const v1::ListBestTrialsReply& best, int width) {
  std::cerr << RenderFront({best.trials().begin(), best.trials().end()},
                           study.spec(), width);
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(LastPart(study.name()), " has ",
                                study.spec().objectives_size(),
                                " objectives, and no one trial is its best"),
                   absl::StrCat("name one of the front: frostline model "
                                "export ",
                                LastPart(study.name()), "/",
                                best.trials(0).number(), " DIR"));
}

// Returns the error for a trial that reports no model: why there is nothing to
// copy.
absl::Status NoModel(const v1::Study& study, const v1::Trial& trial) {
  const std::string id = LastPart(study.name());
  const std::string name = absl::StrCat("trial ", trial.number(), " of ", id);
  if (!IsEnded(trial.state())) {
    return MakeError(ErrorId::kTrialNotTerminal, name + " has not ended",
                     "wait for it: frostline study watch " + id);
  }
  if (!ExportsModels(study.spec())) {
    return MakeError(ErrorId::kTrialTerminal,
                     id + " exports no models, so " + name + " has left none",
                     "create a study with training: {extra: {export: best}}");
  }
  if (trial.state() != v1::TRIAL_STATE_SUCCEEDED) {
    return MakeError(ErrorId::kTrialTerminal,
                     absl::StrCat(name, " is ", NameOf(trial.state()),
                                  ", and only one that succeeds leaves a "
                                  "model"),
                     "frostline model export " + id + " DIR takes the best");
  }
  return MakeError(
      ErrorId::kTrialTerminal,
      name +
          " has left no model: its worker had a better one already, or "
          "keeps none (--keep), or the trial was imported",
      "frostline model export " + id +
          " DIR takes the best; a study with "
          "`export: all` keeps every one");
}

absl::StatusOr<ExitCode> Copy(const v1::Trial& trial, const ModelArgs& args) {
  ASSIGN_OR_RETURN(const ModelCopy copy,
                   CopyModel(trial.usage().model(), args.folder));
  if (args.json) {
    std::cout << ModelJson(trial, copy.folder, copy.files);
  } else {
    std::cout << RenderModelCopy(trial, copy.folder, copy.files.size(),
                                 copy.bytes);
  }
  return kExitOk;
}

// Prints where the model is, when it is on another machine or no longer on this
// one.
absl::StatusOr<ExitCode> SayWhere(const v1::Study& study,
                                  const v1::Trial& trial, const ModelArgs& args,
                                  int width) {
  const v1::TrainedModel& model = trial.usage().model();
  std::string host(256, '\0');
  const bool is_ours = gethostname(host.data(), host.size() - 1) == 0 &&
                       model.host() == host.c_str();
  if (is_ours) {
    return MakeError(
        ErrorId::kTrialTerminal,
        absl::StrCat("the model of trial ", trial.number(), " is no longer in ",
                     model.folder(),
                     ": a better trial of this worker took its place, its "
                     "folder was cleaned, or another file system is meant"),
        absl::StrCat("frostline model export ", LastPart(study.name()),
                     " DIR takes the best; `export: all` keeps every one"));
  }
  std::cout << (args.json ? ModelJson(trial, "", {})
                          : RenderModelElsewhere(trial, args.folder, width));
  return kExitConflict;
}

absl::StatusOr<ExitCode> ExportModel(Session& session, const ModelArgs& args) {
  ASSIGN_OR_RETURN(const NamedTrial named, ParseModelWords(args.trial));
  RETURN_IF_ERROR(CheckTarget(args.folder));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, named.study));
  v1::GetTrialRequest request;
  if (named.number.has_value()) {
    request.set_name(absl::StrCat(study.name(), "/trials/", *named.number));
  } else {
    ASSIGN_OR_RETURN(const auto best, FetchBestTrials(*client, study.name()));
    if (best.trials().empty()) {
      std::cerr << "no trial of " << LastPart(study.name())
                << " has succeeded, so there is no model\n";
      return kExitNoResult;
    }
    if (study.spec().objectives_size() > 1) {
      return SeveralAreBest(study, best, session.terminal.width);
    }
    request.set_name(best.trials(0).name());
  }
  request.set_view(v1::TRIAL_VIEW_FULL);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::GetTrial, request));
  if (!trial.usage().has_model()) return NoModel(study, trial);
  if (IsHere(trial.usage().model())) return Copy(trial, args);
  return SayWhere(study, trial, args, session.terminal.width);
}

}  // namespace

absl::StatusOr<ExitCode> ExportBestModel(Session& session,
                                         const std::string& study,
                                         const std::string& folder) {
  return ExportModel(session,
                     {.trial = study, .folder = folder, .json = false});
}

void AddModelCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      AddNoun(app, "model", "Fetch the models that trials have trained");
  const auto [verb, args] =
      AddVerb(*noun, "export", "Copy a trained model, or say where it is",
              invocation, ExportModel);
  verb->add_option("STUDY[/N]", args->trial, "A study's best trial, or one")
      ->required();
  verb->add_option("DIR", args->folder, "A folder that is not there yet")
      ->required();
  verb->add_flag("--json", args->json, "What was copied, or where it is");
  verb->footer("Of a study with training.extra.export.");
}

// `frostline predict`: what a trained model answers, without a coordinator. The
// trainer computes; this finds out what it must be told, and shows what came.

namespace {

constexpr Duration kLongestPrediction = std::chrono::hours(24 * 30);

struct PredictArgs {
  std::string model;
  std::string file;
  ColumnFlags columns;
  bool no_labels = false;
  std::string output;
  std::string trainer;
  std::string device = "auto";
  std::string precision = "fp32";
  std::int64_t max_length = 0;
  std::size_t most = 5;
  bool json = false;
};

struct Answers {
  std::int64_t examples = 0;
  std::map<std::string, double> metrics;
};

const char* YesNo(bool is) { return is ? "yes" : "no"; }

absl::StatusOr<std::vector<std::string>> TrainerWords(
    const PredictArgs& args, const registry::RowsToPredict& rows,
    const std::string& output) {
  std::string program = args.trainer;
  if (program.empty()) {
    ASSIGN_OR_RETURN(program, SiblingProgram("frostline-trainer"));
  }
  const bool labelled = rows.labelled && !args.no_labels;
  std::vector<std::string> words = {program,
                                    "--predict",
                                    args.model,
                                    "--rows",
                                    args.file,
                                    "--output",
                                    output,
                                    "--format",
                                    rows.format_name,
                                    "--header",
                                    YesNo(rows.format.header),
                                    "--delimiter",
                                    std::string(1, rows.format.delimiter),
                                    "--labels",
                                    YesNo(labelled),
                                    "--device",
                                    args.device,
                                    "--precision",
                                    args.precision};
  for (const auto& [role, column] : rows.columns) {
    const bool is_label = role == "label" || role == "tags";
    if (is_label && !labelled) continue;
    words.insert(words.end(), {"--column", absl::StrCat(role, "=", column)});
  }
  if (args.max_length > 0) {
    words.insert(words.end(), {"--max-length", absl::StrCat(args.max_length)});
  }
  return words;
}

// Returns the error in the trainer's last line: "frostline-trainer: FL-5014:
// what happened (what to do)".
absl::Status ErrorOfTrainer(const Captured& ran) {
  const std::vector<std::string> lines =
      absl::StrSplit(absl::StripTrailingAsciiWhitespace(ran.err), '\n');
  const std::string& said = lines.back();
  for (const ErrorKind& kind : AllErrorKinds()) {
    const std::string mark = absl::StrCat(": ", ErrorCode(kind.id), ": ");
    const std::size_t at = said.find(mark);
    if (at == std::string::npos) continue;
    const std::string cause = said.substr(at + mark.size());
    const std::size_t fix = cause.rfind(" (");
    if (fix == std::string::npos || !absl::EndsWith(cause, ")")) break;
    return MakeError(kind.id, cause.substr(0, fix),
                     cause.substr(fix + 2, cause.size() - fix - 3));
  }
  return MakeError(
      ErrorId::kTrainerExited,
      absl::StrCat("frostline-trainer ended with code ", ran.code, ": ", said),
      "run it by hand with --self-check to see whether it computes here");
}

absl::StatusOr<Answers> AnswersIn(const std::string& line) {
  const Expected<Json> json = Json::Parse(line);
  const JsonValue* const examples =
      json.ok() ? json.value().root().Find("examples") : nullptr;
  const JsonValue* const metrics =
      json.ok() ? json.value().root().Find("metrics") : nullptr;
  if (examples == nullptr || metrics == nullptr) {
    return MakeError(ErrorId::kTrainerProtocol,
                     absl::StrCat("the trainer said: ", line.substr(0, 200)),
                     "use the frostline-trainer of this version");
  }
  Answers answers;
  answers.examples = static_cast<std::int64_t>(examples->number);
  for (const JsonValue* m = metrics->first; m != nullptr; m = m->next) {
    answers.metrics[std::string(m->key)] = m->number;
  }
  return answers;
}

absl::StatusOr<Answers> RunTrainer(const PredictArgs& args,
                                   const std::string& output) {
  ASSIGN_OR_RETURN(const registry::RowsToPredict rows,
                   registry::LookAtRowsToPredict(args.model, args.file,
                                                 ColumnsOf(args.columns),
                                                 HintsOf(args.columns)));
  ASSIGN_OR_RETURN(const std::vector<std::string> words,
                   TrainerWords(args, rows, output));
  const absl::StatusOr<Captured> ran = RunCaptured(words, kLongestPrediction);
  if (!ran.ok()) {
    return MakeError(ErrorId::kTrainerStart,
                     std::string(ran.status().message()),
                     "name a frostline-trainer with --trainer PROGRAM");
  }
  if (ran->code != 0) return ErrorOfTrainer(*ran);
  return AnswersIn(ran->out);
}

std::string PredictionJson(const Answers& answers, const std::string& output) {
  JsonObject metrics;
  for (const auto& [name, value] : answers.metrics) {
    metrics.Put(name, JsonNumber(value));
  }
  return JsonObject()
             .Put("examples", absl::StrCat(answers.examples))
             .Put("metrics", metrics.Text(JsonLayout::kSpaced))
             .Put("output", output.empty() ? "null" : JsonString(output))
             .Text(JsonLayout::kSpaced) +
         "\n";
}

void ShowMeasured(const PredictArgs& args, const Answers& answers,
                  const std::string& path, int width) {
  std::cout << FormatCount(answers.examples) << " examples of " << args.file
            << "\n";
  for (const auto& [name, value] : answers.metrics) {
    std::cout << KeyLine(name, FormatNumber(value));
  }
  std::ifstream file(path);
  if (answers.metrics.contains("exact_match")) {
    std::cout << "\n" << RenderSaid(file, args.most, width);
    return;
  }
  const PredictedExamples predicted(file);
  const std::vector<ExampleGroup> groups =
      PickExamples(predicted.table(), args.most);
  std::map<std::int64_t, std::string> texts;
  for (const ExampleGroup& group : groups) {
    for (const std::size_t example : group.examples) {
      texts[static_cast<std::int64_t>(example)] = predicted.TextOf(example);
    }
  }
  std::cout << "\n" << RenderExamples(groups, predicted.table(), texts, width);
}

// Refuses a pipe as output: the file is replaced as a whole, so the pipe would
// disappear.
absl::Status CheckOutput(const std::string& output) {
  const bool is_file =
      output.empty() || (!IsStandardOutput(output) && !IsStream(output));
  return is_file ? absl::OkStatus()
                 : MakeError(ErrorId::kRequestInvalid,
                             absl::StrCat(output, " is no file"),
                             "name one, as -o answers.tsv, or leave -o out and "
                             "give --no-labels: then answers are printed",
                             "--output");
}

absl::StatusOr<ExitCode> Predict(Session& session, const PredictArgs& args) {
  RETURN_IF_ERROR(CheckOutput(args.output));
  ASSIGN_OR_RETURN(const WorkFolder folder, WorkFolder::Make("", false));
  const std::string path = args.output.empty()
                               ? folder.path() + "/predictions.tsv"
                               : WithoutLinks(args.output);
  ASSIGN_OR_RETURN(const Answers answers, RunTrainer(args, path));
  if (args.json) {
    std::cout << PredictionJson(answers, args.output);
    return kExitOk;
  }
  if (!answers.metrics.empty()) {
    ShowMeasured(args, answers, path, session.terminal.width);
  } else if (args.output.empty()) {
    std::ifstream file(path);
    std::cout << file.rdbuf();
  }
  if (!args.output.empty()) {
    std::cout << (answers.metrics.empty()
                      ? absl::StrCat(FormatCount(answers.examples),
                                     " examples of ", args.file, ": ")
                      : "\n")
              << "predictions are in " << args.output << "\n";
  }
  return kExitOk;
}

void AddFlags(CLI::App& verb, PredictArgs& args) {
  AddColumnFlags(verb, args.columns);
  verb.add_flag("--no-labels", args.no_labels,
                "Do not look at the file's labels");
  verb.add_option("-o,--output", args.output,
                  "Write what is predicted of each example into this file")
      ->type_name("FILE");
  verb.add_option("--count", args.most,
                  "Of labelled rows, show at most so many of each kind")
      ->check(CLI::Range(std::size_t{1}, std::size_t{60}));
  verb.add_option("--max-length", args.max_length,
                  "Tokens of a text; else as the model was trained")
      ->check(CLI::Range(std::int64_t{3}, std::int64_t{1'000'000}));
  verb.add_option("--device", args.device, "auto, cpu, cuda or cuda:N");
  verb.add_option("--precision", args.precision, "fp32, bf16, fp16 or auto");
  verb.add_option("--trainer", args.trainer,
                  "Another frostline-trainer than that beside this program")
      ->type_name("PROGRAM");
  verb.add_flag("--json", args.json, "The measures as JSON");
}

}  // namespace

void AddPredictCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      app, "predict",
      "Let an exported model answer for each row of a file; where the rows "
      "have labels, how good the answers are",
      invocation, Predict);
  verb->add_option("MODEL", args->model,
                   "Its folder: that of training.extra.export, or of a "
                   "fine-tuned model of transformers")
      ->required();
  verb->add_option("FILE", args->file, "CSV, TSV, JSON lines or CoNLL-U")
      ->required();
  AddFlags(*verb, *args);
}

// `frostline cache`: what the trainers of this node keep of frozen layers.

namespace {

constexpr char kUsualCacheFolder[] = "frostline-runs/prefix";

struct CacheArgs {
  std::string folder;
  Output output;
};

std::string FolderOf(const CacheArgs& args) {
  if (!args.folder.empty()) return args.folder;
  const char* const told = std::getenv("FROSTLINE_PREFIX_DIR");
  return told == nullptr ? kUsualCacheFolder : told;
}

std::int64_t Whole(double number) {
  return static_cast<std::int64_t>(std::llround(number));
}

std::string PrefixCacheJsonOf(const std::vector<registry::KeptPrefix>& kept) {
  std::vector<std::string> all;
  all.reserve(kept.size());
  for (const registry::KeptPrefix& each : kept) {
    all.push_back(JsonObject()
                      .PutText("about", each.about)
                      .Put("bytes", absl::StrCat(each.bytes))
                      .Put("rows_taken", absl::StrCat(Whole(each.rows_taken)))
                      .Put("seconds_saved", JsonNumber(each.seconds_saved))
                      .Text(JsonLayout::kSpaced));
  }
  return JsonObject()
             .Put("kept", JsonList(all, JsonLayout::kIndented))
             .Text(JsonLayout::kSpaced) +
         "\n";
}

Table CacheTableOf(const std::vector<registry::KeptPrefix>& kept) {
  Table table({{"KEPT"},
               {"SIZE", Align::kRight},
               {"ROWS TAKEN", Align::kRight},
               {"SAVED", Align::kRight}});
  for (const registry::KeptPrefix& each : kept) {
    const auto bytes = static_cast<std::int64_t>(each.bytes);
    table.AddCells({{each.about},
                    {FormatBytes(bytes), absl::StrCat(bytes)},
                    CountCell(Whole(each.rows_taken)),
                    SecondsCell(each.seconds_saved)});
  }
  return table;
}

absl::StatusOr<ExitCode> ListPrefixCaches(Session& session,
                                          const CacheArgs& args) {
  const std::string folder = FolderOf(args);
  const auto kept = registry::ListPrefixes(folder).value_or(
      std::vector<registry::KeptPrefix>());
  RETURN_IF_ERROR(PrintListJson(
                      session.terminal, args.output, PrefixCacheJsonOf(kept),
                      [&kept](bool) { return CacheTableOf(kept); },
                      absl::StrCat("nothing is kept in ", folder,
                                   "; --dir says where a worker keeps it"))
                      .status());
  if (args.output.format != Format::kTable || kept.empty()) return kExitOk;
  std::int64_t bytes = 0;
  for (const registry::KeptPrefix& each : kept) {
    bytes += static_cast<std::int64_t>(each.bytes);
  }
  std::cout << FormatBytes(bytes) << " in " << folder << "\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> ClearPrefixCaches(Session& /*session*/,
                                           const CacheArgs& args) {
  const std::string folder = FolderOf(args);
  const auto removed =
      static_cast<std::int64_t>(registry::ClearPrefixes(folder));
  const auto left = registry::ListPrefixes(folder);
  std::cout << FormatBytes(removed) << " removed from " << folder;
  if (left && !left->empty()) {
    std::cout << "; " << left->size() << " kept, as trainers use them";
  }
  std::cout << "\n";
  return kExitOk;
}

void AddCacheFolder(CLI::App& verb, CacheArgs& args) {
  verb.add_option("--dir", args.folder,
                  "The worker's --prefix-dir; without it "
                  "$FROSTLINE_PREFIX_DIR counts, else frostline-runs/prefix")
      ->type_name("DIR");
}

}  // namespace

void AddCacheCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      AddNoun(app, "cache",
              "What this node's trainers keep of frozen layers: list, clear");
  const auto [list, kept] =
      AddVerb(*noun, "list", "List what is kept, what goes first on top",
              invocation, ListPrefixCaches);
  AddCacheFolder(*list, *kept);
  AddListFormats(list, kept->output);
  const auto [clear, cleared] =
      AddVerb(*noun, "clear", "Remove all that no trainer uses", invocation,
              ClearPrefixCaches);
  AddCacheFolder(*clear, *cleared);
}

}  // namespace frostline::cli
