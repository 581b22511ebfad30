// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/workbench.h"

#include <algorithm>

#include "base/plain/text.h"
#include "worker/trainer/freeze/freeze_plan.h"

namespace frostline::trainer {
namespace {

// The test split, beside the ids of further data sets.
constexpr char kTest[] = "test";
constexpr std::int64_t kUsualLength = 128;

HeadSpec HeadOf(const TaskRequest& request, const TaskData& data) {
  HeadSpec head = request.head;
  head.outputs = 1;
  head.task = Task::kRegression;
  if (data.task.kind == TaskKind::kRegression) return head;
  head.task =
      data.task.kind == TaskKind::kTagging ? Task::kTokens : Task::kSequence;
  head.outputs = static_cast<std::int64_t>(data.labels.size());
  return head;
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

// Else a misspelt label would be one that is left as it is.
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

// "dev" is the validation set, unless a data set has that id.
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

Expected<Workbench> Workbench::Open(const std::string& registry,
                                    const Device& device) {
  Expected<DataLoader> data = DataLoader::Open(registry);
  if (!data.ok()) return data.fault();
  Expected<ModelShelf> models = ModelShelf::Open(data.value().files(), device);
  if (!models.ok()) return models.fault();
  return Workbench(std::move(data).value(), std::move(models).value());
}

std::int64_t LongestText(const TrainingSettings& training,
                         const ModelConfig& config) {
  return training.max_length > 0
             ? training.max_length
             : std::min(kUsualLength, config.longest_text());
}

Heads TrialSetup::heads() const {
  std::vector<HeadSpec> all;
  for (const TaskSetup& task : tasks) all.push_back(task.head);
  return Heads(std::move(all));
}

Expected<std::shared_ptr<const TaskData>> Workbench::Data(
    const DataRequest& request, const StopSign& stop,
    std::vector<std::string>& log) {
  if (auto known = data_.Find(request)) return known;
  Expected<TaskData> data = data_loader_.Load(request, stop);
  if (!data.ok()) return data.fault();
  if (auto fits = CheckWeights(data.value().train); !fits.ok()) {
    return fits.fault();
  }
  log.push_back("data set " + request.id + ": " +
                std::to_string(data.value().train.size()) + " rows to train, " +
                std::to_string(data.value().validation.size()) +
                " to validate");
  return data_.Put(request, std::move(data).value());
}

Expected<std::shared_ptr<const TokenStore>> Workbench::Tokens(
    const DataPart& part, const TrialMessage& trial, const HeadSpec& head,
    const Pretrained& pretrained, const StopSign& stop) {
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
  std::string key = part.fingerprint + "/" + pretrained.folder + "/" +
                    std::to_string(longest) + (apart ? "/apart" : "");
  // A fingerprint is of labels' names; a store holds their numbers.
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
  auto tokenizer = models_.TokenizerOf(pretrained);
  if (!tokenizer.ok()) return tokenizer.fault();
  Expected<TokenStore> made =
      Tokenize(*part.data, part.rows, *tokenizer.value(),
               {.max_length = static_cast<std::size_t>(longest)},
               apart ? PairForm::kApart : PairForm::kJoined, stop);
  if (!made.ok()) return made.fault();
  return tokens_.Put(key, std::move(made).value());
}

Expected<Done> Workbench::AddOther(const TrialMessage& trial,
                                   const std::string& name,
                                   const Pretrained& pretrained,
                                   const StopSign& stop, TaskSetup& task) {
  const DataRequest& data = task.request.data;
  const auto key = std::pair(data, name);
  auto part = others_.Find(key);
  if (part == nullptr) {
    const LabelSet& labels = task.data->labels;
    Expected<DataPart> loaded =
        name == kTest
            ? data_loader_.LoadTest(data, labels, stop)
            : data_loader_.LoadOther(name, data, task.data->task, labels, stop);
    if (!loaded.ok()) return loaded.fault();
    part = others_.Put(key, std::move(loaded).value());
  }
  auto tokens = Tokens(*part, trial, task.head, pretrained, stop);
  if (!tokens.ok()) return tokens.fault();
  task.others.push_back(
      {task.request.prefix() + name + ".", *part, std::move(tokens).value()});
  return Done{};
}

Expected<Done> Workbench::AddTokens(const TrialMessage& trial,
                                    const Pretrained& pretrained,
                                    const StopSign& stop, TaskSetup& task) {
  auto train = Tokens(task.data->train, trial, task.head, pretrained, stop);
  if (!train.ok()) return train.fault();
  task.train = std::move(train).value();
  auto validation =
      Tokens(task.data->validation, trial, task.head, pretrained, stop);
  if (!validation.ok()) return validation.fault();
  task.validation = {task.request.prefix(), task.data->validation,
                     std::move(validation).value()};
  std::vector<std::string> others = trial.training.also_evaluate;
  if (!task.request.data.test_split.empty()) others.emplace_back(kTest);
  for (const std::string& name : others) {
    Expected<Done> added = AddOther(trial, name, pretrained, stop, task);
    if (!added.ok()) return added.fault();
  }
  const Expected<Done> named = NamePredicted(trial.training, task);
  if (!named.ok()) return named.fault();
  return CheckRulesUsed(task.request.data.rules, task);
}

Expected<TrialSetup> Workbench::Prepare(const TrialMessage& trial,
                                        const StopSign& stop,
                                        std::vector<std::string>& log) {
  TrialSetup setup;
  for (const TaskRequest& request : trial.tasks) {
    TaskSetup& task = setup.tasks.emplace_back();
    task.request = request;
    auto data = Data(request.data, stop, log);
    if (!data.ok()) return data.fault();
    task.data = std::move(data).value();
    task.head = HeadOf(request, *task.data);
    Expected<Done> fits = CheckHeadFits(task, trial.training.export_model);
    if (fits.ok()) {
      fits = CheckClassWeights(trial.training.class_weights, *task.data);
    }
    if (!fits.ok()) return fits.fault();
  }
  const Heads heads = setup.heads();
  auto pretrained =
      models_.Weights(data_loader_.files(), trial.model, heads, stop, log);
  if (!pretrained.ok()) return pretrained.fault();
  setup.pretrained = std::move(pretrained).value();
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
