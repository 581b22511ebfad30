// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/trial_preparer.h"

#include <algorithm>

#include "base/plain/json.h"
#include "base/plain/text.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/limits.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::trainer {
namespace {

std::string HeadKey(const HeadSpec& head) {
  std::string key = head.name;
  for (const double number :
       {static_cast<double>(head.task), static_cast<double>(head.outputs),
        static_cast<double>(head.kind), static_cast<double>(head.pooling),
        head.scale, head.reads_apart ? 1.0 : 0.0,
        static_cast<double>(head.hidden), head.dropout.value_or(-1.0)}) {
    key += "/" + std::to_string(number);
  }
  return key;
}

std::string HeadsKey(const Heads& heads) {
  std::string key;
  for (const HeadSpec& head : heads) key += "/" + HeadKey(head);
  return key;
}

// Adds the report of one more head. It lists what any head misses, and of what
// the file has beyond that only what no head uses.
void AddReport(const LoadReport& more, LoadReport& all) {
  const auto add = [](const std::vector<std::string>& from,
                      std::vector<std::string>& into) {
    for (const std::string& name : from) {
      if (std::ranges::find(into, name) == into.end()) into.push_back(name);
    }
  };
  const auto keep = [](const std::vector<std::string>& common,
                       std::vector<std::string>& of) {
    std::erase_if(of, [&](const std::string& name) {
      return std::ranges::find(common, name) == common.end();
    });
  };
  add(more.missing, all.missing);
  add(more.reshaped, all.reshaped);
  add(more.initialized, all.initialized);
  keep(more.unused, all.unused);
  keep(more.unexpected, all.unexpected);
}

// Returns the first names of a list, for one line of the log.
std::string Some(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 8; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > 8) {
    text += " and " + std::to_string(names.size() - 8) + " more";
  }
  return text;
}

void Describe(const std::string& id, const LoadReport& report,
              std::vector<std::string>& log) {
  const auto tell = [&](const char* what,
                        const std::vector<std::string>& names) {
    if (!names.empty()) log.push_back(id + ": " + what + ": " + Some(names));
  };
  tell("not in the file", report.missing);
  tell("of another shape in the file", report.reshaped);
  tell("drawn anew for each trial", report.initialized);
  tell("in the file and of no use here", report.unused);
  tell("in the file and not known", report.unexpected);
}

// Checks the sums of all files that the index names. A model.safetensors beside
// them is a fault, because it would be read first.
Expected<Done> VerifyShards(VerifiedFiles& files, const ModelEntry& entry,
                            InputFile& index, const StopSign& stop) {
  const auto mismatch = [&](const std::string& what) {
    return Fault{FaultKind::kInconsistent, "models.yaml: " + entry.id + what,
                 "list the files of the index under shards, each with its "
                 "sum, and keep no model.safetensors beside them"};
  };
  if (files.OpenUnverified(entry.path + "/model.safetensors").ok()) {
    return mismatch(" has an index and a model.safetensors");
  }
  ASSIGN_OR_FAULT(std::string bytes, index.ReadAll(kMaxHeaderBytes));
  ASSIGN_OR_FAULT(Json json, Json::Parse(bytes));
  const JsonValue* map = json.root().Find("weight_map");
  for (const JsonValue* v = map == nullptr ? nullptr : map->first; v != nullptr;
       v = v->next) {
    if (!entry.shards.contains(std::string(v->text))) {
      return mismatch(" lacks the sum of " + Shown(v->text));
    }
  }
  for (const auto& [name, sum] : entry.shards) {
    RETURN_IF_FAULT(files.Open(entry.path + "/" + name, sum, stop));
  }
  return Done{};
}

}  // namespace

Expected<ModelCache> ModelCache::Open(VerifiedFiles& files,
                                      const Device& device) {
  ASSIGN_OR_FAULT(InputFile file, files.OpenUnverified("models.yaml"));
  ASSIGN_OR_FAULT(std::string yaml, file.ReadAll(kMaxRegistryBytes));
  ASSIGN_OR_FAULT(ModelEntries models, ParseModels(yaml, "models.yaml"));
  return ModelCache(std::move(models), device);
}

