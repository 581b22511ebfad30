// SPDX-License-Identifier: Apache-2.0
//
// `frostline predict`: what a trained model answers, without a coordinator. The
// trainer computes; this finds out what it must be told, and shows what came.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/plain/json.h"
#include "cli/commands/command.h"
#include "cli/commands/registry.h"
#include "cli/process/child_process.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"
#include "cli/view/outcomes_view.h"
#include "worker/registry/guess.h"

namespace frostline::cli {
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
  std::string metrics;
  for (const auto& [name, value] : answers.metrics) {
    absl::StrAppend(&metrics, metrics.empty() ? "" : ", ", JsonString(name),
                    ": ", JsonNumber(value));
  }
  return absl::StrCat(
      "{\"examples\": ", answers.examples, ", \"metrics\": {", metrics,
      "}, \"output\": ", output.empty() ? "null" : JsonString(output), "}\n");
}

void ShowMeasured(const PredictArgs& args, const Answers& answers,
                  const std::string& path, int width) {
  std::cout << FormatCount(answers.examples) << " examples of " << args.file
            << "\n";
  for (const auto& [name, value] : answers.metrics) {
    std::cout << KeyLine(name, FormatNumber(value));
  }
  std::ifstream file(path);
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
  const auto args = std::make_shared<PredictArgs>();
  CLI::App* const verb = AddVerb(
      app, "predict",
      "Let an exported model answer for each row of a file; where the rows "
      "have labels, how good the answers are",
      invocation, [args](Session& session) { return Predict(session, *args); });
  verb->add_option("MODEL", args->model,
                   "Its folder: that of training.extra.export, or of a "
                   "fine-tuned model of transformers")
      ->required();
  verb->add_option("FILE", args->file, "CSV, TSV, JSON lines or CoNLL-U")
      ->required();
  AddFlags(*verb, *args);
}

}  // namespace frostline::cli
