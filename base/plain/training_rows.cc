// SPDX-License-Identifier: Apache-2.0
//
// The rows of the table, in the order of the reference page.
#include "base/plain/training_table.h"

namespace frostline {
namespace {

using enum SettingKind;

constexpr double kMostRows = 1 << 20;
constexpr double kMostTokens = 1 << 24;
constexpr double kBelowOne = 0.999999;
constexpr std::string_view kNever = "";  // searched
constexpr std::string_view kNone = "–";

// `shown` is the default as the page has it, where a number does not say it.
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
    Other("early_stopping.metric", kText, kNone, kNever,
          "a metric, or `train_loss`: the mean since the last evaluation"),
    Whole("early_stopping.patience", 0, 1 << 20, 1, kNever,
          "evaluations without a better value before the end"),
    Number("early_stopping.min_delta", 0, 1e300, 0, kNever,
           "what counts as better"),
    Whole("unfreeze_every_steps", 0, kAnyCount, 0, "unfreeze_every_steps",
          "gradual unfreezing: head and pooler first, then one more layer from "
          "the top each so many steps, the embeddings last",
          kNone),
    Word("precision", "auto, fp32, tf32, bf16", kNever,
         "`bf16`: computed in bf16, kept in fp32; `auto`: bf16 where the "
         "device does it well, newer processors too; `tf32`: products of "
         "newer GPUs with ten bits of mantissa, refused elsewhere; say `fp32` "
         "to repeat published numbers"),
    Other("report_example_outcomes", kSwitch, "", kNever,
          "right or wrong for each validation row"),
    Other("also_evaluate", kTexts, kNone, kNever,
          "ids of further data sets, at most 16, evaluated once at the end: "
          "metrics `ID.accuracy` …"),
    Other(
        "seed", kBits, "the trial's own", "seed",
        "of the head's first weights, the order of batches and dropout; here, "
        "one for all trials. See [seeds](study-file.md#seeds-and-repeats). "
        "Searched, it repeats each point: `seed: {int: [1, 5]}`"),
    Whole("lora.rank", 1, 1 << 16, 0, "lora_rank",
          "adapters train instead of the layers' weights, see [below](#lora); "
          "must be given there",
          kNone),
    Number("lora.alpha", 0, 1e6, 0, "lora_alpha", "so that alpha / rank is 1",
           "`rank`"),
    Number("lora.dropout", 0, 0.999, 0, "lora_dropout",
           "of what an adapter sees"),
    Other("lora.modules", kTexts, "query, value", kNever,
          "which maps have adapters"),
    Word("extra.head", "joint, cosine", kNever,
         "`cosine`: the two texts of a pair are read apart, and the score is "
         "`scale` times the cosine of their projections: labels are numbers of "
         "-`scale` to `scale`, taken as they are"),
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
    Word("extra.batches", "by_length, by_chance", kNever,
         "`by_length`: texts of about one length together"),
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
