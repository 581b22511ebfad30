// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/trial_files.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/commands/imported_lines.h"
#include "cli/commands/package.h"
#include "cli/commands/plan.h"
#include "cli/commands/set_field.h"
#include "cli/commands/study.h"
#include "cli/commands/trial.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/study_file/yaml_to_proto.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"

namespace frostline::cli {
namespace {

constexpr int kMostImported = 1'000;
// The size of a batch: a request has at most 1 MiB, including its other fields.
constexpr std::size_t kMostTrialImportBytes = 900 * 1024;
// The size of the points in one check: a spec has at most 256 KiB.
constexpr std::size_t kMostPointBytes = 64 * 1024;
constexpr std::int64_t kMostImportedTrials = 1'000'000;

// Serializes with sorted map keys, so that equal content has equal hashes.
std::string Serialized(const google::protobuf::Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

std::string ImportRequestIdOf(const v1::Study& study, std::size_t place,
                              const v1::ImportTrialsRequest& request) {
  Sha256Sum sum;
  sum.AddField(study.name());
  // A study of the same name that was made anew is another one.
  sum.AddField(Serialized(study.create_time()));
  sum.AddNumber(place);
  sum.AddField(Serialized(request));
  return sum.Finish();
}

// Adds the place to an error: "trials[3].parameters.x" after `start` is about
// the trial `first` + 3.
absl::Status PlacedTrial(const absl::Status& status, const std::string& start,
                         std::size_t first, const ImportedLines& read,
                         const std::string& file) {
  const auto detail = DetailOf(status);
  const std::size_t found =
      detail.has_value() ? detail->field.find(start) : std::string::npos;
  if (found == std::string::npos) return status;
  const std::size_t at =
      first +
      std::strtoul(detail->field.c_str() + found + start.size(), nullptr, 10);
  if (at >= read.lines.size()) return status;
  return MakeError(
      detail->id,
      absl::StrCat(file, ":", read.lines[at], ": ", status.message()),
      detail->fix, detail->field);
}

// Checks the points without writing. No call can check an import, but a dry run
// of a new study checks the points that it would start with.
absl::Status CheckPoints(Client& client, const v1::Study& study,
                         const ImportedLines& read, const std::string& file) {
  v1::CreateStudyRequest request;
  request.set_study_id(NewRequestId(SystemClock()));
  request.set_validate_only(true);
  *request.mutable_settings() = study.settings();
  request.mutable_settings()->mutable_budget()->set_trials(kMostImportedTrials);
  *request.mutable_spec() = study.spec();
  v1::StudySpec& spec = *request.mutable_spec();
  spec.clear_warm_start();
  std::size_t first = 0;
  while (first < read.trials.size()) {
    spec.clear_enqueue();
    std::size_t bytes = 0;
    std::size_t end = first;
    for (; end < read.trials.size() && bytes < kMostPointBytes &&
           spec.enqueue_size() < kMostImported;
         ++end) {
      *spec.add_enqueue()->mutable_values() = read.trials[end].parameters();
      bytes += spec.enqueue(spec.enqueue_size() - 1).ByteSizeLong();
    }
    const absl::Status judged =
        client.Call(&v1::StudyService::Stub::CreateStudy, request).status();
    const auto detail = DetailOf(judged);
    // Whatever else it finds is no fault of the trials.
    if (detail.has_value() &&
        detail->field.find("enqueue[") != std::string::npos) {
      return PlacedTrial(judged, "enqueue[", first, read, file);
    }
    first = end;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<v1::ImportTrialsRequest>> ImportBatches(
    const v1::Study& study, const ImportedLines& read,
    const std::string& file) {
  std::vector<v1::ImportTrialsRequest> batches;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < read.trials.size(); ++i) {
    const std::size_t size = read.trials[i].ByteSizeLong();
    if (size > kMostTrialImportBytes) {
      return MakeError(
          ErrorId::kRequestInvalid,
          absl::StrCat(file, ":", read.lines[i], ": the trial has ", size,
                       " bytes with its measurements"),
          "leave measurements of this trial out", "FILE");
    }
    const bool is_full = batches.empty() ||
                         bytes + size > kMostTrialImportBytes ||
                         batches.back().trials_size() == kMostImported;
    if (is_full) {
      batches.emplace_back().set_name(study.name());
      bytes = 0;
    }
    *batches.back().add_trials() = read.trials[i];
    bytes += size;
  }
  for (std::size_t i = 0; i < batches.size(); ++i) {
    batches[i].set_request_id(ImportRequestIdOf(study, i, batches[i]));
  }
  return batches;
}

absl::StatusOr<ImportDone> ImportAll(Client& client, const v1::Study& study,
                                     const ImportedLines& read,
                                     const std::string& file) {
  ASSIGN_OR_RETURN(const std::vector<v1::ImportTrialsRequest> batches,
                   ImportBatches(study, read, file));
  if (batches.size() > 1) {
    RETURN_IF_ERROR(CheckPoints(client, study, read, file));
  }
  const v1::TrialCounts& counts = study.counts();
  // The number of the first trial that an earlier import cannot have made.
  const std::int64_t known = counts.queued() + counts.running() +
                             counts.succeeded() + counts.pruned() +
                             counts.infeasible() + counts.failed() +
                             counts.cancelled();
  ImportDone done;
  std::size_t first = 0;
  for (const v1::ImportTrialsRequest& batch : batches) {
    const absl::StatusOr<v1::ImportTrialsReply> reply =
        client.Call(&v1::StudyService::Stub::ImportTrials, batch);
    if (!reply.ok())
      return PlacedTrial(reply.status(), "trials[", first, read, file);
    (reply->first_number() < known ? done.already : done.imported) +=
        reply->count();
    const auto count = static_cast<std::size_t>(batch.trials_size());
    RETURN_IF_ERROR(WriteNotes(client, study, read,
                               {.first = first,
                                .count = count,
                                .first_number = reply->first_number()}));
    first += count;
  }
  return done;
}

// `frostline study import`: trials that ended elsewhere.

namespace {

constexpr std::size_t kMostStudyImportBytes = std::size_t{1} << 30;

struct ImportArgs {
  std::string id;
  std::string file;
};

absl::StatusOr<std::string> ReadTrials(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadTextFile(path, kMostStudyImportBytes));
  if (text.size() > kMostStudyImportBytes) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat(path, " has more than ",
                                  FormatBytes(kMostStudyImportBytes)),
                     "split it, and import one part after the other", "FILE");
  }
  // Spreadsheets begin a file with these three bytes.
  constexpr char kMark[] = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.erase(0, sizeof(kMark) - 1);
  return text;
}

absl::StatusOr<ExitCode> ImportStudy(Session& session, const ImportArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(const std::string text, ReadTrials(args.file));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  const std::string file = args.file == "-" ? "stdin" : args.file;
  ASSIGN_OR_RETURN(const ImportedLines read,
                   ParseImportedLines(text, file, study.spec()));
  ASSIGN_OR_RETURN(const ImportDone done,
                   ImportAll(*client, study, read, file));
  std::cout << "imported " << FormatCount(done.imported) << " trials into "
            << LastPart(name);
  if (done.already > 0) {
    std::cout << "; " << FormatCount(done.already) << " were there already";
  }
  std::cout << "\n";
  if (read.skipped > 0) {
    std::cerr << "left out " << read.skipped
              << " that have not ended, or were cancelled\n";
  }
  return kExitOk;
}

}  // namespace

void AddStudyImport(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      noun, "import", "Add trials that ended elsewhere, outside the budget",
      invocation, ImportStudy);
  verb->add_option("ID", args->id, "The study they are added to")->required();
  verb->add_option("FILE", args->file,
                   "JSON lines or CSV, as study export writes them; - is "
                   "standard input")
      ->required();
}

