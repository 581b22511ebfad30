// SPDX-License-Identifier: Apache-2.0
#include "cli/view/study_view.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/plan_view.h"
#include "cli/view/trial_view.h"
#include "google/protobuf/util/json_util.h"
#include "proto/wire_error.h"
#include "study/objective.h"

namespace frostline::cli {
namespace {

// Names in the order of the space, grouped by their possible values.
using Kinds = std::vector<std::pair<std::string, std::vector<std::string>>>;

void Add(const std::string& name, const std::string& values, Kinds& kinds) {
  const auto found = std::find_if(
      kinds.begin(), kinds.end(),
      [&values](const auto& kind) { return kind.first == values; });
  if (found != kinds.end()) return found->second.push_back(name);
  kinds.push_back({values, {name}});
}

std::string TextOf(const v1::Levels& levels) {
  return absl::StrJoin(levels.rates(), ", ");
}
std::string TextOf(const v1::Ranks& ranks) {
  return absl::StrCat("rank ", absl::StrJoin(ranks.ranks(), ", "));
}
std::string TextOf(const v1::LogUniform& range) {
  return absl::StrCat(range.freeze() ? "0, or " : "", range.lo(), " to ",
                      range.hi(), ", log-uniform");
}
std::string TextOf(const v1::FloatRange& range) {
  return absl::StrCat(
      range.lo(), " to ", range.hi(),
      range.step() > 0 ? absl::StrCat(" in steps of ", range.step()) : "",
      range.log() ? ", log-uniform" : "");
}
std::string TextOf(const v1::IntRange& range) {
  return absl::StrCat(range.lo(), " to ", range.hi(),
                      range.step() > 1
                          ? absl::StrCat(" in steps of ", range.step())
                          : ", whole numbers",
                      range.log() ? ", log-uniform" : "");
}
std::string TextOf(const google::protobuf::ListValue& choices) {
  return absl::StrJoin(choices.values(), ", ",
                       [](std::string* out, const auto& value) {
                         absl::StrAppend(out, FormatValue(value));
                       });
}
std::string Always(double value) { return absl::StrCat("always ", value); }

std::string TextOf(const v1::NumberSpace& number) {
  if (number.has_levels()) return TextOf(number.levels());
  return number.has_float_() ? TextOf(number.float_()) : Always(number.fixed());
}

// Returns "layer.0-5" for "layer.*" when the number of layers is known.
std::string ModuleNameOf(const std::string& selector, int layers) {
  if (selector != "layer.*" || layers < 2) return selector;
  return absl::StrCat("layer.0-", layers - 1);
}

void AddModules(const v1::StudySpec& spec, Kinds& kinds) {
  for (const v1::ModuleSpace& module : spec.space().modules()) {
    std::string values = module.has_levels() ? TextOf(module.levels())
                         : module.has_log_uniform()
                             ? TextOf(module.log_uniform())
                         : module.has_fixed() ? Always(module.fixed())
                                              : "";
    if (module.has_rank()) {
      values = absl::StrCat(TextOf(module.rank()), values.empty() ? "" : "; ",
                            values);
    }
    Add(ModuleNameOf(module.select(), spec.model().layers()), values, kinds);
  }
  for (const v1::Tie& tie : spec.space().ties()) {
    Add(absl::StrCat(tie.name(), " (", absl::StrJoin(tie.modules(), " "),
                     " together)"),
        tie.has_levels() ? TextOf(tie.levels())
        : tie.has_rank() ? TextOf(tie.rank())
                         : TextOf(tie.log_uniform()),
        kinds);
  }
}

std::string TextOf(const v1::ParameterSpace& parameter) {
  switch (parameter.domain_case()) {
    case v1::ParameterSpace::kFloat:
      return TextOf(parameter.float_());
    case v1::ParameterSpace::kInt:
      return TextOf(parameter.int_());
    case v1::ParameterSpace::kChoices:
      return TextOf(parameter.choices());
    case v1::ParameterSpace::kLevels:
      return TextOf(parameter.levels());
    case v1::ParameterSpace::kLogUniform:
      return TextOf(parameter.log_uniform());
    case v1::ParameterSpace::DOMAIN_NOT_SET:
      break;
  }
  return "";
}

std::string ConditionText(const v1::Condition& when) {
  if (when.values_size() > 0) {
    return absl::StrCat(", while ", when.parent(), " is ",
                        absl::StrJoin(when.values(), " or "));
  }
  return absl::StrCat(
      ", while ", when.parent(), " is",
      when.has_min() ? absl::StrCat(" from ", when.min()) : "",
      when.has_max() ? absl::StrCat(" up to ", when.max()) : "");
}

}  // namespace

std::vector<std::string> SpaceLines(const v1::StudySpec& spec) {
  const v1::SearchSpace& space = spec.space();
  Kinds kinds;
  AddModules(spec, kinds);
  if (space.has_prefix_depth()) {
    Add("prefix_depth",
        absl::StrCat(space.prefix_depth().lo(), " to ",
                     space.prefix_depth().hi(), ", whole numbers"),
        kinds);
  }
  if (space.has_layerwise_decay()) {
    Add("base_rate", TextOf(space.layerwise_decay().base_rate()), kinds);
    Add("decay", TextOf(space.layerwise_decay().decay()), kinds);
  }
  for (const v1::ParameterSpace& parameter : space.parameters()) {
    Add(parameter.name(),
        absl::StrCat(TextOf(parameter), parameter.has_when()
                                            ? ConditionText(parameter.when())
                                            : ""),
        kinds);
  }
  std::vector<std::string> lines;
  for (const auto& [values, names] : kinds) {
    lines.push_back(absl::StrCat(absl::StrJoin(names, ", "), ": ", values));
  }
  return lines;
}

MetricRange ClaimedRange(const v1::Objective& objective) {
  if (!objective.has_range()) return PresumedRange(objective.metric());
  MetricRange range;
  if (objective.range().has_lo()) range.lo = objective.range().lo();
  if (objective.range().has_hi()) range.hi = objective.range().hi();
  return range;
}

std::string OutOfRangeText(const v1::StudySpec& spec,
                           const v1::ImportedTrial& trial) {
  for (const v1::Objective& objective : spec.objectives()) {
    const auto told = trial.metrics().find(objective.metric());
    if (told == trial.metrics().end()) continue;
    const MetricRange range = ClaimedRange(objective);
    if (range.Holds(told->second)) continue;
    return absl::StrCat(
        objective.metric(), " ", FormatNumber(told->second), " is not in ",
        DescribeRange(range),
        objective.has_range() ? "" : ", presumed from its name",
        ": it is kept; importance and plans leave it out unless more than one "
        "in ten is outside");
  }
  return "";
}

namespace {

constexpr std::size_t kMaxStudyTextBytes = 1000;

std::string ObjectivesText(const v1::StudySpec& spec) {
  return absl::StrJoin(
      spec.objectives(), ", ", [](std::string* out, const v1::Objective& o) {
        absl::StrAppend(
            out,
            o.direction() == v1::DIRECTION_MAXIMIZE ? "maximize " : "minimize ",
            o.metric());
        if (o.tolerance() > 0.0) {
          absl::StrAppend(out, " (differences up to ",
                          FormatNumber(o.tolerance()), " do not matter)");
        }
      });
}

// Returns "accuracy in 0 … 1 (presumed from its name)", or "" when nothing is
// known.
std::string RangesText(const v1::StudySpec& spec) {
  std::vector<std::string> parts;
  for (const v1::Objective& o : spec.objectives()) {
    const MetricRange range = ClaimedRange(o);
    if (!o.has_range() && !range.IsBounded()) continue;
    parts.push_back(
        absl::StrCat(o.metric(), " ", DescribeRange(range),
                     o.has_range() ? "" : " (presumed from its name)"));
  }
  return absl::StrJoin(parts, ", ");
}

// Returns "one for each trial; the 3 leading points run 3 times each, from
// trial 30 on".
std::string SeedsText(const v1::StudySpec& spec) {
  std::string text = "one for each trial";
  if (spec.seeds() == v1::SEED_MODE_PAIRED) {
    text = "paired: the same for the first run of every point";
  } else if (spec.training().seed() != 0) {
    text = absl::StrCat(spec.training().seed(), " for all trials");
  } else if (spec.seeds() == v1::SEED_MODE_FIXED) {
    text = "one for all trials";
  }
  if (!spec.has_repeat()) return text;
  return absl::StrCat(text, "; the ", spec.repeat().leaders(),
                      " leading points run ", spec.repeat().times(),
                      " times each, from trial ", spec.repeat().after(), " on");
}

// Returns "auto (bf16, as its first trial)".
std::string PrecisionText(const v1::Study& study) {
  const std::string& asked = study.spec().training().precision();
  const std::string& decided = study.settings().auto_precision();
  if (decided.empty() || (!asked.empty() && asked != "auto")) return asked;
  return absl::StrCat("auto (", decided, ", as its first trial)");
}

std::string SamplerText(const v1::Study& study) {
  std::string name = study.spec().sampler().name().empty()
                         ? "tpe"
                         : study.spec().sampler().name();
  const std::string& resolved = study.resolved_sampler();
  if (resolved.empty() || resolved == name) return name;
  return absl::StrCat(name, " (", resolved, ")");
}

// Returns the purpose, or "" for a study from before there were purposes.
std::string PurposeText(const v1::StudySpec& spec, bool with_meaning) {
  Purpose purpose = Purpose::kBest;
  if (spec.purpose() == v1::PURPOSE_UNSPECIFIED) return "";
  if (spec.purpose() == v1::PURPOSE_UNDERSTAND) purpose = Purpose::kUnderstand;
  if (spec.purpose() == v1::PURPOSE_BOTH) purpose = Purpose::kBoth;
  return with_meaning ? absl::StrCat(NameOf(purpose), ": ", MeaningOf(purpose))
                      : NameOf(purpose);
}

// Returns "sst (sst5), sts (stsb)".
std::string TasksText(const v1::StudySpec& spec) {
  return absl::StrJoin(
      spec.tasks(), ", ", [](std::string* out, const v1::TaskSpec& task) {
        absl::StrAppend(out, task.name(), " (", task.data().id(), ")");
      });
}

// Returns "17", or for several "17 and 4 more".
std::string BestText(const v1::Study& study) {
  if (study.best_trials().empty()) return "";
  const std::string first = LastPart(study.best_trials(0));
  const int more = study.best_trials_size() - 1;
  return more == 0 ? first : absl::StrCat(first, " and ", more, " more");
}

std::string SizeText(double size) {
  if (std::isinf(size)) return "infinitely many points (continuous)";
  if (size < 1e15) {
    return FormatCount(static_cast<std::int64_t>(size)) + " points";
  }
  return FormatNumber(size) + " points";
}

}  // namespace

std::int64_t EndedTrials(const v1::TrialCounts& counts) {
  return counts.succeeded() + counts.pruned() + counts.infeasible() +
         counts.failed() + counts.cancelled();
}

std::int64_t OutsideBudget(const v1::TrialCounts& counts) {
  return std::max<std::int64_t>(0, EndedTrials(counts) - counts.budget_used());
}

std::string ProgressText(const v1::Study& study) {
  const v1::TrialCounts& counts = study.counts();
  std::string text = absl::StrCat(counts.budget_used(), "/",
                                  study.settings().budget().trials(), " done");
  if (OutsideBudget(counts) > 0) {
    absl::StrAppend(&text, ", ", OutsideBudget(counts), " outside the budget");
  }
  absl::StrAppend(&text, ", ", counts.running(), " running");
  if (counts.pruned() > 0)
    absl::StrAppend(&text, ", ", counts.pruned(), " pruned");
  if (counts.failed() > 0)
    absl::StrAppend(&text, ", ", counts.failed(), " failed");
  if (counts.infeasible() > 0) {
    absl::StrAppend(&text, ", ", counts.infeasible(), " infeasible");
  }
  return text;
}

Cell BestCell(const v1::Trial& best, const v1::StudySpec& spec) {
  Cell cell{ObjectiveText(best, spec)};
  if (best.values_size() == 1) cell.exact = CsvNumber(best.values(0));
  return cell;
}

Table StudyTable(const std::vector<v1::Study>& studies,
                 const std::map<std::string, Cell>& best, bool wide) {
  const bool any_outside = std::any_of(
      studies.begin(), studies.end(),
      [](const v1::Study& study) { return OutsideBudget(study.counts()) > 0; });
  std::vector<Column> columns({{"ID"},
                               {"STATE"},
                               {"DONE", Align::kRight},
                               {"BUDGET", Align::kRight},
                               {"OUTSIDE", Align::kRight, 0,
                                /*on_demand=*/!any_outside},
                               {"RUNNING", Align::kRight, 1},
                               {"FAILED", Align::kRight, 1},
                               {"BEST", Align::kLeft, 1},
                               {"BEST TRIAL", Align::kRight, 2},
                               {"CREATED", Align::kLeft, 3}});
  if (wide) {
    columns.insert(columns.end(), {{"OWNER"},
                                   {"LABELS"},
                                   {"PRIORITY", Align::kRight, 0, true},
                                   {"OBJECTIVE", Align::kLeft, 0, true},
                                   {"MODEL", Align::kLeft, 0, true},
                                   {"DATA", Align::kLeft, 0, true},
                                   {"SAMPLER", Align::kLeft, 0, true},
                                   {"REASON", Align::kLeft, 0, true},
                                   {"NOTES", Align::kLeft, 0, true}});
  }
  Table table(columns);
  for (const v1::Study& study : studies) {
    const v1::StudySettings& settings = study.settings();
    const auto score = best.find(study.name());
    std::vector<Cell> cells = {{LastPart(study.name())},
                               {NameOf(study.state())},
                               {absl::StrCat(study.counts().budget_used())},
                               {absl::StrCat(settings.budget().trials())},
                               {absl::StrCat(OutsideBudget(study.counts()))},
                               {absl::StrCat(study.counts().running())},
                               {absl::StrCat(study.counts().failed())},
                               score == best.end() ? Cell() : score->second,
                               {BestText(study)},
                               {FormatTime(study.create_time())}};
    if (wide) {
      cells.insert(cells.end(), {{study.owner()},
                                 {FormatLabels(settings.labels())},
                                 {absl::StrCat(settings.priority())},
                                 {ObjectivesText(study.spec())},
                                 {study.spec().model().id()},
                                 {study.spec().data().id()},
                                 {SamplerText(study)},
                                 {study.state_reason()},
                                 {settings.notes()}});
    }
    table.AddCells(std::move(cells));
  }
  return table;
}

std::string RenderStudy(const v1::Study& study,
                        const std::optional<v1::Trial>& best, int width) {
  std::string text = KeyLine("study", LastPart(study.name()));
  text += KeyLine("state", study.state_reason().empty()
                               ? NameOf(study.state())
                               : absl::StrCat(NameOf(study.state()), " (",
                                              study.state_reason(), ")"));
  text += KeyLine("progress", ProgressText(study));
  text += KeyLine("objective", ObjectivesText(study.spec()));
  text += KeyLine("range", RangesText(study.spec()));
  text += KeyLine("model", study.spec().model().id());
  text += KeyLine("data", study.spec().data().id());
  text += KeyLine("precision", PrecisionText(study));
  text += KeyLine("tasks", TasksText(study.spec()));
  std::string key = "space";
  for (const std::string& line : SpaceLines(study.spec())) {
    text += KeyLine(std::exchange(key, ""), line);
  }
  text += KeyLine("sampler", SamplerText(study));
  text += KeyLine("purpose", PurposeText(study.spec(), false));
  text += KeyLine("pruner", study.settings().pruner().name());
  text += KeyLine("seed", absl::StrCat(study.spec().seed()));
  text += KeyLine("trial seeds", SeedsText(study.spec()));
  text += KeyLine("recipe", study.spec().recipe());
  text += KeyLine("labels", FormatLabels(study.settings().labels()));
  text += KeyLine("note", study.settings().notes());
  text += KeyLine("owner", study.owner());
  text += KeyLine("created", FormatTime(study.create_time()));
  text += KeyLine("revision", absl::StrCat(study.revision()));
  text += UsageLines(study.usage());
  for (const std::string& warning : study.warnings()) {
    text += KeyLine("warning", proto::CleanText(warning, kMaxStudyTextBytes));
  }
  text = WrapKeyLines(text, width);
  if (!best.has_value()) return text;
  absl::StrAppend(&text, "\nbest trial ", best->number(), ": ",
                  ObjectiveText(*best, study.spec()), "\n");
  if (best->rates_size() > 0) text += RenderRates(*best);
  return text;
}

namespace {

// Returns the modules that stay frozen since nothing gives them a rate.
std::vector<std::string> UnnamedModules(const v1::CreateStudyReply& reply) {
  std::vector<std::string> names;
  const v1::SearchSpace& space = reply.study().spec().space();
  if (space.has_default_() || space.has_layerwise_decay()) return names;
  for (const v1::ResolvedModule& module : reply.modules()) {
    const bool is_frozen = module.parameter().empty() &&
                           module.rank_parameter().empty() &&
                           module.fixed_rate() == 0.0;
    const bool is_named =
        std::any_of(space.modules().begin(), space.modules().end(),
                    [&](const v1::ModuleSpace& of) {
                      return of.has_fixed() && of.fixed() == 0.0;
                    });
    if (is_frozen && !is_named) names.push_back(module.module());
  }
  return names;
}

// Whether the module has one rate. Rates that decay by layer have no parameter
// of their own, and are not fixed.
bool IsFixed(const v1::ResolvedModule& module) {
  const std::string& domain = module.domain();
  return module.parameter().empty() && module.rank_parameter().empty() &&
         (domain.empty() || domain == "frozen" ||
          absl::StartsWith(domain, "fixed "));
}

}  // namespace

std::string RenderPlan(const v1::CreateStudyReply& reply, int width) {
  Table table({{"MODULE"}, {"PARAMETER"}, {"RATES"}});
  for (const v1::ResolvedModule& module : reply.modules()) {
    std::vector<std::string> parameters;
    for (const std::string& name :
         {module.rank_parameter(), module.parameter()}) {
      if (!name.empty()) parameters.push_back(name);
    }
    const bool fixed = IsFixed(module);
    if (!fixed && parameters.empty()) {  // its rate decays by layer
      for (const char* const name : {"base_rate", "decay"}) {
        if (absl::StrContains(module.domain(), name))
          parameters.push_back(name);
      }
    }
    table.AddRow({module.module(),
                  fixed ? "(fixed)" : absl::StrJoin(parameters, ", "),
                  fixed ? FormatRate(module.fixed_rate()) : module.domain()});
  }
  std::string text = table.empty() ? "" : table.Render(width);
  absl::StrAppend(&text, "space:  ", SizeText(reply.space_size()), "\nbudget: ",
                  FormatCount(reply.study().settings().budget().trials()),
                  " trials\n");
  const std::string ranges = RangesText(reply.study().spec());
  if (!ranges.empty()) absl::StrAppend(&text, "range:  ", ranges, "\n");
  absl::StrAppend(&text, "seeds:  ", SeedsText(reply.study().spec()), "\n");
  const std::string purpose = PurposeText(reply.study().spec(), true);
  if (!purpose.empty()) text += WrapText("purpose: " + purpose, width);
  const std::vector<std::string> unnamed = UnnamedModules(reply);
  if (!unnamed.empty()) {
    text += WrapText(
        absl::StrCat("warning: nothing gives a rate to ",
                     proto::CleanText(ModuleList(unnamed), kMaxStudyTextBytes),
                     ", so they stay frozen in every trial; name them, or "
                     "write default:"),
        width);
  }
  for (const std::string& warning : reply.study().warnings()) {
    text += WrapText(
        "warning: " + proto::CleanText(warning, kMaxStudyTextBytes), width);
  }
  for (const std::string& advice : reply.advice()) {
    text += WrapText("advice: " + proto::CleanText(advice, kMaxStudyTextBytes),
                     width);
  }
  return text;
}

std::string RenderPlanInShort(const v1::CreateStudyReply& reply) {
  std::vector<std::pair<std::string, std::vector<std::string>>> kinds;
  for (const v1::ResolvedModule& module : reply.modules()) {
    const std::string kind =
        IsFixed(module)
            ? absl::StrCat("always ", FormatRate(module.fixed_rate()))
            : module.domain();
    if (kinds.empty() || kinds.back().first != kind)
      kinds.push_back({kind, {}});
    kinds.back().second.push_back(module.module());
  }
  std::string text;
  for (const auto& [kind, modules] : kinds) {
    absl::StrAppend(&text,
                    proto::CleanText(ModuleList(modules), kMaxStudyTextBytes),
                    ": ", proto::CleanText(kind, kMaxStudyTextBytes), "\n");
  }
  absl::StrAppend(&text, "space: ", SizeText(reply.space_size()), "; budget: ",
                  FormatCount(reply.study().settings().budget().trials()),
                  " trials\n");
  return text;
}

Table WorkerTable(const std::vector<v1::Worker>& workers) {
  Table table({{"ID"},
               {"STATE"},
               {"SLOTS", Align::kRight, 1},
               {"TRIALS", Align::kRight, 1},
               {"LAST SEEN", Align::kLeft, 3},
               {"LABELS", Align::kLeft, 2},
               {"REASON"}});
  for (const v1::Worker& worker : workers) {
    table.AddRow({LastPart(worker.name()), NameOf(worker.state()),
                  absl::StrCat(worker.slots()),
                  absl::StrCat(worker.trials_size()),
                  FormatTime(worker.last_seen_time()),
                  FormatLabels(worker.labels()), worker.state_reason()});
  }
  return table;
}

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Texts = std::map<std::string, std::string>;

constexpr int kSingle = -1;

// Returns whether people write the message as a value, like Protobuf's own.
bool IsValue(const Message& message) {
  return absl::StartsWith(message.GetDescriptor()->full_name(),
                          "google.protobuf.");
}

std::string JsonOf(const Message& message) {
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(message, &json);
  return json;
}

std::string ScalarText(const Message& message, const FieldDescriptor& field,
                       int at) {
  const auto* const reflection = message.GetReflection();
  const auto get = [&](auto one, auto repeated) {
    return at == kSingle ? (reflection->*one)(message, &field)
                         : (reflection->*repeated)(message, &field, at);
  };
  using R = google::protobuf::Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(get(&R::GetInt32, &R::GetRepeatedInt32));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(get(&R::GetInt64, &R::GetRepeatedInt64));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(get(&R::GetUInt32, &R::GetRepeatedUInt32));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(get(&R::GetUInt64, &R::GetRepeatedUInt64));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return CsvNumber(get(&R::GetDouble, &R::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return CsvNumber(get(&R::GetFloat, &R::GetRepeatedFloat));
    case FieldDescriptor::CPPTYPE_BOOL:
      return get(&R::GetBool, &R::GetRepeatedBool) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return get(&R::GetEnum, &R::GetRepeatedEnum)->name();
    default:
      return get(&R::GetString, &R::GetRepeatedString);
  }
}

// Returns the key that identifies an element of a list, else its index.
std::string KeyOf(const Message& message, int at) {
  for (const char* const name : {"select", "name", "metric"}) {
    const FieldDescriptor* const field =
        message.GetDescriptor()->FindFieldByName(name);
    if (field == nullptr || field->is_repeated() ||
        field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
      continue;
    }
    std::string key = message.GetReflection()->GetString(message, field);
    if (!key.empty()) return key;
  }
  return absl::StrCat(at);
}

void Flatten(const Message& message, const std::string& path, Texts& texts);

void FlattenMap(const Message& message, const FieldDescriptor& field,
                const std::string& path, Texts& texts) {
  const auto* const reflection = message.GetReflection();
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
    const Message& pair = reflection->GetRepeatedMessage(message, &field, i);
    const FieldDescriptor& value = *field.message_type()->map_value();
    const std::string at = absl::StrCat(
        path, ".", ScalarText(pair, *field.message_type()->map_key(), kSingle));
    if (value.message_type() == nullptr) {
      texts[at] = ScalarText(pair, value, kSingle);
    } else {
      texts[at] = JsonOf(pair.GetReflection()->GetMessage(pair, &value));
    }
  }
}

void FlattenList(const Message& message, const FieldDescriptor& field,
                 const std::string& path, Texts& texts) {
  const auto* const reflection = message.GetReflection();
  std::vector<std::string> values;
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
    if (field.message_type() == nullptr) {
      values.push_back(ScalarText(message, field, i));
      continue;
    }
    const Message& one = reflection->GetRepeatedMessage(message, &field, i);
    // A key that comes twice gets its place, so that none hides another.
    std::string at = absl::StrCat(path, "[", KeyOf(one, i), "]");
    if (texts.contains(at)) at = absl::StrCat(path, "[", i, "]");
    texts[at] = "there";
    Flatten(one, at, texts);
  }
  if (!values.empty()) {
    texts[path] = absl::StrCat("[", absl::StrJoin(values, ", "), "]");
  }
}

