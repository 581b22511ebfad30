// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/batch.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full.h>

#include <string>
#include <vector>

#include "worker/trainer/text/encoding.h"

namespace frostline::trainer {
namespace {

Fault BadBatch(FaultKind kind, const std::string& cause) {
  return {kind, "a batch " + cause,
          "use the tokenizer that belongs to the model, and a max_length that "
          "it can hold"};
}

// Whether all of a tensor that is not empty lies in [0, end).
bool Within(const at::Tensor& ids, std::int64_t end) {
  return ids.min().item<std::int64_t>() >= 0 &&
         ids.max().item<std::int64_t>() < end;
}

Expected<Done> CheckLabels(const Batch& batch, const HeadSpec& head) {
  const at::Tensor& labels = batch.labels;
  const bool classes =
      head.task == Task::kSequence || head.task == Task::kTokens;
  if (labels.scalar_type() != (classes ? at::kLong : at::kFloat)) {
    return BadBatch(FaultKind::kMisuse, "has labels of the wrong type");
  }
  const std::int64_t texts = batch.ids.size(0);
  const bool fits =
      head.task == Task::kTokens
          ? labels.sizes() == batch.ids.sizes()
          : labels.dim() == 1 &&
                labels.size(0) == (head.apart() ? texts / 2 : texts);
  if (!fits) return BadBatch(FaultKind::kMisuse, "has too few or many labels");
  if (!classes) return Done{};
  const at::Tensor known = labels.masked_fill(labels.eq(-100), 0);
  if (Within(known, head.outputs)) return Done{};
  return BadBatch(FaultKind::kInconsistent, "has a label outside of the " +
                                                std::to_string(head.outputs) +
                                                " classes");
}

}  // namespace

Batch MoveTo(const Batch& batch, at::Device device) {
  const auto moved = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.device() == device) return tensor;
    const bool late = tensor.is_cpu() && !device.is_cpu();
    return (late ? tensor.pin_memory() : tensor)
        .to(device, tensor.scalar_type(), /*non_blocking=*/late);
  };
  return {moved(batch.ids),      moved(batch.mask),
          moved(batch.types),    moved(batch.labels),
          moved(batch.boundary), moved(batch.noise),
          moved(batch.lengths),  batch.task};
}

Batch PadTo(std::int64_t tokens, const Batch& batch,
            const ModelConfig& config) {
  const std::int64_t width = batch.ids.size(1);
  const std::int64_t wide = (width + tokens - 1) / tokens * tokens;
  if (wide == width || wide > config.longest_text()) return batch;
  const auto padded = [&](const at::Tensor& tensor, std::int64_t value) {
    // Cuts [B, N] and [B, N, H]; labels of whole texts stay as they are.
    if (!tensor.defined() || tensor.dim() < 2 || tensor.size(1) != width) {
      return tensor;
    }
    std::vector<std::int64_t> pad = {0, wide - width};
    if (tensor.dim() == 3) pad.insert(pad.begin(), {0, 0});
    return at::constant_pad_nd(tensor, pad, value);
  };
  return {padded(batch.ids, config.pad_id),
          padded(batch.mask, 0),
          padded(batch.types, 0),
          padded(batch.labels, kIgnoredLabel),
          padded(batch.boundary, 0),
          batch.noise,
          batch.lengths.defined()
              ? batch.lengths
              : at::full({batch.ids.size(0)}, width, batch.ids.options()),
          batch.task};
}

Expected<Done> CheckBatch(const Batch& batch, const ModelConfig& config,
                          const HeadSpec& head) {
  const at::Tensor& ids = batch.ids;
  if (ids.dim() != 2 || ids.numel() == 0 || ids.scalar_type() != at::kLong ||
      batch.mask.sizes() != ids.sizes() ||
      (batch.types.defined() && batch.types.sizes() != ids.sizes()) ||
      (head.apart() && ids.size(0) % 2 != 0)) {
    return BadBatch(FaultKind::kMisuse, "has tensors that do not fit together");
  }
  if (ids.size(1) > config.longest_text()) {
    return BadBatch(FaultKind::kInconsistent,
                    "has texts of " + std::to_string(ids.size(1)) +
                        " tokens; the model holds " +
                        std::to_string(config.longest_text()));
  }
  if (!Within(ids, config.vocabulary)) {
    return BadBatch(FaultKind::kInconsistent,
                    "has an id outside of the vocabulary of " +
                        std::to_string(config.vocabulary));
  }
  if (batch.types.defined() && config.types > 0 &&
      !Within(batch.types, config.types)) {
    return BadBatch(FaultKind::kInconsistent,
                    "has a token type that the model lacks");
  }
  if (!batch.labels.defined()) return Done{};
  return CheckLabels(batch, head);
}

}  // namespace frostline::trainer
