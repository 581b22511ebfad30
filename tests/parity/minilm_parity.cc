// SPDX-License-Identifier: Apache-2.0
//
// The real MiniLM against what transformers computed from it: token ids
// exactly, hidden states, sentence vectors and the pooler's output within
// 1e-5. Skipped where the weights were not fetched.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/parity/figures/torch_recordings.h"
#include "tests/parity/parity.h"
#include "worker/trainer/text/tokenizer.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::test {
namespace {

namespace fs = std::filesystem;

constexpr double kForward = 1e-5;

void CompareIds(const std::string& model,
                const std::vector<std::string>& sentences,
                const trainer::Batch& batch, ParityResult& result) {
  const trainer::Tokenizer tokenizer = OrThrow(trainer::LoadTokenizer(model));
  trainer::Encoder encoder(tokenizer);
  trainer::Encoding encoding;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    OrThrow(encoder.Encode(sentences[i], {}, encoding));
    const auto row = static_cast<std::int64_t>(i);
    const auto length = batch.mask[row].sum().item<std::int64_t>();
    bool same = static_cast<std::int64_t>(encoding.size()) == length;
    for (std::int64_t t = 0; same && t < length; ++t) {
      same = encoding.ids[static_cast<std::size_t>(t)] ==
             batch.ids[row][t].item<std::int64_t>();
    }
    result.True("ids of \"" + sentences[i] + "\"", same);
  }
}

trainer::Model MiniLm(const std::string& folder, trainer::Pooling pooling) {
  return OrThrow(trainer::LoadModel(folder,
                                    {.task = trainer::Task::kRegression,
                                     .outputs = 1,
                                     .kind = trainer::HeadKind::kCosine,
                                     .pooling = pooling},
                                    1))
      .model;
}

// tanh(W h + b) of the first token.
at::Tensor PoolerOutput(const trainer::Model& model, const at::Tensor& hidden) {
  at::Tensor weight;
  at::Tensor bias;
  for (const trainer::Weight& each : model.weights()) {
    if (each.spec.name == "bert.pooler.dense.weight") weight = each.value;
    if (each.spec.name == "bert.pooler.dense.bias") bias = each.value;
  }
  return at::tanh(at::linear(hidden.select(1, 0), weight, bias));
}

void CheckMiniLm(const std::string& path, ParityResult& result) {
  const std::string folder = trainer::RealMiniLm();
  if (folder.empty()) {
    result.Skip(
        "the weights are not there: ./dev setup fetches them, or "
        "FROSTLINE_MINILM names their folder");
    return;
  }
  at::set_num_threads(1);
  const trainer::Tensors recorded =
      RecordedTensors(fs::path(path).parent_path() / "reference.safetensors");
  const trainer::Model model = MiniLm(folder, trainer::Pooling::kFirst);
  trainer::Batch batch;
  batch.ids = recorded.at("input_ids");
  batch.mask = recorded.at("attention_mask");
  CompareIds(folder, ReadJson(path), batch, result);
  const at::NoGradGuard no_graph;
  OrThrow(model.Check(batch));
  const at::Tensor hidden = model.encoder().Suffix(
      model.encoder().Prefix(batch, {}), batch, {});  // [B, T, 384]
  const at::Tensor tokens = batch.mask.unsqueeze(2);  // [B, T, 1]
  result.Near("hidden states", 0.0,
              trainer::Furthest(hidden.narrow(2, 0, 8) * tokens,
                                recorded.at("last_hidden_first8") * tokens),
              kForward);
  result.Near("sentence vectors", 0.0,
              trainer::Furthest((hidden * tokens).sum(1) / tokens.sum(1),
                                recorded.at("mean_pooled")),
              kForward);
  result.Near("pooler", 0.0,
              trainer::Furthest(PoolerOutput(model, hidden).narrow(1, 0, 8),
                                recorded.at("pooler_first8")),
              kForward);
}

const bool kMiniLmRegistered = RegisterParity(
    "sentence_model", R"((.*/)?minilm/sentences\.json)", CheckMiniLm);

}  // namespace
}  // namespace frostline::test
