// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/workbench.h"

#include <algorithm>

#include "base/plain/shown.h"
#include "worker/trainer/freeze/freeze_plan.h"

namespace frostline::trainer {
namespace {

// The test split, beside the ids of further data sets.
constexpr char kTest[] = "test";
constexpr std::int64_t kUsualLength = 128;

HeadSpec HeadOf(const TrialMessage& trial, const TaskData& data) {
  HeadSpec head;
  head.outputs = 1;
  if (data.task.kind == TaskKind::kRegression) {
    head.task =
        trial.training.pair.cosine ? Task::kPairCosine : Task::kRegression;
    head.pooling = trial.training.pair.pooling;
    head.scale = trial.training.pair.scale;
    return head;
  }
  head.task =
      data.task.kind == TaskKind::kTagging ? Task::kTokens : Task::kSequence;
  head.outputs = static_cast<std::int64_t>(data.labels.size());
  return head;
}

Expected<Done> CheckCosine(const PairSettings& pair, const HeadSpec& head,
                           bool export_model) {
  if (pair.cosine && head.task != Task::kPairCosine) {
    return Fault{FaultKind::kMisuse,
                 "training.extra.head is cosine, and the task is no regression",
                 "give data.task: regression, or leave the head out"};
  }
  if (pair.cosine && export_model) {
    return Fault{FaultKind::kMisuse,
                 "training.extra.export: transformers has no model for pairs "
                 "that are compared",
                 "leave it out, or say export: none"};
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
Expected<Done> CheckRulesUsed(const LabelRules& rules,
                              const TrialSetup& setup) {
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

Expected<std::shared_ptr<const TaskData>> Workbench::Data(
    const TrialMessage& trial, const StopSign& stop,
    std::vector<std::string>& log) {
  if (auto known = data_.Find(trial.data)) return known;
  Expected<TaskData> data = data_loader_.Load(trial.data, stop);
  if (!data.ok()) return data.fault();
  if (auto fits = CheckWeights(data.value().train); !fits.ok()) {
    return fits.fault();
  }
  log.push_back("data set " + trial.data.id + ": " +
                std::to_string(data.value().train.size()) + " rows to train, " +
                std::to_string(data.value().validation.size()) +
                " to validate");
  return data_.Put(trial.data, std::move(data).value());
}

Expected<std::shared_ptr<const TokenStore>> Workbench::Tokens(
    const DataPart& part, const TrialMessage& trial,
    const Pretrained& pretrained, const StopSign& stop) {
  const ModelConfig& config = pretrained.loaded.model.config();
  const std::int64_t longest =
      trial.training.max_length > 0
          ? trial.training.max_length
          : std::min(kUsualLength, config.longest_text());
  if (longest > config.longest_text()) {
    return Fault{FaultKind::kMisuse,
                 "training.max_length is " + std::to_string(longest) +
                     ", and the model reads at most " +
                     std::to_string(config.longest_text()) + " tokens",
                 "give training.max_length of at most that"};
  }
  const bool apart = trial.training.pair.cosine;
  std::string key = part.fingerprint + "/" + pretrained.folder + "/" +
                    std::to_string(longest) + (apart ? "/apart" : "");
  // A fingerprint is of labels' names; a store holds their numbers.
  for (const std::string& label : part.data->labels().names()) {
    key += "/" + std::to_string(label.size()) + label;
  }
  if (auto known = tokens_.Find(key)) return known;
  if (apart && !part.data->is_pair()) {
    return Fault{FaultKind::kMisuse,
                 "training.extra.head is cosine, and the data set has no "
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
                                   const StopSign& stop, TrialSetup& setup) {
  const auto key = std::pair(trial.data, name);
  auto part = others_.Find(key);
  if (part == nullptr) {
    const LabelSet& labels = setup.data->labels;
    Expected<DataPart> loaded =
        name == kTest ? data_loader_.LoadTest(trial.data, labels, stop)
                      : data_loader_.LoadOther(name, trial.data,
                                               setup.data->task, labels, stop);
    if (!loaded.ok()) return loaded.fault();
    part = others_.Put(key, std::move(loaded).value());
  }
  auto tokens = Tokens(*part, trial, *setup.pretrained, stop);
  if (!tokens.ok()) return tokens.fault();
  setup.others.push_back({name + ".", *part, std::move(tokens).value()});
  return Done{};
}

Expected<TrialSetup> Workbench::Prepare(const TrialMessage& trial,
                                        const StopSign& stop,
                                        std::vector<std::string>& log) {
  TrialSetup setup;
  auto data = Data(trial, stop, log);
  if (!data.ok()) return data.fault();
  setup.data = std::move(data).value();
  setup.head = HeadOf(trial, *setup.data);
  Expected<Done> fits =
      CheckCosine(trial.training.pair, setup.head, trial.training.export_model);
  if (fits.ok()) {
    fits = CheckClassWeights(trial.training.class_weights, *setup.data);
  }
  if (!fits.ok()) return fits.fault();
  auto pretrained =
      models_.Weights(data_loader_.files(), trial.model, setup.head, stop, log);
  if (!pretrained.ok()) return pretrained.fault();
  setup.pretrained = std::move(pretrained).value();
  fits = CheckModules(trial.model.id, setup.pretrained->loaded.model.config(),
                      setup.head, trial.rates, trial.searched);
  if (!fits.ok()) return fits.fault();
  auto train = Tokens(setup.data->train, trial, *setup.pretrained, stop);
  if (!train.ok()) return train.fault();
  setup.train = std::move(train).value();
  auto validation =
      Tokens(setup.data->validation, trial, *setup.pretrained, stop);
  if (!validation.ok()) return validation.fault();
  setup.validation = {"", setup.data->validation,
                      std::move(validation).value()};
  std::vector<std::string> others = trial.training.also_evaluate;
  if (!trial.data.test_split.empty()) others.emplace_back(kTest);
  for (const std::string& name : others) {
    Expected<Done> added = AddOther(trial, name, stop, setup);
    if (!added.ok()) return added.fault();
  }
  fits = CheckRulesUsed(trial.data.rules, setup);
  if (!fits.ok()) return fits.fault();
  return setup;
}

}  // namespace frostline::trainer
