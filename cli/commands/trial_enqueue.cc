// SPDX-License-Identifier: Apache-2.0
//
// `frostline trial enqueue`: points to run next, before the sampler's.
#include "cli/commands/trial_enqueue.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/plan.h"
#include "cli/commands/set_field.h"
#include "cli/commands/trial.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/study_file/yaml_to_proto.h"
#include "cli/term/text_file.h"

namespace frostline::cli {
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
  request.set_request_id(NewRequestId(SystemClock()));
  request.mutable_trials()->Assign(points.trials.begin(), points.trials.end());
  request.set_priority(args.priority);
  request.set_raise_budget(args.raise_budget);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const absl::StatusOr<v1::EnqueueTrialsReply> reply =
      client->Call(&v1::StudyService::Stub::EnqueueTrials, request);
  if (!reply.ok()) return PlacedPoint(reply.status(), points, args.file);
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, *reply,
                           [&reply] { return EnqueuedText(*reply) + "\n"; }));
  return kExitOk;
}

}  // namespace

void AddTrialEnqueue(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<EnqueueArgs>();
  CLI::App* const verb = AddVerb(
      noun, "enqueue", "Run these points next, before the sampler's",
      invocation,
      [args](Session& session) { return EnqueueTrial(session, *args); });
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