// `frostline trial tell`: the outcome of one trial that ended elsewhere.

namespace {

struct TellArgs {
  std::string study;
  std::vector<std::string> values;
  std::vector<std::string> metrics;
  std::vector<std::string> labels;
  std::string state = NameOf(v1::TRIAL_STATE_SUCCEEDED);
  std::uint64_t seed = 0;  // 0: unknown
};

std::vector<std::string> StatesWithResult() {
  std::vector<std::string> names;
  for (int i = v1::TrialState_MIN + 1; i <= v1::TrialState_MAX; ++i) {
    const auto state = static_cast<v1::TrialState>(i);
    if (HasResult(state)) names.push_back(NameOf(state));
  }
  return names;
}

absl::Status SetMetrics(const std::vector<std::string>& words,
                        v1::ImportedTrial& trial) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const auto value = equals == std::string::npos
                           ? std::nullopt
                           : ReadDouble(word.substr(equals + 1));
    if (!value.has_value() || equals == 0 ||
        !trial.mutable_metrics()
             ->insert({word.substr(0, equals), *value})
             .second) {
      return MakeError(
          ErrorId::kRequestInvalid,
          absl::StrCat("'", word, "' gives no metric its one number"),
          "write each once as METRIC=NUMBER, e.g. accuracy=0.91", "--metric");
    }
  }
  return absl::OkStatus();
}

