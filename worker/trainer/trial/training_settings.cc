// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/training_settings.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "base/plain/shown.h"
#include "worker/trainer/data/request_fields.h"

namespace frostline {
namespace {

constexpr std::int64_t kMostEpochs = 100'000;
constexpr std::int64_t kMostSteps = std::int64_t{1} << 40;
constexpr std::int64_t kMostRows = 1 << 20;
constexpr std::int64_t kMostTokens = 1 << 24;
constexpr std::size_t kMostSets = 16;  // so that their metrics fit a finish
constexpr double kAnyNorm = std::numeric_limits<double>::max();

// The parameters that a study may search, beside those of the space's modules.
constexpr std::array<std::string_view, 20> kSearchable = {
    "epochs",
    "max_steps",
    "batch_size",
    "batch_tokens",
    "max_length",
    "optimizer",
    "weight_decay",
    "schedule",
    "warmup_share",
    "warmup_steps",
    "clip_norm",
    "accumulation",
    "dropout",
    "label_smoothing",
    "unfreeze_every_steps",
    "evaluate_every_steps",
    "beta1",
    "beta2",
    "epsilon",
    "seed"};
// And these where the study trains adapters.
constexpr std::array<std::string_view, 3> kLoraSearchable = {
    "lora_rank", "lora_alpha", "lora_dropout"};
constexpr std::int64_t kMostRank = 1 << 16;  // the model sets a lower limit
constexpr double kMostAlpha = 1e6;

bool IsThere(const JsonValue* value) {
  return value != nullptr && !value->is(JsonKind::kNull);
}

// One of these words, or the first when there is none.
template <typename Value, std::size_t N>
Value OneOf(RequestFields& fields, std::string_view name,
            const std::array<std::pair<std::string_view, Value>, N>& words) {
  const std::string word = fields.Text(name);
  if (word.empty()) return words[0].second;
  std::string all;
  for (const auto& [known, value] : words) {
    if (word == known) return value;
    all += (all.empty() ? "" : ", ") + std::string(known);
  }
  fields.Fail(name, "is unknown: " + Shown(word), "use one of " + all);
  return words[0].second;
}

void ReadLoop(RequestFields& fields, TrainingSettings& out) {
  out.max_steps = fields.Whole("max_steps", 0, kMostSteps, 0);
  // With steps alone the epochs are as many as it takes.
  out.epochs = fields.Whole("epochs", 1, kMostEpochs,
                            out.max_steps > 0 ? kMostEpochs : out.epochs);
  out.batch_size = fields.Whole("batch_size", 1, kMostRows, out.batch_size);
  out.batch_tokens = fields.Whole("batch_tokens", 0, kMostTokens, 0);
  out.max_length = fields.Whole("max_length", 3, kMostTokens, 0);
  out.accumulation = fields.Whole("accumulation", 1, kMostRows, 1);
  out.evaluate_every_steps =
      fields.Whole("evaluate_every_steps", 0, kMostSteps, 0);
  out.unfreeze_every_steps =
      fields.Whole("unfreeze_every_steps", 0, kMostSteps, 0);
  out.precision = fields.Text("precision");
  if (out.precision.empty()) out.precision = "auto";
  out.report_example_outcomes = fields.Flag("report_example_outcomes");
  out.seed = fields.Bits("seed");
  out.also_evaluate = fields.Texts("also_evaluate");
  if (out.also_evaluate.size() > kMostSets) {
    fields.Fail("also_evaluate", "names too many data sets",
                "name at most " + std::to_string(kMostSets));
  }
}

void ReadOptimizer(RequestFields& fields, TrainingSettings& out) {
  using enum OptimizerKind;
  out.optimizer.kind = OneOf<OptimizerKind, 3>(
      fields, "optimizer",
      {{{"adamw", kAdamW}, {"adam", kAdam}, {"sgd", kSgd}}});
  out.optimizer.weight_decay = fields.Number("weight_decay", 0.0, 1e3, 0.0);
  out.schedule = OneOf<ScheduleKind, 3>(fields, "schedule",
                                        {{{"linear", ScheduleKind::kLinear},
                                          {"constant", ScheduleKind::kConstant},
                                          {"cosine", ScheduleKind::kCosine}}});
  out.warmup_share = fields.Share("warmup_share");
  out.warmup_steps = fields.Whole("warmup_steps", 0, kMostSteps, 0);
  out.clip_norm = fields.Number("clip_norm", 0.0, kAnyNorm, out.clip_norm);
  out.label_smoothing = fields.Number("label_smoothing", 0.0, 0.999, 0.0);
  if (out.warmup_share > 0.0 && out.warmup_steps > 0) {
    fields.Fail("warmup_share", "and warmup_steps are both given",
                "give one of them");
  }
}

// What may be searched: a parameter goes before the study's own word.
void ReadSearchedExtra(RequestFields& extra, TrainingSettings& out) {
  out.optimizer.beta1 = extra.Number("beta1", 0.0, 0.999999, 0.9);
  out.optimizer.beta2 = extra.Number("beta2", 0.0, 0.999999, 0.999);
  out.optimizer.epsilon = extra.Number("epsilon", 1e-30, 1.0, 1e-8);
  if (extra.Find("dropout") != nullptr) {
    out.dropout = extra.Number("dropout", 0.0, 0.999, 0.0);
  }
}

// What the study alone says: a searched `head` is the rate of that module.
void ReadExtra(RequestFields& extra, TrainingSettings& out) {
  if (extra.Find("no_decay") != nullptr) {
    out.no_decay = extra.Texts("no_decay");
  }
  out.bucket = OneOf<bool, 2>(extra, "batches",
                              {{{"by_length", true}, {"by_chance", false}}});
  out.pair.cosine =
      OneOf<bool, 2>(extra, "head", {{{"joint", false}, {"cosine", true}}});
  out.pair.pooling = OneOf<Pooling, 2>(
      extra, "pooling",
      {{{"first", Pooling::kFirst}, {"mean", Pooling::kMean}}});
  out.pair.scale = extra.Number("scale", 1e-6, 1e6, 5.0);
  out.export_model = extra.Flag("export");
}

void ReadEarlyStopping(RequestFields& fields, TrainingSettings& out) {
  out.early_stopping.metric = fields.Text("metric");
  out.early_stopping.patience =
      static_cast<int>(fields.Whole("patience", 0, 1 << 20, 1));
  out.early_stopping.patience = std::max(out.early_stopping.patience, 1);
  out.early_stopping.min_delta = fields.Number("min_delta", 0.0, 1e300, 0.0);
}

void ReadFreeze(RequestFields& fields, TrainingSettings& out) {
  out.freeze.mode = OneOf<FreezeMode, 2>(
      fields, "mode",
      {{{"hard", FreezeMode::kHard}, {"lr0", FreezeMode::kLr0}}});
  out.freeze.prefix_dropout = OneOf<PrefixDropout, 2>(
      fields, "prefix_dropout",
      {{{"hf", PrefixDropout::kHf}, {"off", PrefixDropout::kOff}}});
  out.virtual_tau = fields.Number("virtual_tau", 0.0, 1.0, 0.0);
}

// A searched rank, alpha or dropout goes before that of the study.
void ReadLora(RequestFields& fields, RequestFields& searched,
              TrainingSettings& out) {
  LoraSpec& lora = out.lora;
  lora.rank = fields.Whole("rank", 0, kMostRank, 0);
  lora.rank = searched.Whole("lora_rank", 1, kMostRank, lora.rank);
  if (lora.rank == 0 && !searched.fault()) {
    fields.Fail("rank", "is 0 or missing", "give one, e.g. 8");
  }
  lora.alpha = fields.Number("alpha", 0.0, kMostAlpha, 0.0);
  lora.alpha = searched.Number("lora_alpha", 0.0, kMostAlpha, lora.alpha);
  // So that the scale is 1.
  if (lora.alpha == 0.0) lora.alpha = static_cast<double>(lora.rank);
  lora.dropout = fields.Number("dropout", 0.0, 0.999, 0.0);
  lora.dropout = searched.Number("lora_dropout", 0.0, 0.999, lora.dropout);
  const std::vector<std::string> names = fields.Texts("modules");
  if (!names.empty()) lora.parts.clear();
  for (const std::string& name : names) {
    const std::optional<LoraPart> part = LoraPartOf(name);
    if (part) lora.parts.insert(*part);
    if (part) continue;
    fields.Fail("modules", "names an unknown part: " + Shown(name),
                "use some of " + LoraPartNames());
  }
  if (out.virtual_tau > 0.0) {
    fields.Take({FaultKind::kUnsupported,
                 "freeze.virtual_tau compares rates with weights, and "
                 "training.lora trains adapters that begin at 0",
                 "leave one of them out"});
  }
}

// A word that nobody knows would be taken for one that did its work.
std::optional<Fault> UnknownExtra(const JsonValue* extra) {
  constexpr std::array<std::string_view, 10> kKnown = {
      "head",  "pooling", "scale",   "dropout", "beta1",
      "beta2", "epsilon", "batches", "export",  "no_decay"};
  if (extra == nullptr) return std::nullopt;
  for (const JsonValue* v = extra->first; v != nullptr; v = v->next) {
    if (std::ranges::find(kKnown, v->key) != kKnown.end()) continue;
    std::string all;
    for (const std::string_view name : kKnown) {
      all += (all.empty() ? "" : ", ") + std::string(name);
    }
    return Fault{FaultKind::kMisuse,
                 "training.extra has " + Shown(v->key) +
                     ", which this trainer does not know",
                 "it knows " + all};
  }
  return std::nullopt;
}

bool IsRate(const JsonValue& value, const JsonValue* rates) {
  if (!value.is(JsonKind::kNumber) || rates == nullptr) return false;
  for (const JsonValue* v = rates->first; v != nullptr; v = v->next) {
    if (v->is(JsonKind::kNumber) && v->number == value.number) return true;
  }
  return false;
}

// A searched parameter that changes nothing would be taken for one that does
// not matter. A tie goes by a name of its own, but its value is a rate.
std::optional<Fault> IdleParameter(const JsonValue& trial) {
  const JsonValue* parameters = trial.Find("parameters");
  const JsonValue* rates = trial.Find("rates");
  const JsonValue* training = trial.Find("training");
  const bool lora = training != nullptr && IsThere(training->Find("lora"));
  if (parameters == nullptr) return std::nullopt;
  for (const JsonValue* v = parameters->first; v != nullptr; v = v->next) {
    const bool known =
        v->key == "prefix_depth" ||
        std::ranges::find(kSearchable, v->key) != kSearchable.end() ||
        (lora &&
         std::ranges::find(kLoraSearchable, v->key) != kLoraSearchable.end()) ||
        (rates != nullptr && rates->Find(v->key) != nullptr) ||
        IsRate(*v, rates);
    if (known) continue;
    std::string all;
    for (const std::string_view name : kSearchable) {
      all += (all.empty() ? "" : ", ") + std::string(name);
    }
    return Fault{FaultKind::kMisuse,
                 "the parameter " + Shown(v->key) +
                     " would have no effect on this trainer",
                 "search one of " + all + ", or bring a trainer of your own"};
  }
  return std::nullopt;
}

}  // namespace

Expected<TrainingSettings> ReadTrainingSettings(const JsonValue& trial) {
  if (const auto idle = IdleParameter(trial)) return *idle;
  const JsonValue* training = trial.Find("training");
  const auto within = [&](std::string_view name) {
    return training == nullptr ? nullptr : training->Find(name);
  };
  if (const auto unknown = UnknownExtra(within("extra"))) return *unknown;
  const JsonValue* parameters = trial.Find("parameters");
  TrainingSettings settings;
  RequestFields fields("training", {parameters, training});
  RequestFields extra("training.extra", {within("extra")});
  RequestFields tuned("training.extra", {parameters, within("extra")});
  RequestFields early("training.early_stopping", {within("early_stopping")});
  RequestFields freeze("freeze", {trial.Find("freeze")});
  RequestFields lora("training.lora", {within("lora")});
  RequestFields searched("parameters", {parameters});
  ReadLoop(fields, settings);
  ReadOptimizer(fields, settings);
  ReadExtra(extra, settings);
  ReadSearchedExtra(tuned, settings);
  if (within("early_stopping") != nullptr) ReadEarlyStopping(early, settings);
  ReadFreeze(freeze, settings);
  if (IsThere(within("lora"))) ReadLora(lora, searched, settings);
  for (const RequestFields* each :
       {&fields, &extra, &tuned, &early, &freeze, &lora, &searched}) {
    if (each->fault()) return *each->fault();
  }
  return settings;
}

}  // namespace frostline