Expected<std::string> ModelCache::Verify(VerifiedFiles& files,
                                         const ModelEntry& entry,
                                         const ModelRequest& request,
                                         const StopSign& stop) {
  if (!request.sha256.empty() && request.sha256 != entry.sha256) {
    return Fault{FaultKind::kInconsistent,
                 "the study wants weights of the SHA-256 " + request.sha256 +
                     "; this worker's " + entry.id + " has " + entry.sha256,
                 "register the same weights on every worker"};
  }
  // Both must lie below the operator's folder, whatever links say.
  Expected<InputFile> weights =
      files.Open(entry.path + "/" + entry.weights, entry.sha256, stop);
  const std::string folder = files.root() + "/" + entry.path;
  if (!weights.ok()) {
    // Pickles deserve a better answer than that there are no weights.
    if (files.OpenUnverified(entry.path + "/pytorch_model.bin").ok()) {
      RETURN_IF_FAULT(WeightFiles::Open(folder));
    }
    return weights.fault();
  }
  RETURN_IF_FAULT(files.OpenUnverified(entry.path + "/config.json"));
  if (!entry.shards.empty()) {
    RETURN_IF_FAULT(VerifyShards(files, entry, weights.value(), stop));
  }
  return folder;
}

Expected<Done> ModelCache::Load(const std::string& id,
                                const std::string& folder, const Heads& heads,
                                const StopSign& stop, Parts& parts) {
  const auto in_folder = [&](Fault fault) {
    if (fault.cause.find(folder) == std::string::npos) {
      fault.cause = folder + ": " + fault.cause;
    }
    return fault;
  };
  Expected<ModelFolder> opened = ModelFolder::Open(folder);
  if (!opened.ok()) return in_folder(opened.fault());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (parts.heads[i] != nullptr) continue;
    Expected<LoadedHead> read = opened.value().ReadHead(heads[i], 0);
    if (!read.ok()) return in_folder(read.fault());
    Expected<Done> moved = CatchTorch([&]() -> Expected<Done> {
      read.value().head = read.value().head.To(device_->torch());
      return Done{};
    });
    if (!moved.ok()) return moved.fault();
    parts.heads[i] =
        heads_.Put(id + "/" + HeadKey(heads[i]), std::move(read).value());
  }
  if (parts.encoder == nullptr) {
    Expected<TransformerEncoder> read = opened.value().ReadEncoder(stop);
    if (!read.ok()) return in_folder(read.fault());
    return CatchTorch([&]() -> Expected<Done> {
      parts.encoder = encoders_.Put(id, {read.value().To(device_->torch()),
                                         opened.value().config_json()});
      return Done{};
    });
  }
  return Done{};
}

LoadedModel ModelCache::Joined(const Parts& parts) {
  std::vector<ModelHead> heads;
  LoadReport report = parts.heads.front()->report;
  for (const auto& each : parts.heads) {
    heads.push_back(each->head);
    AddReport(each->report, report);
  }
  return {Model(parts.encoder->encoder, std::move(heads)), std::move(report),
          parts.encoder->config_json};
}