// Warns about values out of range. If the study's ranges cannot be fetched,
// that is no failure, because the trial is already stored.
void NoteRanges(Client& client, const v1::ImportTrialsRequest& told) {
  const auto study = FetchStudy(client, told.name());
  if (!study.ok()) return;
  const std::string text = OutOfRangeText(study->spec(), told.trials(0));
  if (!text.empty()) Notes() << "note: " << text << "\n";
}

absl::StatusOr<ExitCode> Tell(Session& session, const TellArgs& args) {
  v1::ImportTrialsRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), StudyNameFrom(args.study));
  v1::ImportedTrial& trial = *request.add_trials();
  trial.set_state(static_cast<v1::TrialState>(
      ReadEnum(args.state, *v1::TrialState_descriptor())->number()));
  RETURN_IF_ERROR(SetPointValues(args.values, *trial.mutable_parameters()));
  RETURN_IF_ERROR(SetMetrics(args.metrics, trial));
  RETURN_IF_ERROR(
      ChangeLabels(args.labels, "--label", *trial.mutable_labels()));
  trial.set_seed(args.seed);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(
      const v1::ImportTrialsReply reply,
      client->Call(&v1::StudyService::Stub::ImportTrials, request));
  std::cout << request.name() << "/trials/" << reply.first_number() << " is "
            << NameOf(trial.state()) << "\n"
            << std::flush;
  if (trial.state() == v1::TRIAL_STATE_SUCCEEDED) {
    NoteRanges(*client, request);
  }
  return kExitOk;
}

}  // namespace

void AddTrialTell(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(noun, "tell",
              "Tell a study how a point did elsewhere, outside the budget",
              invocation, Tell);
  verb->add_option("STUDY", args->study, "The study")->required();
  verb->add_option("--set", args->values,
                   "NAME=VALUE of each parameter, e.g. layer.0=frozen")
      ->expected(1)
      ->take_all()
      ->required();
  verb->add_option("--metric", args->metrics,
                   "NAME=NUMBER, the objectives among them")
      ->expected(1)
      ->take_all();
  verb->add_option("--state", args->state, "How it ended [SUCCEEDED]")
      ->transform(CLI::IsMember(StatesWithResult(), CLI::ignore_case));
  verb->add_option("--label", args->labels, "KEY=VALUE")
      ->expected(1)
      ->take_all();
  verb->add_option("--seed", args->seed, "What it was trained with");
}

// `frostline study export`: all trials as a file, whole or not at all.

