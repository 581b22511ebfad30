// SPDX-License-Identifier: Apache-2.0
#include "base/plain/training_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace frostline {
namespace {

constexpr LoraWord kLoraWords[] = {{"query", "query"},
                                   {"key", "key"},
                                   {"value", "value"},
                                   {"attention_out", "attention_out"},
                                   {"ffn_in", "ffn_in"},
                                   {"ffn_out", "ffn_out"},
                                   {"qkv", "qkv"},
                                   {"ffn_gate", "ffn_gate"},
                                   {"q_lin", "query"},
                                   {"k_lin", "key"},
                                   {"v_lin", "value"},
                                   {"out_lin", "attention_out"},
                                   {"attention_output", "attention_out"},
                                   {"lin1", "ffn_in"},
                                   {"lin2", "ffn_out"},
                                   {"query_proj", "query"},
                                   {"key_proj", "key"},
                                   {"value_proj", "value"},
                                   {"Wqkv", "qkv"},
                                   {"Wi", "ffn_in"},
                                   {"q_proj", "query"},
                                   {"k_proj", "key"},
                                   {"v_proj", "value"},
                                   {"o_proj", "attention_out"},
                                   {"gate_proj", "ffn_gate"},
                                   {"up_proj", "ffn_in"},
                                   {"down_proj", "ffn_out"}};

}  // namespace

std::span<const LoraWord> LoraWords() { return kLoraWords; }

namespace {

using enum SettingKind;

std::string Shortest(double number) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

std::string DefaultOf(const SettingRow& row) {
  if (!row.default_text.empty()) return std::string(row.default_text);
  if (!row.words.empty()) return std::string(WordsOf(row).front());
  if (row.kind == kSwitch) return "false";
  return Shortest(row.unless_given);
}

}  // namespace

std::string_view SettingRow::block() const {
  return key.substr(0, key.find('.') + 1);  // npos + 1 is 0
}

std::string_view SettingRow::name() const {
  return key.substr(key.find('.') + 1);
}

const SettingRow* FindSetting(std::string_view key) {
  const std::span<const SettingRow> rows = TrainingTable();
  const auto found = std::ranges::find(rows, key, &SettingRow::key);
  return found == rows.end() ? nullptr : &*found;
}

const SettingRow* FindSearchedSetting(std::string_view parameter) {
  if (parameter.empty()) return nullptr;
  const std::span<const SettingRow> rows = TrainingTable();
  const auto found =
      std::ranges::find(rows, parameter, &SettingRow::searched_as);
  return found == rows.end() ? nullptr : &*found;
}

const SettingRow& SettingOf(std::string_view key) { return *FindSetting(key); }

std::vector<std::string_view> NamesOfBlock(std::string_view block) {
  std::vector<std::string_view> names;
  for (const SettingRow& row : TrainingTable()) {
    if (row.block() == block) names.push_back(row.name());
  }
  return names;
}

std::vector<std::string_view> WordsOf(const SettingRow& row) {
  std::vector<std::string_view> words;
  std::string_view rest = row.words;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return words;
}

std::string RangeOf(const SettingRow& row) {
  switch (row.kind) {
    case kWord:
      return std::string(row.words);
    case kWeights:
      return std::string(row.words) + ", list";
    case kText:
      return "text";
    case kTexts:
      return "list";
    case kSwitch:
      return "true, false";
    case kBits:
      return "whole";
    case kWhole:
    case kNumber:
      break;
  }
  const auto end = [&](double number) {
    return row.kind == kWhole
               ? std::to_string(static_cast<std::int64_t>(number))
               : Shortest(number);
  };
  const std::string least =
      (row.kind == kWhole ? "whole, " : "") + end(row.least);
  if (row.most == kAnyCount || row.most == kAnySize) return least + " or more";
  return least + " … " + end(row.most);
}

std::string Listed(const std::vector<std::string_view>& words) {
  std::string all;
  for (const std::string_view word : words) {
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  return all;
}

std::string TrainingTablePage() {
  std::string page =
      "| key | default | may be | searched as | |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const SettingRow& row : TrainingTable()) {
    const std::string searched = row.searched_as.empty()
                                     ? "–"
                                     : "`" + std::string(row.searched_as) + "`";
    page += "| `" + std::string(row.key) + "` | " + DefaultOf(row) + " | " +
            RangeOf(row) + " | " + searched + " | " + std::string(row.doc) +
            " |\n";
  }
  return page;
}