Expected<std::shared_ptr<const Pretrained>> ModelCache::Weights(
    VerifiedFiles& files, const ModelRequest& request, const Heads& heads,
    const StopSign& stop, std::vector<std::string>& log) {
  const auto entry = models_.find(request.id);
  if (entry == models_.end()) {
    return Fault{FaultKind::kUnreadable,
                 "this worker's registry has no model " + Shown(request.id),
                 "add it to models.yaml on this worker, or let the study "
                 "require a label that only workers with it carry"};
  }
  ASSIGN_OR_FAULT(std::string folder,
                  Verify(files, entry->second, request, stop));
  const std::string key = request.id + HeadsKey(heads);
  Parts parts{encoders_.Find(request.id), {}};
  bool is_new = false;
  for (const HeadSpec& head : heads) {
    parts.heads.push_back(heads_.Find(request.id + "/" + HeadKey(head)));
    is_new = is_new || parts.heads.back() == nullptr;
  }
  auto known = joined_.Find(key);
  if (known != nullptr && known->findings->spoilt) {
    // Others may share what was changed.
    encoders_.Clear();
    heads_.Clear();
    joined_.Clear();
    log.push_back("loads " + request.id +
                  " anew, as an earlier trial changed its weights");
    return Weights(files, request, heads, stop, log);
  }
  if (known == nullptr) {
    if (is_new || parts.encoder == nullptr) {
      RETURN_IF_FAULT(Load(request.id, folder, heads, stop, parts));
    }
    LoadedModel joined = Joined(parts);
    if (is_new) Describe(request.id, joined.report, log);
    known = joined_.Put(key, {std::move(joined), folder, entry->second.sha256});
  }
  const std::int64_t layers = known->loaded.model.config().layers;
  if (request.layers != 0 && request.layers != layers) {
    return Fault{FaultKind::kInconsistent,
                 "the study says that " + request.id + " has " +
                     std::to_string(request.layers) + " layers; it has " +
                     std::to_string(layers),
                 "correct model.layers in the study"};
  }
  return known;
}

Expected<std::shared_ptr<const Tokenizer>> ModelCache::TokenizerOf(
    const Pretrained& pretrained) {
  if (auto known = tokenizers_.Find(pretrained.folder)) return known;
  ASSIGN_OR_FAULT(Tokenizer made, LoadTokenizer(pretrained.folder));
  EndAnswersOf(pretrained.loaded.model.config(), made);
  const std::int64_t rows = pretrained.loaded.model.config().vocabulary;
  if (made.vocabulary_size() > rows) {
    return Fault{FaultKind::kInconsistent,
                 pretrained.folder + ": the tokenizer has " +
                     std::to_string(made.vocabulary_size()) +
                     " tokens and the model's table " + std::to_string(rows),
                 "take the tokenizer's files from the model's own folder"};
  }
  return tokenizers_.Put(pretrained.folder, std::move(made));
}