namespace {

using FileFormat = v1::ExportTrialsRequest::Format;

// A format and its file extension. The first is the default.
struct KnownFormat {
  const char* name;
  FileFormat format;
  const char* ending;
};
constexpr std::array kFormats = {
    KnownFormat{"jsonl", v1::ExportTrialsRequest::JSON_LINES, ".jsonl"},
    KnownFormat{"csv", v1::ExportTrialsRequest::CSV, ".csv"}};

struct ExportArgs {
  std::string id;
  std::string file;
  std::string format;  // empty: as the file's ending says
  std::string filter;
  bool with_measurements = false;
  bool force = false;
};

// Returns the format of the file's extension, or null.
const KnownFormat* ExportFormatOfEnding(const std::string& file) {
  for (const KnownFormat& known : kFormats) {
    if (absl::EndsWithIgnoreCase(file, known.ending)) return &known;
  }
  return nullptr;
}

// Written by the Python package, which has Optuna.
constexpr char kOptunaJournal[] = "optuna-journal";

std::vector<std::string> FormatNamesOfFiles() {
  std::vector<std::string> names;
  for (const KnownFormat& known : kFormats) names.emplace_back(known.name);
  names.emplace_back(kOptunaJournal);
  return names;
}

absl::StatusOr<FileFormat> ExportFormatOf(const ExportArgs& args) {
  const KnownFormat* const ends = ExportFormatOfEnding(args.file);
  if (args.format.empty()) return (ends ? ends : kFormats.data())->format;
  const auto* const said = std::find_if(
      kFormats.begin(), kFormats.end(),
      [&args](const KnownFormat& one) { return args.format == one.name; });
  if (ends == nullptr || ends == said) return said->format;
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(args.file, " ends as a file of --format ", ends->name,
                   " does, and --format says ", said->name),
      absl::StrCat("leave --format out, or end the name in ", said->ending),
      "--output");
}

absl::Status ToStandardOutput(Client& client,
                              const v1::ExportTrialsRequest& request) {
  return StreamTrials(client, request, [](const std::string& piece) {
    std::cout << piece << std::flush;
    return std::cout ? absl::OkStatus()
                     : MakeError(ErrorId::kRequestInvalid,
                                 "standard output cannot be written",
                                 "name a file with -o FILE", "--output");
  });
}

absl::Status ToFile(Client& client, const v1::ExportTrialsRequest& request,
                    const std::string& path) {
  // Made with the first piece, so that a refused call leaves no trace.
  std::unique_ptr<OutputFile> file;
  std::int64_t bytes = 0;
  const auto take = [&](const std::string& piece) -> absl::Status {
    if (file == nullptr) {
      ASSIGN_OR_RETURN(file, OutputFile::Open(path));
    }
    bytes += static_cast<std::int64_t>(piece.size());
    return file->Append(piece);
  };
  RETURN_IF_ERROR(StreamTrials(client, request, take));
  // The file of a study without trials is empty.
  RETURN_IF_ERROR(take(""));
  RETURN_IF_ERROR(file->Commit());
  std::cerr << "wrote " << path << ", " << FormatBytes(bytes) << "\n";
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> ToOptunaJournal(Session& session,
                                         const ExportArgs& args) {
  if (IsStandardOutput(args.file) || !args.filter.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     "a journal of Optuna's is a file, of all trials",
                     "name it with -o FILE, and leave --filter out",
                     args.filter.empty() ? "--output" : "--filter");
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> variables,
                   VariablesOfTarget(session));
  std::vector<std::string> words = {args.id, "--export-to", args.file};
  if (args.force) words.emplace_back("--force");
  return RunOfPackage(kOptunaProgram, words, variables);
}

absl::StatusOr<ExitCode> ExportStudy(Session& session, const ExportArgs& args) {
  v1::ExportTrialsRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), StudyNameFrom(args.id));
  RETURN_IF_ERROR(CheckMayReplace(args.file, args.force));
  if (args.format == kOptunaJournal) return ToOptunaJournal(session, args);
  ASSIGN_OR_RETURN(const FileFormat format, ExportFormatOf(args));
  request.set_format(format);
  request.set_with_measurements(args.with_measurements);
  request.set_filter(args.filter);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  RETURN_IF_ERROR(IsStandardOutput(args.file)
                      ? ToStandardOutput(*client, request)
                      : ToFile(*client, request, args.file));
  return kExitOk;
}

}  // namespace

absl::Status StreamTrials(
    Client& client, const v1::ExportTrialsRequest& request,
    const std::function<absl::Status(const std::string&)>& take) {
  grpc::ClientContext context;
  client.ShowToken(&context);
  const auto reader = client.studies().ExportTrials(&context, request);
  v1::ExportChunk chunk;
  absl::Status taken;
  while (reader->Read(&chunk)) {
    if (!taken.ok()) continue;
    taken = take(chunk.data());
    if (!taken.ok()) context.TryCancel();
  }
  const grpc::Status status = reader->Finish();
  RETURN_IF_ERROR(taken);
  return status.ok() ? absl::OkStatus() : client.Explain(status);
}