void Flatten(const Message& message, const std::string& path, Texts& texts) {
  if (IsValue(message)) {
    texts[path] = JsonOf(message);
    return;
  }
  const auto* const reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    const std::string at =
        path.empty() ? field->name() : absl::StrCat(path, ".", field->name());
    if (field->is_map()) {
      FlattenMap(message, *field, at, texts);
    } else if (field->is_repeated()) {
      FlattenList(message, *field, at, texts);
    } else if (field->message_type() == nullptr) {
      texts[at] = ScalarText(message, *field, kSingle);
    } else {
      Flatten(reflection->GetMessage(message, field), at, texts);
    }
  }
}

std::string ShownChange(const std::string& text) {
  return text.empty() ? "-" : proto::CleanText(text, proto::kMaxCauseBytes);
}

}  // namespace

std::vector<FieldChange> FieldChanges(const Message& from, const Message& to) {
  Texts before;
  Texts after;
  Flatten(from, "", before);
  Flatten(to, "", after);
  Texts paths = before;
  paths.insert(after.begin(), after.end());
  std::vector<FieldChange> changes;
  for (const auto& [path, text] : paths) {
    const auto old = before.find(path);
    const auto now = after.find(path);
    FieldChange change{.path = path,
                       .from = old == before.end() ? "" : old->second,
                       .to = now == after.end() ? "" : now->second};
    if (change.from != change.to) changes.push_back(std::move(change));
  }
  return changes;
}

std::string RenderFieldChanges(const std::vector<FieldChange>& changes) {
  std::string text;
  for (const FieldChange& change : changes) {
    absl::StrAppend(&text, change.path, ": ", ShownChange(change.from), " -> ",
                    ShownChange(change.to), "\n");
  }
  return text;
}

std::string FieldChangesToJson(const std::vector<FieldChange>& changes) {
  google::protobuf::Struct all;
  auto& list = *(*all.mutable_fields())["differences"].mutable_list_value();
  for (const FieldChange& change : changes) {
    auto& fields = *list.add_values()->mutable_struct_value()->mutable_fields();
    fields["path"].set_string_value(change.path);
    fields["from"].set_string_value(change.from);
    fields["to"].set_string_value(change.to);
  }
  return ToJson(all);
}

}  // namespace frostline::cli
