// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/training_settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/plain/text.h"
#include "base/plain/training_table.h"
#include "worker/trainer/train/optimizer.h"

namespace frostline::trainer {
namespace {

bool IsThere(const JsonValue* value) {
  return value != nullptr && !value->is(JsonKind::kNull);
}

// Returns a fault for a member that no row knows. Ignored, it would look as if
// it had worked.
std::optional<Fault> UnknownMember(const std::string& block,
                                   const std::string& where,
                                   const JsonValue* study) {
  if (study == nullptr || !study->is(JsonKind::kObject)) return std::nullopt;
  for (const JsonValue* v = study->first; v != nullptr; v = v->next) {
    const std::string key = block + std::string(v->key);
    const bool known = FindSetting(key) != nullptr ||
                       (block.empty() && (v->key == "extra" ||
                                          !NamesOfBlock(key + ".").empty()));
    if (known) continue;
    return Fault{
        FaultKind::kMisuse,
        where + " has " + Shown(v->key) + ", which this trainer does not know",
        "it knows " + Listed(NamesOfBlock(block))};
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

// Returns whether the block does nothing unless the study has it.
bool MustBeThere(std::string_view block) {
  return block == "lora." || block == "adapters." || block == "smart.";
}

// Returns the settings that may be searched; those of adapters and SMART only
// if the study has these blocks.
std::vector<std::string_view> Searchable(const JsonValue& trial) {
  const JsonValue* const training = trial.Find("training");
  const bool has_ranks = trial.Find("ranks") != nullptr;
  std::vector<std::string_view> names;
  for (const SettingRow& row : TrainingTable()) {
    if (row.searched_as.empty()) continue;
    const std::string_view block = row.block();
    if (!MustBeThere(block) || (has_ranks && block == "lora.") ||
        (training != nullptr &&
         IsThere(training->Find(block.substr(0, block.size() - 1))))) {
      names.push_back(row.searched_as);
    }
  }
  return names;
}

}  // namespace

SettingFields::SettingFields(std::string block, const std::string& where,
                             const JsonValue* parameters,
                             const JsonValue* study)
    : block_(std::move(block)),
      searched_(MustBeThere(block_) ? "parameters" : where, {parameters}),
      study_(where, {study}) {
  if (const auto fault = UnknownMember(block_, where, study)) {
    study_.Take(*fault);
  }
}

const SettingRow& SettingFields::RowOf(std::string_view name) const {
  return SettingOf(block_ + std::string(name));
}

RequestFields& SettingFields::SourceOf(const SettingRow& row,
                                       std::string_view* name) {
  *name = row.searched_as;
  if (!name->empty() && searched_.Find(*name) != nullptr) return searched_;
  *name = row.name();
  return study_;
}

bool SettingFields::Has(std::string_view name) const {
  const SettingRow& row = RowOf(name);
  return (!row.searched_as.empty() &&
          searched_.Find(row.searched_as) != nullptr) ||
         study_.Find(name) != nullptr;
}

std::int64_t SettingFields::Whole(std::string_view name) {
  return Whole(name, static_cast<std::int64_t>(RowOf(name).unless_given));
}

std::int64_t SettingFields::Whole(std::string_view name,
                                  std::int64_t unless_given) {
  const SettingRow& row = RowOf(name);
  RequestFields& source = SourceOf(row, &name);
  return source.Whole(name, static_cast<std::int64_t>(row.least),
                      static_cast<std::int64_t>(row.most), unless_given);
}

double SettingFields::Number(std::string_view name) {
  const SettingRow& row = RowOf(name);
  RequestFields& source = SourceOf(row, &name);
  return source.Number(name, row.least, row.most, row.unless_given);
}

std::uint64_t SettingFields::Bits(std::string_view name) {
  RequestFields& source = SourceOf(RowOf(name), &name);
  return source.Bits(name);
}

std::size_t SettingFields::Word(std::string_view name) {
  const std::vector<std::string_view> words = WordsOf(RowOf(name));
  RequestFields& source = SourceOf(RowOf(name), &name);
  const std::string word = source.Text(name);
  if (word.empty()) return 0;
  const auto found = std::ranges::find(words, word);
  if (found != words.end()) {
    return static_cast<std::size_t>(found - words.begin());
  }
  source.Fail(name, "is unknown: " + Shown(word),
              "use one of " + Listed(words));
  return 0;
}

std::optional<Fault> SettingFields::fault() const {
  return study_.fault() ? study_.fault() : searched_.fault();
}

std::optional<Fault> IdleParameter(const JsonValue& trial) {
  const JsonValue* parameters = trial.Find("parameters");
  const JsonValue* rates = trial.Find("rates");
  if (parameters == nullptr) return std::nullopt;
  const std::vector<std::string_view> searchable = Searchable(trial);
  for (const JsonValue* v = parameters->first; v != nullptr; v = v->next) {
    // A tie goes by a name of its own, but its value is a rate.
    const bool known =
        v->key == "prefix_depth" || v->key == "base_rate" ||
        v->key == "decay" ||  // of the space's layerwise_decay
        std::ranges::find(searchable, v->key) != searchable.end() ||
        (rates != nullptr && rates->Find(v->key) != nullptr) ||
        IsRate(*v, rates) || IsRate(*v, trial.Find("ranks"));
    if (known) continue;
    return Fault{FaultKind::kMisuse,
                 "the parameter " + Shown(v->key) +
                     " would have no effect on this trainer",
                 "search one of " + Listed(searchable) +
                     ", or bring a trainer of your own"};
  }
  return std::nullopt;
}

namespace {

void ReadLoop(SettingFields& fields, TrainingSettings& out) {
  out.max_steps = fields.Whole("max_steps");
  // With steps alone there are as many epochs as these need.
  out.epochs = out.max_steps > 0 && !fields.Has("epochs")
                   ? static_cast<std::int64_t>(SettingOf("epochs").most)
                   : fields.Whole("epochs");
  out.batch_size = fields.Whole("batch_size");
  out.batch_tokens = fields.Whole("batch_tokens");
  out.max_length = fields.Whole("max_length");
  out.accumulation = fields.Whole("accumulation");
  out.evaluate_every_steps = fields.Whole("evaluate_every_steps");
  out.report_every_steps = fields.Whole("report_every_steps");
  out.unfreeze_every_steps = fields.Whole("unfreeze_every_steps");
  out.unfreeze_every_epochs = fields.Whole("unfreeze_every_epochs");
  if (out.unfreeze_every_steps > 0 && out.unfreeze_every_epochs > 0) {
    fields.Fail("unfreeze_every_epochs",
                "and unfreeze_every_steps are both given", "give one of them");
  }
  out.precision = fields.Text("precision");  // the device judges it
  if (out.precision.empty()) {
    out.precision = WordsOf(SettingOf("precision")).front();
  }
  out.mixing = fields.OneOf(
      "task_mixing", std::array{TaskMixing::kRandom, TaskMixing::kInProportion,
                                TaskMixing::kJoined});
  out.surgery = fields.OneOf(
      "gradient_surgery",
      std::array{Surgery::kNone, Surgery::kDominant, Surgery::kPcGrad});
  if (out.surgery != Surgery::kNone && out.mixing != TaskMixing::kJoined &&
      out.accumulation < 2) {
    fields.Fail("gradient_surgery",
                "changes nothing: each step has one batch, of one task",
                "say task_mixing: joined, or accumulation: 2 or more");
  }
  out.freeze.tuned =
      fields.OneOf("trains", std::array{Tuned::kAll, Tuned::kBiases});
  out.keep_best = fields.OneOf("keep", std::array{true, false});
  out.report_example_outcomes = fields.Switch("report_example_outcomes");
  out.seed = fields.Bits("seed");
  out.also_evaluate = fields.Texts("also_evaluate");
  out.predictions = fields.Texts("predictions");
  if (out.also_evaluate.size() > kMostOtherSets) {
    fields.Fail("also_evaluate", "names too many data sets",
                "name at most " + std::to_string(kMostOtherSets));
  }
  if (std::ranges::find(out.also_evaluate, "test") != out.also_evaluate.end()) {
    fields.Fail("also_evaluate",
                "names a data set test, whose metrics would be those of the "
                "test split: test.accuracy",
                "register the data set under another id; for the test split "
                "of data.id give data.test_split");
  }
}

void ReadOptimizer(SettingFields& fields, TrainingSettings& out) {
  using enum OptimizerKind;
  out.optimizer.kind =
      fields.OneOf("optimizer", std::array{kAdamW, kAdam, kSgd});
  out.optimizer.weight_decay = fields.Number("weight_decay");
  out.schedule = fields.OneOf(
      "schedule", std::array{ScheduleKind::kLinear, ScheduleKind::kConstant,
                             ScheduleKind::kCosine});
  out.warmup_share = fields.Number("warmup_share");
  out.warmup_steps = fields.Whole("warmup_steps");
  out.clip_norm = fields.Number("clip_norm");
  out.label_smoothing = fields.Number("label_smoothing");
  if (out.warmup_share > 0.0 && out.warmup_steps > 0) {
    fields.Fail("warmup_share", "and warmup_steps are both given",
                "give one of them");
  }
}

// Also takes true and false, because the setting was once a switch.
bool ReadExport(SettingFields& extra) {
  const JsonValue* given = extra.Given("export");
  if (given != nullptr && given->is(JsonKind::kBool)) return given->truth;
  return extra.OneOf("export", std::array{false, true, true});
}

void ReadClassWeights(SettingFields& extra, TrainingSettings& out) {
  const JsonValue* given = extra.Given("class_weights");
  if (given == nullptr || given->is(JsonKind::kString)) {
    out.class_weights.balanced =
        extra.OneOf("class_weights", std::array{false, true});
    return;
  }
  const JsonValue* v = given->is(JsonKind::kArray) ? given->first : given;
  for (; v != nullptr; v = v->next) {
    if (!v->is(JsonKind::kNumber) || !given->is(JsonKind::kArray) ||
        !std::isfinite(v->number) || v->number <= 0.0) {
      extra.Fail("class_weights", "is neither a word nor numbers above 0",
                 "write none, balanced, or one number for each label");
      return;
    }
    out.class_weights.given.push_back(v->number);
  }
}

// Returns the name under which a study chooses a rule.
std::string_view WordOf(LayerRule rule) {
  return WordsOf(SettingOf("extra.layers_by"))[static_cast<std::size_t>(rule)];
}

void ReadLayerChoice(SettingFields& extra, LayerChoice& layers) {
  using enum LayerRule;
  layers.rule =
      extra.OneOf("layers_by",
                  std::array{kRates, kSpectrum, kGradient, kLisa, kAutoFreeze});
  layers.share = extra.Number("layers_share");
  layers.batches = extra.Whole("layers_batches");
  layers.at_once = extra.Whole("layers_at_once");
  layers.every_steps = extra.Whole("layers_every_steps");
  const auto belongs = [&](const char* name, std::vector<LayerRule> rules) {
    if (!extra.Has(name) || std::ranges::count(rules, layers.rule) > 0) return;
    std::vector<std::string_view> words;
    for (const LayerRule rule : rules) words.push_back(WordOf(rule));
    extra.Fail(name,
               "is of layers_by: " + Listed(words) + ", and layers_by is " +
                   std::string(WordOf(layers.rule)),
               "leave it out, or say layers_by: " + std::string(words.front()));
  };
  belongs("layers_share", {kSpectrum, kGradient, kAutoFreeze});
  belongs("layers_batches", {kGradient});
  belongs("layers_at_once", {kLisa});
  belongs("layers_every_steps", {kLisa, kAutoFreeze});
}

void ReadExtra(SettingFields& extra, TrainingSettings& out) {
  out.optimizer.beta1 = extra.Number("beta1");
  out.optimizer.beta2 = extra.Number("beta2");
  out.optimizer.epsilon = extra.Number("epsilon");
  out.optimizer.momentum = extra.Number("momentum");
  if (out.optimizer.momentum > 0.0 &&
      out.optimizer.kind != OptimizerKind::kSgd) {
    extra.Fail("momentum", "is of sgd alone, and the optimizer is another",
               "leave it out, say optimizer: sgd, or search it with when: "
               "{parent: optimizer, values: [sgd]}");
  }
  if (extra.Has("dropout")) out.dropout = extra.Number("dropout");
  if (extra.Has("no_decay")) out.no_decay = extra.Texts("no_decay");
  ReadClassWeights(extra, out);
  out.bucket = extra.OneOf("batches", std::array{true, false});
  out.recompute = extra.OneOf("recompute", std::array{false, true});
  out.pair.cosine = extra.OneOf("head", std::array{false, true});
  out.pair.pooling =
      extra.OneOf("pooling", std::array{Pooling::kFirst, Pooling::kMean});
  out.pair.scale = extra.Number("scale");
  out.export_model = ReadExport(extra);
  out.tasks_alike = extra.OneOf("tasks_weigh", std::array{false, true});
  if (out.tasks_alike && out.mixing != TaskMixing::kJoined &&
      out.accumulation < 2) {
    extra.Fail("tasks_weigh",
               "changes nothing: each step has one batch, of one task",
               "say task_mixing: joined, or accumulation: 2 or more");
  }
  out.smart.pairs_together =
      extra.OneOf("smart_pairs", std::array{false, true});
  out.virtual_audit = extra.Number("virtual_audit");
  ReadLayerChoice(extra, out.layers);
}

void ReadEarlyStopping(SettingFields& fields, TrainingSettings& out) {
  out.early_stopping.metric = fields.Text("metric");
  out.early_stopping.patience =
      std::max(1, static_cast<int>(fields.Whole("patience")));
  out.early_stopping.min_delta = fields.Number("min_delta");
}

void ReadFreeze(SettingFields& fields, TrainingSettings& out) {
  out.freeze.mode =
      fields.OneOf("mode", std::array{FreezeMode::kHard, FreezeMode::kLr0});
  out.freeze.prefix_dropout = fields.OneOf(
      "prefix_dropout", std::array{PrefixDropout::kOff, PrefixDropout::kHf});
  // lr0 is meant to do what other trainers do, so it keeps dropout.
  if (out.freeze.mode == FreezeMode::kLr0 &&
      fields.Text("prefix_dropout").empty()) {
    out.freeze.prefix_dropout = PrefixDropout::kHf;
  }
  out.virtual_tau = fields.Number("virtual_tau");
}

// Reads ranks by module, which the trial has beside its rates.
std::optional<Fault> ReadRanks(const JsonValue& ranks, LoraSpec& lora) {
  const auto bad = [](const std::string& cause) {
    return Fault{FaultKind::kMisuse, cause,
                 "write {\"layer.0\": 0, \"layer.1\": 8}, with whole numbers "
                 "up to 65536"};
  };
  if (!ranks.is(JsonKind::kObject)) return bad("ranks is no map of numbers");
  constexpr double kMostRank = 1 << 16;
  for (const JsonValue* v = ranks.first; v != nullptr; v = v->next) {
    const bool whole = v->is(JsonKind::kNumber) && v->number >= 0.0 &&
                       v->number <= kMostRank &&
                       v->number == std::floor(v->number);
    if (!whole) return bad("the rank of " + Shown(v->key) + " is none");
    lora.ranks.emplace(v->key, static_cast<std::int64_t>(v->number));
  }
  return std::nullopt;
}

void ReadLora(SettingFields& fields, TrainingSettings& out) {
  LoraSpec& lora = out.lora;
  lora.rank = fields.Whole("rank");
  if (lora.rank == 0 && lora.ranks.empty() && !fields.fault()) {
    fields.Fail("rank", "is 0 or missing", "give one, e.g. 8");
  }
  if (lora.rank > 0 && !lora.ranks.empty()) {
    fields.Fail("rank", "is given, and the space gives ranks to modules",
                "leave one of them out");
  }
  lora.alpha = fields.Number("alpha");
  lora.alpha_per_rank = fields.Number("alpha_per_rank");
  if (lora.alpha > 0.0 && lora.alpha_per_rank > 0.0) {
    fields.Fail("alpha_per_rank", "is given beside alpha",
                "leave one of them out");
  }
  lora.dropout = fields.Number("dropout");
  const std::vector<std::string> names = fields.Texts("modules");
  if (!names.empty()) lora.parts.clear();
  for (const std::string& name : names) {
    const std::optional<LoraPart> part = LoraPartOf(name);
    if (part) lora.parts.insert(*part);
    if (part) continue;
    fields.Fail("modules", "names an unknown part: " + Shown(name),
                "use some of " + LoraPartNames());
  }
}

void ReadAdapters(SettingFields& fields, TrainingSettings& out) {
  out.bottleneck.size = fields.Whole("size");
  if (out.bottleneck.size == 0 && !fields.fault()) {
    fields.Fail("size", "is 0 or missing", "give one, e.g. 64");
  }
  out.bottleneck.relu = fields.OneOf("activation", std::array{false, true});
}

void ReadSmart(SettingFields& fields, TrainingSettings& out) {
  SmartOptions& smart = out.smart;
  smart.weight = fields.Number("weight");
  if (smart.weight == 0.0 && !fields.fault()) {
    fields.Fail("weight", "is 0 or missing", "give one, e.g. 1");
  }
  smart.bregman = fields.Number("bregman");
  const double momentum = fields.Number("momentum");
  if (momentum > 0.0) smart.momentum = momentum;
  if (smart.momentum && smart.bregman == 0.0) {
    fields.Fail("momentum", "is of bregman, which is not there",
                "give bregman, e.g. 1, or leave it out");
  }
  smart.steps = fields.Whole("steps");
  smart.radius = fields.Number("radius");
  smart.step_size = fields.Number("step_size");
  smart.noise_variance = fields.Number("noise_variance");
  smart.at_boundary = fields.OneOf("enter", std::array{false, true});
}

// Returns a fault if two settings say what trains instead of the layers'
// weights.
std::optional<Fault> TwoInPlaceOfWeights(const TrainingSettings& settings) {
  std::string given;
  int count = 0;
  const auto note = [&](bool is, const char* name) {
    if (!is) return;
    given += (count++ == 0 ? "" : " and ") + std::string(name);
  };
  note(settings.lora.rank > 0, "training.lora");
  note(!settings.lora.ranks.empty(), "ranks of the space");
  note(settings.bottleneck.any(), "training.adapters");
  note(settings.freeze.tuned == Tuned::kBiases, "training.trains: biases");
  if (count < 2) return std::nullopt;
  return Fault{FaultKind::kMisuse,
               given + " each say what trains instead of the layers' weights",
               "give one of them"};
}

// Returns a fault if a rule that chooses layers meets another setting that says
// what of them trains, or when.
std::optional<Fault> RuleBesideAnother(const TrainingSettings& settings) {
  if (!settings.layers.any()) return std::nullopt;
  const std::string rule =
      "training.extra.layers_by: " + std::string(WordOf(settings.layers.rule));
  const auto beside = [&](const char* other) {
    return Fault{FaultKind::kMisuse,
                 rule + " and " + other +
                     " each say what of the layers trains, and when",
                 "leave one of them out"};
  };
  if (settings.lora.any()) return beside("adapters (training.lora, or ranks)");
  if (settings.bottleneck.any()) return beside("training.adapters");
  if (settings.freeze.tuned == Tuned::kBiases) {
    return beside("training.trains: biases");
  }
  if (settings.virtual_tau > 0.0) return beside("freeze.virtual_tau");
  const bool thaws =
      settings.unfreeze_every_steps > 0 || settings.unfreeze_every_epochs > 0;
  if (thaws && (settings.layers.rule == LayerRule::kLisa ||
                settings.layers.rule == LayerRule::kAutoFreeze)) {
    return beside("training.unfreeze_every_steps or unfreeze_every_epochs");
  }
  return std::nullopt;
}

// Returns a fault if two settings contradict each other.
std::optional<Fault> Contradiction(const TrainingSettings& settings) {
  if (auto two = TwoInPlaceOfWeights(settings)) return two;
  if (auto another = RuleBesideAnother(settings)) return another;
  if (settings.smart.pairs_together && !settings.smart.any()) {
    return Fault{FaultKind::kMisuse,
                 "training.extra.smart_pairs is of training.smart, which is "
                 "not there",
                 "give training.smart, or leave it out"};
  }
  if (settings.virtual_tau == 0.0) {
    if (settings.virtual_audit == 0.0) return std::nullopt;
    return Fault{FaultKind::kMisuse,
                 "training.extra.virtual_audit checks freeze.virtual_tau, "
                 "which is not there",
                 "give freeze.virtual_tau, or leave the audit out"};
  }
  if (settings.lora.any()) {
    return Fault{FaultKind::kMisuse,
                 "freeze.virtual_tau compares rates with weights, and "
                 "adapters begin at 0",
                 "leave one of them out"};
  }
  if (settings.bottleneck.any() || settings.freeze.tuned == Tuned::kBiases) {
    return Fault{FaultKind::kMisuse,
                 "freeze.virtual_tau compares rates with weights, of which "
                 "none trains",
                 "leave it out, or train without training.adapters and "
                 "training.trains"};
  }
  const auto bound = LongestStep(settings.optimizer, settings.clip_norm);
  return bound.ok() ? std::nullopt : std::optional(bound.fault());
}

}  // namespace

Expected<TrainingSettings> ReadTrainingSettings(const JsonValue& trial) {
  if (const auto idle = IdleParameter(trial)) return *idle;
  const JsonValue* training = trial.Find("training");
  const JsonValue* searched = trial.Find("parameters");
  const auto within = [&](std::string_view name) {
    const JsonValue* found =
        training == nullptr ? nullptr : training->Find(name);
    return found == nullptr || found->is(JsonKind::kNull) ? nullptr : found;
  };
  TrainingSettings settings;
  SettingFields fields("", "training", searched, training);
  SettingFields extra("extra.", "training.extra", searched, within("extra"));
  SettingFields early("early_stopping.", "training.early_stopping", nullptr,
                      within("early_stopping"));
  SettingFields freeze("freeze.", "freeze", nullptr, trial.Find("freeze"));
  SettingFields lora("lora.", "training.lora", searched, within("lora"));
  SettingFields adapters("adapters.", "training.adapters", searched,
                         within("adapters"));
  SettingFields smart("smart.", "training.smart", searched, within("smart"));
  ReadLoop(fields, settings);
  ReadOptimizer(fields, settings);
  ReadExtra(extra, settings);
  ReadEarlyStopping(early, settings);
  ReadFreeze(freeze, settings);
  if (const JsonValue* const ranks = trial.Find("ranks")) {
    if (const auto fault = ReadRanks(*ranks, settings.lora)) return *fault;
  }
  if (within("lora") != nullptr || settings.lora.any())
    ReadLora(lora, settings);
  if (within("adapters") != nullptr) ReadAdapters(adapters, settings);
  if (within("smart") != nullptr) ReadSmart(smart, settings);
  for (const SettingFields* each :
       {&fields, &extra, &early, &freeze, &lora, &adapters, &smart}) {
    if (each->fault()) return *each->fault();
  }
  if (const auto contradiction = Contradiction(settings)) return *contradiction;
  return settings;
}

}  // namespace frostline::trainer