// The rows of the table, in the order of the reference page.

namespace {

constexpr double kMostRows = 1 << 20;
constexpr double kMostTokens = 1 << 24;
constexpr double kBelowOne = 0.999999;
constexpr std::string_view kNever = "";  // searched
constexpr std::string_view kNone = "–";

// `shown` is the default as the page shows it, if a number does not say it.
constexpr SettingRow Whole(std::string_view key, double least, double most,
                           double unless_given, std::string_view searched_as,
                           std::string_view doc, std::string_view shown = "") {
  return {key, kWhole, least, most, unless_given, "", shown, searched_as, doc};
}

constexpr SettingRow Number(std::string_view key, double least, double most,
                            double unless_given, std::string_view searched_as,
                            std::string_view doc, std::string_view shown = "") {
  return {key, kNumber, least, most, unless_given, "", shown, searched_as, doc};
}

constexpr SettingRow Word(std::string_view key, std::string_view words,
                          std::string_view searched_as, std::string_view doc) {
  return {key, kWord, 0, 0, 0, words, "", searched_as, doc};
}

constexpr SettingRow Weights(std::string_view key, std::string_view words,
                             std::string_view doc) {
  return {key, kWeights, 0, 0, 0, words, "", kNever, doc};
}

constexpr SettingRow Other(std::string_view key, SettingKind kind,
                           std::string_view shown, std::string_view searched_as,
                           std::string_view doc) {
  return {key, kind, 0, 0, 0, "", shown, searched_as, doc};
}

constexpr SettingRow kRows[] = {
    Whole("epochs", 1, 100'000, 3, "epochs", "over the training rows"),
    Whole(
        "max_steps", 0, kAnyCount, 0, "max_steps",
        "ends there if the epochs have not; alone, as many epochs as it takes",
        kNone),
    Whole("batch_size", 1, kMostRows, 32, "batch_size", "rows of a batch"),
    Whole("batch_tokens", 0, kMostTokens, 0, "batch_tokens",
          "instead: rows times the longest of them at most", kNone),
    Whole("max_length", 3, kMostTokens, 0, "max_length",
          "tokens of a text, special ones included; longer ones are cut",
          "128, or what the model reads"),
    Whole("accumulation", 1, kMostRows, 1, "accumulation",
          "batches of a step; never over the end of an epoch"),
    Word("optimizer", "adamw, adam, sgd", "optimizer",
         "each as torch.optim has it"),
    Number("weight_decay", 0, 1e3, 0, "weight_decay",
           "of all but biases and LayerNorms"),
    Word("schedule", "linear, constant, cosine", "schedule",
         "of the rates, over all steps"),
    Number("warmup_share", 0, 1, 0, "warmup_share",
           "of all steps; rates rise from 0. Not with `warmup_steps`"),
    Whole("warmup_steps", 0, kAnyCount, 0, "warmup_steps",
          "the same as a number of steps"),
    Number("clip_norm", 0, kAnySize, 1, "clip_norm",
           "of all gradients together; a large number clips nothing"),
    Number("label_smoothing", 0, 0.999, 0, "label_smoothing", "of classes"),
    Whole("evaluate_every_steps", 0, kAnyCount, 0, "evaluate_every_steps",
          "else after each epoch; always at the end", kNone),
    Whole("report_every_steps", 0, kAnyCount, 0, kNever,
          "reports each so many steps what [training does](#training-metrics): "
          "its loss, rates, gradients and movements",
          kNone),
    Other("early_stopping.metric", kText, kNone, kNever,
          "a metric, or `train_loss`: the mean since the last evaluation"),
    Whole("early_stopping.patience", 0, 1 << 20, 1, kNever,
          "evaluations without a better value before the end"),
    Number("early_stopping.min_delta", 0, 1e300, 0, kNever,
           "what counts as better"),
    Word("keep", "best, last", kNever,
         "which evaluation is handed over, with its weights: "
         "[below](#which-evaluation-counts)"),
    Whole("unfreeze_every_steps", 0, kAnyCount, 0, "unfreeze_every_steps",
          "gradual unfreezing: head and pooler first, then one more layer from "
          "the top each so many steps, the embeddings last",
          kNone),
    Whole("unfreeze_every_epochs", 0, 100'000, 0, "unfreeze_every_epochs",
          "the same each so many epochs. Not with `unfreeze_every_steps`",
          kNone),
    Word("precision", "auto, fp32, tf32, bf16, fp16", kNever,
         "`bf16`, `fp16`: computed in it, kept in fp32, in fp16 under a scaled "
         "loss"),
    Other("report_example_outcomes", kSwitch, "", kNever,
          "truth, prediction and confidence of each example of every "
          "evaluation set, kept by the coordinator without texts"),
    Other("predictions", kTexts, kNone, kNever,
          "sets whose predictions are written beside their texts, into "
          "[files on the worker](#predictions): `validation` (or `dev`), "
          "`test`, `train`, ids of `also_evaluate`"),
    Other("also_evaluate", kTexts, kNone, kNever,
          "ids of further data sets, at most 16, evaluated once at the end: "
          "metrics `ID.accuracy` …"),
    Other(
        "seed", kBits, "the trial's own", "seed",
        "of the head's first weights, the order of batches and dropout; here, "
        "one for all trials. See [seeds](study-file.md#seeds-and-repeats)"),
    Whole("lora.rank", 1, 1 << 16, 0, "lora_rank",
          "adapters train instead of the layers' weights, see [below](#lora); "
          "must be given there, unless the space has ranks",
          kNone),
    Number("lora.alpha", 0, 1e6, 0, "lora_alpha", "so that alpha / rank is 1",
           "`rank`"),
    Number("lora.alpha_per_rank", 0, 1e6, 0, "lora_alpha_per_rank",
           "instead of alpha: alpha / rank itself, alike for every rank",
           kNone),
    Number("lora.dropout", 0, 0.999, 0, "lora_dropout",
           "of what an adapter sees"),
    Other("lora.modules", kTexts, "query, value", kNever,
          "which maps have adapters"),
    Word("head.kind",
         "linear, mlp, inner_product, cosine, features, two_map_cosine", kNever,
         "what stands on the encoder: [below](#heads)"),
    Word("head.pair", "joint, apart", kNever,
         "two texts as one sequence, or each read on its own, as all but "
         "`linear` and `mlp` do"),
    Word("head.pooling", "first, mean, max", kNever,
         "what stands for a text: the first token (through the pooler where "
         "there is one), the mean or the largest of all"),
    Number("head.scale", 0, 1e6, 5, kNever, "of `cosine`, `two_map_cosine`"),
    Whole("head.hidden", 0, 65'536, 0, kNever, "of `mlp`: width of the middle",
          "the encoder's"),
    Number("head.dropout", 0, 0.999, 0, kNever, "of `mlp`", "the model's"),
    Word("task_mixing", "random, in_proportion, joined", kNever,
         "how batches of several tasks follow each other: [below](#several-"
         "tasks)"),
    Word("gradient_surgery", "none, dominant, pcgrad", kNever,
         "of tasks' gradients that point against each other: "
         "[below](#gradient-surgery)"),
    Word("trains", "all, biases", kNever,
         "what of a module its rate trains: all of it, or its "
         "[biases](#biases-alone)"),
    Whole("adapters.size", 1, 1 << 16, 0, "adapter_size",
          "of the bottleneck of [adapters](#bottleneck-adapters) that train "
          "instead of the layers' weights; must be given there",
          kNone),
    Word("adapters.activation", "gelu, relu", kNever, "between its two maps"),
    Number("smart.weight", 0, 1e6, 0, "smart_weight",
           "λ of [SMART](#smart), which makes outputs smooth; must be given "
           "there",
           kNone),
    Number("smart.bregman", 0, 1e6, 0, "smart_bregman",
           "μ of the distance from the mean of earlier weights"),
    Number("smart.momentum", 0, kBelowOne, 0, kNever, "β of that mean",
           "0.99, after a tenth of the steps 0.999"),
    Whole("smart.steps", 1, 100, 1, kNever, "of the adversary"),
    Number("smart.radius", 0, kAnySize, 1e-5, "smart_radius",
           "ε of its ball, in the infinity norm"),
    Number("smart.step_size", 0, kAnySize, 1e-3, "smart_step_size",
           "η of its steps"),
    Number("smart.noise_variance", 0, kAnySize, 1e-10, kNever,
           "σ² of where it begins"),
    Word("smart.enter", "embeddings, boundary", kNever,
         "what it moves: what the embeddings give, or what the frozen prefix "
         "gives, so that the prefix stays shared"),
    Word("extra.head", "joint, cosine", kNever,
         "`cosine`: the two texts of a pair are read apart, and the score is "
         "`scale` times the cosine of their projections"),
    Word("extra.pooling", "first, mean", kNever,
         "of that head: the first token, or the mean of all"),
    Number("extra.scale", 1e-6, 1e6, 5, kNever, "of that head"),
    Number("extra.dropout", 0, 0.999, 0, "dropout",
           "instead of all dropout rates of the model", "the model's"),
    Number("extra.momentum", 0, kBelowOne, 0, "momentum",
           "of `sgd`, as torch.optim has it; refused beside another optimizer, "
           "so search it `when` that is `sgd`"),
    Number("extra.beta1", 0, kBelowOne, 0.9, "beta1", "of Adam"),
    Number("extra.beta2", 0, kBelowOne, 0.999, "beta2", "of Adam"),
    Number("extra.epsilon", 1e-30, 1, 1e-8, "epsilon", "of Adam"),
    Other("extra.no_decay", kTexts, "biases, LayerNorms", kNever,
          "instead: weights with one of these in their names do not decay, all "
          "others do, e.g. `[bias, LayerNorm.weight]`"),
    Weights("extra.class_weights", "none, balanced",
            "of the labels in a step's loss: a number above 0 for each, in the "
            "labels' order, or `balanced`"),
    Word("extra.layers_by", "rates, spectrum, gradient, lisa, autofreeze",
         kNever,
         "which layers train: all that have a rate, or those of them that a "
         "rule chooses: [below](#layers-chosen-by-a-rule)"),
    Number("extra.layers_share", 0.001, 1, 0.5, kNever,
           "of `spectrum`, `gradient`: the share of the layers that trains, "
           "at least one; of `autofreeze`: the quantile of the changes below "
           "which a layer freezes"),
    Whole("extra.layers_batches", 1, 10'000, 8, kNever,
          "of `gradient`: the batches whose gradient is measured"),
    Whole("extra.layers_at_once", 1, 10'000, 2, kNever,
          "of `lisa`: the layers that train at a time"),
    Whole("extra.layers_every_steps", 1, kAnyCount, 20, kNever,
          "of `lisa`: the steps after which layers are drawn anew; of "
          "`autofreeze`: after which some freeze"),
    Word("extra.tasks_weigh", "by_examples, alike", kNever,
         "`alike`: of several tasks in one step each weighs the same, however "
         "many examples it has: [below](#several-tasks)"),
    Word("extra.smart_pairs", "in_turn, together", kNever,
         "of [SMART](#smart): the texts of a pair that is read apart are moved "
         "one after the other, or both at once"),
    Word("extra.batches", "by_length, by_chance", kNever,
         "`by_length`: texts of about one length together"),
    Word("extra.recompute", "none, layers", kNever,
         "`layers`: a decoder keeps of each layer what it was given, and "
         "computes the rest [once more](#recomputing-layers) on the way back"),
    Word(
        "extra.export", "none, best, all", kNever,
        "the trained model, for transformers, in the worker's "
        "`RUN_DIR/trials/STUDY/TRIAL/ATTEMPT/model`: of every trial, or of the "
        "best that this worker has seen. `true` is `best`. [More]"
        "(study-file.md#trained-models)"),
    Number("extra.virtual_audit", 0, 1, 0, kNever,
           "share of the trials with virtually frozen modules that are trained "
           "once more without, for [the difference]"
           "(../explanation/freezing.md#virtual-freezing)"),
    Word("freeze.mode", "hard, lr0", kNever,
         "what frozen means: [explained here](../explanation/freezing.md)"),
    Word("freeze.prefix_dropout", "off, hf", kNever,
         "dropout in a frozen prefix, whose result is shared without; under "
         "`lr0` hf unless given"),
    Number("freeze.virtual_tau", 0, 1, 0, kNever,
           "freeze a layer that cannot move by this share of its weights")};

}  // namespace

std::span<const SettingRow> TrainingTable() { return kRows; }

}  // namespace frostline