void AddStudyExport(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      noun, "export", "Write all trials as JSON lines, a table, or for Optuna",
      invocation, ExportStudy);
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_option("-o,--output", args->file,
                   "Into this file; else, or with -, to standard output");
  verb->add_option("--format", args->format,
                   "Else as the file's name ends, else jsonl")
      ->transform(CLI::IsMember(FormatNamesOfFiles(), CLI::ignore_case));
  verb->add_flag("--with-measurements", args->with_measurements,
                 "Behind each trial what it measured; of JSON lines");
  verb->add_option("--filter", args->filter,
                   "Only such trials: 'state = SUCCEEDED'; "
                   "`frostline help filter`")
      ->type_name("TERMS");
  verb->add_flag("--force", args->force, "Replace a file that is there");
}

// `frostline trial enqueue`: points to run next, before the sampler's.

namespace {

using Kind = YamlNode::Kind;

absl::Status TakePoint(const YamlPtr& node, const std::string& file,
                       EnqueuePoints& points) {
  const auto& type = *v1::EnqueuedTrial::descriptor();
  const bool is_point =
      node->kind == Kind::kMap && !node->entries.empty() &&
      std::ranges::all_of(node->entries, [&type](const YamlEntry& entry) {
        return entry.value->kind == Kind::kScalar &&
               type.FindFieldByName(entry.key) == nullptr;
      });
  const YamlPtr full =
      is_point ? MapNode({{"values", node->mark, node}}, node->mark) : node;
  v1::EnqueuedTrial trial;
  FieldPlaces places;
  RETURN_IF_ERROR(YamlToProto(file, &places).Fill(full, "enqueue", &trial));
  points.trials.push_back(std::move(trial));
  points.places.push_back(node->mark);
  return absl::OkStatus();
}

absl::Status Take(const YamlPtr& root, const std::string& file,
                  EnqueuePoints& points) {
  const YamlEntry* const key = root->Find("enqueue");
  const YamlPtr& node =
      key != nullptr && root->entries.size() == 1 ? key->value : root;
  if (node->kind != Kind::kList) return TakePoint(node, file, points);
  for (const YamlPtr& item : node->items) {
    RETURN_IF_ERROR(TakePoint(item, file, points));
  }
  return absl::OkStatus();
}

bool IsJsonLines(const std::vector<std::string>& lines) {
  return std::ranges::all_of(lines, [](const std::string& line) {
    const auto text = absl::StripAsciiWhitespace(line);
    return text.empty() || (text.front() == '{' && text.back() == '}');
  });
}

}  // namespace

absl::StatusOr<EnqueuePoints> ParseEnqueuePoints(const std::string& text,
                                                 const std::string& file) {
  EnqueuePoints points;
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  if (absl::StripAsciiWhitespace(text).empty()) {
    return MakeError(
        ErrorId::kRequestInvalid, absl::StrCat(file, " holds no points"),
        "write a list of points, e.g. - {values: {layer.0: 2e-5}}", "FILE");
  }
  if (!IsJsonLines(lines)) {
    ASSIGN_OR_RETURN(const YamlPtr root, ParseYaml(text, file));
    RETURN_IF_ERROR(Take(root, file, points));
  } else {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (absl::StripAsciiWhitespace(lines[i]).empty()) continue;
      // Lines before it are blank, so that its place is that in the file.
      ASSIGN_OR_RETURN(const YamlPtr root,
                       ParseYaml(std::string(i, '\n') + lines[i], file));
      RETURN_IF_ERROR(Take(root, file, points));
    }
  }
  if (points.trials.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat(file, " holds an empty list"),
                     "add points to it", "FILE");
  }
  return points;
}