namespace {

// The test split, beside the ids of further data sets.
constexpr char kTest[] = "test";
constexpr std::int64_t kUsualLength = 128;

HeadSpec HeadOf(const TaskRequest& request, const TaskData& data) {
  HeadSpec head = request.head;
  head.outputs = 1;
  head.task = Task::kRegression;
  if (data.task.kind == TaskKind::kRegression) return head;
  if (!HasClasses(data.task.kind)) {
    head.task = Task::kAnswers;
    head.chooses = data.task.kind == TaskKind::kChoices;
    return head;
  }
  head.task =
      data.task.kind == TaskKind::kTagging ? Task::kTokens : Task::kSequence;
  head.outputs = static_cast<std::int64_t>(data.labels.size());
  return head;
}

// A task of answers has a loss of its own, which these do not change.
Expected<Done> CheckAnswers(const TrialMessage& trial, const TaskSetup& task) {
  if (task.head.task != Task::kAnswers) return Done{};
  const TrainingSettings& training = trial.training;
  std::string what;
  if (!task.request.name.empty()) what = "as one of several";
  if (training.smart.any()) what = "beside training.smart";
  if (training.label_smoothing > 0.0) what = "beside training.label_smoothing";
  if (training.class_weights.any()) {
    what = "beside training.extra.class_weights";
  }
  if (!task.request.loss.empty()) what = "beside a loss of the study's";
  if (!training.predictions.empty() && !task.head.chooses) {
    what =
        "beside training.predictions (`frostline predict` lets an exported "
        "model say its answers)";
  }
  if (what.empty()) return Done{};
  return Fault{FaultKind::kUnsupported,
               std::string("the task ") +
                   (task.head.chooses ? "choices" : "answers") +
                   " is not trained " + what,
               "leave that out, or give data.task: classification"};
}

Expected<Done> CheckHeadFits(const TaskSetup& task, bool export_model) {
  const auto named = [&](const Fault& fault) {
    const std::string& name = task.request.name;
    return Fault{fault.kind,
                 (name.empty() ? "" : "the task " + name + ": ") + fault.cause,
                 fault.fix};
  };
  if (Expected<Done> fits = CheckHead(task.head); !fits.ok()) {
    return named(fits.fault());
  }
  const bool numbers = task.head.task == Task::kRegression;
  const std::string& loss = task.request.loss;
  if (!loss.empty() && (loss == "squared_error") != numbers) {
    return named({FaultKind::kMisuse,
                  "the loss is " + loss + ", and the data set has " +
                      (numbers ? "numbers" : "labels"),
                  std::string("leave it out, or say ") +
                      (numbers ? "squared_error" : "cross_entropy")});
  }
  const bool plain = task.head.kind == HeadKind::kLinear &&
                     !task.head.apart() && task.head.pooling == Pooling::kUsual;
  if (export_model && (!plain || !task.request.name.empty())) {
    return named({FaultKind::kMisuse,
                  "training.extra.export: transformers has no model with such "
                  "a head, or with several",
                  "leave it out, or say export: none"});
  }
  return Done{};
}

Expected<Done> CheckClassWeights(const ClassWeights& weights,
                                 const TaskData& data) {
  if (!weights.any()) return Done{};
  if (data.task.kind == TaskKind::kRegression) {
    return Fault{FaultKind::kMisuse,
                 "training.extra.class_weights weighs labels, and the task is "
                 "regression",
                 "leave it out, or give data.task: classification"};
  }
  const std::size_t given = weights.given.size();
  if (weights.balanced || given == data.labels.size()) return Done{};
  return Fault{
      FaultKind::kMisuse,
      "training.extra.class_weights has " + std::to_string(given) +
          (given == 1 ? " number" : " numbers") + ", and the data set " +
          std::to_string(data.labels.size()) + " labels",
      "give one for each, in this order: " + ListOfLabels(data.labels)};
}

// Returns a fault for a rule whose label no row has; it is probably misspelt.
Expected<Done> CheckRulesUsed(const LabelRules& rules, const TaskSetup& setup) {
  const auto is_met = [&](const std::string& label) {
    if (setup.data->train.data->ruled().contains(label) ||
        setup.validation.part.data->ruled().contains(label)) {
      return true;
    }
    return std::ranges::any_of(setup.others, [&](const EvaluationSet& other) {
      return other.part.data->ruled().contains(label);
    });
  };
  std::vector<std::string> labels(rules.dropped.begin(), rules.dropped.end());
  for (const auto& [label, name] : rules.names) labels.push_back(label);
  for (const std::string& label : labels) {
    if (is_met(label)) continue;
    return Fault{FaultKind::kMisuse,
                 "data.label_map and data.drop_labels name " + Shown(label) +
                     ", which no row of the trial's sets has",
                 "correct the name, or leave it out"};
  }
  return Done{};
}

Expected<Done> CheckOwnFreezing(const TrialMessage& trial,
                                const ModelConfig& config, const Heads& heads) {
  for (const TaskRequest& task : trial.tasks) {
    ModuleRates named;
    for (const std::string& module : task.freeze) named[module] = 0.0;
    const Expected<Done> known =
        CheckModules(trial.model.id, config, heads, named,
                     {task.freeze.begin(), task.freeze.end()});
    if (!known.ok()) {
      return Fault{known.fault().kind,
                   "the task " + task.name + " freezes: " + known.fault().cause,
                   "correct its freeze"};
    }
    for (const std::string& module : task.freeze) {
      if (!module.starts_with("layer.") ||
          module.find(".head.") == std::string::npos) {
        continue;
      }
      return Fault{FaultKind::kUnsupported,
                   "the task " + task.name + " freezes " + module +
                       ", and a task freezes no single attention heads",
                   "freeze whole layers, or their attention"};
    }
  }
  return Done{};
}

// Notes the sets whose predictions are written. "dev" is the validation set,
// unless a data set has that id.
Expected<Done> NamePredicted(const TrainingSettings& training,
                             TaskSetup& task) {
  std::set<std::string> known = {"validation", "train"};
  std::string all = "validation, train";
  for (const EvaluationSet& other : task.others) {
    known.insert(task.SetOf(other));
    all += ", " + task.SetOf(other);
  }
  for (const std::string& name : training.predictions) {
    const bool is_dev = name == "dev" && !known.contains(name);
    if (!is_dev && !known.contains(name)) {
      return Fault{FaultKind::kMisuse,
                   "training.predictions names " + Shown(name) +
                       ", which this trial does not evaluate",
                   "name some of " + all +
                       "; for more give data.test_split or "
                       "training.also_evaluate"};
    }
    task.predicted.insert(is_dev ? "validation" : name);
  }
  return Done{};
}

Expected<Done> CheckWeights(const DataPart& part) {
  for (const std::uint32_t row : part.rows) {
    if ((*part.data)[row].weight == 1.0) continue;
    return Fault{FaultKind::kUnsupported,
                 "the data set weighs its rows, and this trainer does not",
                 "leave the column `weight` out, or repeat rows"};
  }
  return Done{};
}

}  // namespace

