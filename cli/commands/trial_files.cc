// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/trial_files.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "cli/client/notes.h"
#include "cli/commands/imported_lines.h"
#include "cli/commands/set_field.h"
#include "cli/commands/study.h"
#include "cli/commands/trial.h"
#include "cli/study_file/yaml_sugar.h"
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
    request.set_request_id(NewRequestId(SystemClock()));
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
  const auto args = std::make_shared<ImportArgs>();
  CLI::App* const verb =
      AddVerb(noun, "import",
              "Add trials that ended elsewhere, outside the budget", invocation,
              [args](Session& session) { return ImportStudy(session, *args); });
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
  v1::GetStudyRequest request;
  request.set_name(told.name());
  const auto study = client.Call(&v1::StudyService::Stub::GetStudy, request);
  if (!study.ok()) return;
  const std::string text = OutOfRangeText(study->spec(), told.trials(0));
  if (!text.empty()) Notes() << "note: " << text << "\n";
}

absl::StatusOr<ExitCode> Tell(Session& session, const TellArgs& args) {
  v1::ImportTrialsRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), StudyNameFrom(args.study));
  request.set_request_id(NewRequestId(SystemClock()));
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
  const auto args = std::make_shared<TellArgs>();
  CLI::App* const verb = AddVerb(
      noun, "tell",
      "Tell a study how a point did elsewhere, outside the budget", invocation,
      [args](Session& session) { return Tell(session, *args); });
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

}  // namespace frostline::cli