namespace {

constexpr int kMostTrialPriority = 1'000;
constexpr int kMostEnqueued = 1'000;

struct EnqueueArgs {
  std::string study;
  std::string file;
  std::vector<std::string> values;
  std::vector<std::string> labels;
  std::uint64_t seed = 0;  // 0: as the study says
  int priority = 0;
  bool raise_budget = false;
  Output output = {};
};

absl::StatusOr<EnqueuePoints> PointsOf(const EnqueueArgs& args) {
  if (args.file.empty() == args.values.empty()) {
    return MakeError(
        ErrorId::kRequestInvalid,
        args.file.empty() ? "no point is given" : "a file and --set are given",
        "give either --set NAME=VALUE or a FILE of points");
  }
  if (!args.file.empty()) {
    ASSIGN_OR_RETURN(const std::string text,
                     ReadTextFile(args.file, kMaxYamlBytes));
    return ParseEnqueuePoints(text, args.file == "-" ? "stdin" : args.file);
  }
  EnqueuePoints points;
  v1::EnqueuedTrial& trial = points.trials.emplace_back();
  RETURN_IF_ERROR(SetPointValues(args.values, *trial.mutable_values()));
  RETURN_IF_ERROR(
      ChangeLabels(args.labels, "--label", *trial.mutable_labels()));
  trial.set_seed(args.seed);
  return points;
}

// Adds the place to an error: "trials[3].values.layer.0" is about the fourth
// point.
absl::Status PlacedPoint(const absl::Status& status,
                         const EnqueuePoints& points, const std::string& file) {
  const auto detail = DetailOf(status);
  constexpr char kStart[] = "trials[";
  if (!detail.has_value() || points.places.empty() ||
      !absl::StartsWith(detail->field, kStart)) {
    return status;
  }
  const auto at = static_cast<std::size_t>(
      std::strtoul(detail->field.c_str() + sizeof(kStart) - 1, nullptr, 10));
  if (at >= points.places.size()) return status;
  return ErrorAt(detail->id, file, points.places[at],
                 std::string(status.message()), detail->fix, detail->field);
}

absl::StatusOr<ExitCode> EnqueueTrial(Session& session,
                                      const EnqueueArgs& args) {
  v1::EnqueueTrialsRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(const EnqueuePoints points, PointsOf(args));
  if (points.trials.size() > kMostEnqueued) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat(points.trials.size(), " points at a time"),
                     absl::StrCat("enqueue at most ", kMostEnqueued), "FILE");
  }
  request.mutable_trials()->Assign(points.trials.begin(), points.trials.end());
  request.set_priority(args.priority);
  request.set_raise_budget(args.raise_budget);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const absl::StatusOr<v1::EnqueueTrialsReply> reply =
      client->Call(&v1::StudyService::Stub::EnqueueTrials, request);
  if (!reply.ok()) return PlacedPoint(reply.status(), points, args.file);
  return PrintOne(session.terminal, args.output, *reply,
                  [&reply] { return EnqueuedText(*reply) + "\n"; });
}

}  // namespace

void AddTrialEnqueue(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(noun, "enqueue", "Run these points next, before the sampler's",
              invocation, EnqueueTrial);
  verb->add_option("STUDY", args->study, "The study")->required();
  CLI::Option* const file = verb->add_option(
      "FILE", args->file,
      "Points, as in a study file's enqueue or as JSON lines; - is standard "
      "input");
  verb->add_option("--set", args->values,
                   "NAME=VALUE of a parameter, e.g. layer.0=frozen; those "
                   "left out are proposed")
      ->expected(1)
      ->take_all();
  verb->add_option("--label", args->labels, "KEY=VALUE, of the point in --set")
      ->expected(1)
      ->take_all()
      ->excludes(file);
  verb->add_option("--seed", args->seed,
                   "What the point in --set trains with; else as the study "
                   "says")
      ->excludes(file);
  verb->add_option("--priority", args->priority,
                   "Higher goes first among those that wait")
      ->check(CLI::Range(-kMostTrialPriority, kMostTrialPriority));
  verb->add_flag("--raise-budget", args->raise_budget,
                 "Let the budget grow by what it lacks for them");
  AddOneFormats(verb, args->output);
}

}  // namespace frostline::cli