Expected<TrialPreparer> TrialPreparer::Open(const std::string& registry,
                                            const Device& device) {
  ASSIGN_OR_FAULT(DataLoader data, DataLoader::Open(registry));
  ASSIGN_OR_FAULT(ModelCache models, ModelCache::Open(data.files(), device));
  return TrialPreparer(std::move(data), std::move(models));
}

std::int64_t LongestText(const TrainingSettings& training,
                         const ModelConfig& config) {
  return training.max_length > 0
             ? training.max_length
             : std::min(kUsualLength, config.longest_text());
}

void EndAnswersOf(const ModelConfig& config, Tokenizer& tokenizer) {
  if (tokenizer.end() || config.ends.empty()) return;
  tokenizer.EndWith(static_cast<std::int32_t>(config.ends.front()));
}

Heads TrialSetup::heads() const {
  std::vector<HeadSpec> all;
  all.reserve(tasks.size());
  for (const TaskSetup& task : tasks) all.push_back(task.head);
  return Heads(std::move(all));
}

Expected<std::shared_ptr<const TaskData>> TrialPreparer::Data(
    const DataRequest& request, const StopSign& stop,
    std::vector<std::string>& log) {
  if (auto known = data_.Find(request)) return known;
  ASSIGN_OR_FAULT(TaskData data, data_loader_.Load(request, stop));
  RETURN_IF_FAULT(CheckWeights(data.train));
  log.push_back("data set " + request.id + ": " +
                std::to_string(data.train.size()) + " rows to train, " +
                std::to_string(data.validation.size()) + " to validate");
  return data_.Put(request, std::move(data));
}

Expected<std::shared_ptr<const TokenStore>> TrialPreparer::Tokens(
    const DataPart& part, const TrialMessage& trial, const HeadSpec& head,
    const Pretrained& pretrained, const StopSign& stop, bool trains) {
  const ModelConfig& config = pretrained.loaded.model.config();
  const std::int64_t longest = LongestText(trial.training, config);
  if (longest > config.longest_text()) {
    return Fault{FaultKind::kMisuse,
                 "training.max_length is " + std::to_string(longest) +
                     ", and the model reads at most " +
                     std::to_string(config.longest_text()) + " tokens",
                 "give training.max_length of at most that"};
  }
  const bool apart = head.apart();
  const bool right = head.chooses && trains;
  std::string key = part.fingerprint + "/" + pretrained.folder + "/" +
                    std::to_string(longest) + (apart ? "/apart" : "") +
                    (right ? "/right" : "") +
                    (part.data->form().chat ? "/chat" : "");
  // A fingerprint covers the labels' names, but a store holds their numbers.
  for (const std::string& label : part.data->labels().names()) {
    key += "/" + std::to_string(label.size()) + label;
  }
  if (auto known = tokens_.Find(key)) return known;
  if (apart && !part.data->is_pair()) {
    return Fault{FaultKind::kMisuse,
                 "the head reads two texts apart, and the data set has no "
                 "second text",
                 "name it in data.columns: {second: …}"};
  }
  ASSIGN_OR_FAULT(auto tokenizer, models_.TokenizerOf(pretrained));
  ASSIGN_OR_FAULT(TokenStore made,
                  Tokenize(*part.data, part.rows, *tokenizer,
                           {.max_length = static_cast<std::size_t>(longest)},
                           right   ? PairForm::kRight
                           : apart ? PairForm::kApart
                                   : PairForm::kJoined,
                           stop));
  return tokens_.Put(key, std::move(made));
}

Expected<Done> TrialPreparer::AddOther(const TrialMessage& trial,
                                       const std::string& name,
                                       const Pretrained& pretrained,
                                       const StopSign& stop, TaskSetup& task) {
  const DataRequest& data = task.request.data;
  const auto key = std::pair(data, name);
  auto part = others_.Find(key);
  if (part == nullptr) {
    const LabelSet& labels = task.data->labels;
    ASSIGN_OR_FAULT(DataPart loaded,
                    name == kTest
                        ? data_loader_.LoadTest(data, labels, stop)
                        : data_loader_.LoadOther(name, data, task.data->task,
                                                 labels, stop));
    part = others_.Put(key, std::move(loaded));
  }
  ASSIGN_OR_FAULT(auto tokens,
                  Tokens(*part, trial, task.head, pretrained, stop));
  task.others.push_back(
      {task.request.prefix() + name + ".", *part, std::move(tokens)});
  return Done{};
}

Expected<Done> TrialPreparer::AddTokens(const TrialMessage& trial,
                                        const Pretrained& pretrained,
                                        const StopSign& stop, TaskSetup& task) {
  ASSIGN_OR_FAULT(auto train,
                  Tokens(task.data->train, trial, task.head, pretrained, stop,
                         /*trains=*/true));
  task.train = std::move(train);
  ASSIGN_OR_FAULT(auto validation, Tokens(task.data->validation, trial,
                                          task.head, pretrained, stop));
  task.validation = {task.request.prefix(), task.data->validation,
                     std::move(validation)};
  std::vector<std::string> others = trial.training.also_evaluate;
  if (!task.request.data.test_split.empty()) others.emplace_back(kTest);
  for (const std::string& name : others) {
    RETURN_IF_FAULT(AddOther(trial, name, pretrained, stop, task));
  }
  RETURN_IF_FAULT(NamePredicted(trial.training, task));
  return CheckRulesUsed(task.request.data.rules, task);
}

Expected<TrialSetup> TrialPreparer::Prepare(const TrialMessage& trial,
                                            const StopSign& stop,
                                            std::vector<std::string>& log) {
  TrialSetup setup;
  for (const TaskRequest& request : trial.tasks) {
    TaskSetup& task = setup.tasks.emplace_back();
    task.request = request;
    ASSIGN_OR_FAULT(auto data, Data(request.data, stop, log));
    task.data = std::move(data);
    task.head = HeadOf(request, *task.data);
    Expected<Done> fits = CheckAnswers(trial, task);
    if (fits.ok()) fits = CheckHeadFits(task, trial.training.export_model);
    if (fits.ok()) {
      fits = CheckClassWeights(trial.training.class_weights, *task.data);
    }
    if (!fits.ok()) return fits.fault();
  }
  const Heads heads = setup.heads();
  ASSIGN_OR_FAULT(
      auto pretrained,
      models_.Weights(data_loader_.files(), trial.model, heads, stop, log));
  setup.pretrained = std::move(pretrained);
  const ModelConfig& config = setup.pretrained->loaded.model.config();
  Expected<Done> fits =
      CheckModules(trial.model.id, config, heads, trial.rates, trial.searched);
  if (fits.ok()) fits = CheckOwnFreezing(trial, config, heads);
  if (!fits.ok()) return fits.fault();
  for (TaskSetup& task : setup.tasks) {
    fits = AddTokens(trial, *setup.pretrained, stop, task);
    if (!fits.ok()) return fits.fault();
  }
  return setup;
}

}  // namespace frostline::trainer
