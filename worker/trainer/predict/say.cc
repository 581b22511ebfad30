// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/predict/say.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "worker/trainer/device/device.h"

namespace frostline::trainer {
namespace {

// Pads prompts on the right.
Batch BatchOfPrompts(const std::vector<std::span<const std::int32_t>>& prompts,
                     std::int64_t pad_id) {
  std::size_t longest = 0;
  for (const auto& prompt : prompts) {
    longest = std::max(longest, prompt.size());
  }
  std::vector<std::int64_t> ids(prompts.size() * longest, pad_id);
  std::vector<std::int64_t> mask(ids.size(), 0);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i * longest);
    std::ranges::copy(prompts[i], ids.begin() + at);
    std::fill_n(mask.begin() + at, prompts[i].size(), 1);
  }
  const auto tensor = [&](std::vector<std::int64_t>& values) {
    return at::from_blob(values.data(),
                         {static_cast<std::int64_t>(prompts.size()),
                          static_cast<std::int64_t>(longest)},
                         at::kLong)
        .clone();  // what from_blob gives owns nothing
  };
  Batch batch;
  batch.ids = tensor(ids);    // [B, N]
  batch.mask = tensor(mask);  // [B, N]
  return batch;
}

// The texts of one batch while they are said.
class Speech {
 public:
  Speech(const std::vector<std::span<const std::int32_t>>& prompts,
         const SayOptions& options)
      : options_(options), said_(prompts.size()), ended_(prompts.size()) {
    for (const auto& prompt : prompts) {
      // Of the tokens that are said all but the last are read.
      room_.push_back(options.longest + 1 -
                      static_cast<std::int64_t>(prompt.size()));
    }
  }

  // Takes the next token of each text. Returns whether any goes on.
  bool Take(const at::Tensor& next) {
    const at::Tensor here = next.to(at::kCPU).contiguous();
    const auto* tokens = here.const_data_ptr<std::int64_t>();
    bool any = false;
    for (std::size_t i = 0; i < said_.size(); ++i) {
      const auto token = static_cast<std::int32_t>(tokens[i]);
      if (ended_[i]) continue;
      ended_[i] = options_.ends.contains(token);
      if (!ended_[i]) said_[i].push_back(token);
      ended_[i] = ended_[i] || std::cmp_equal(said_[i].size(), room_[i]);
      any = any || !ended_[i];
    }
    return any;
  }

  std::vector<TokenIds> TakeAll() { return std::move(said_); }

 private:
  const SayOptions& options_;
  std::vector<TokenIds> said_;
  std::vector<bool> ended_;
  std::vector<std::int64_t> room_;  // tokens that may be said
};

}  // namespace

Expected<std::vector<TokenIds>> Say(
    const Model& model,
    const std::vector<std::span<const std::int32_t>>& prompts,
    const SayOptions& options) {
  return CatchTorch([&]() -> Expected<std::vector<TokenIds>> {
    const at::NoGradGuard no_graph;
    Batch batch = BatchOfPrompts(prompts, model.config().pad_id);
    RETURN_IF_FAULT(model.Check(batch));
    batch = MoveTo(batch, model.device());
    TokenMemory memory;
    Speech speech(prompts, options);
    const auto read = [&] {
      const Autocast autocast(options.precision, model.device());
      return model.encoder().ReadOn(batch, memory);  // [B, N, H]
    };
    at::Tensor hidden = read();
    const at::Tensor last = batch.mask.sum(1) - 1;  // [B]
    hidden = hidden.take_along_dim(
        last.view({-1, 1, 1}).expand({-1, 1, hidden.size(2)}), 1);
    while (true) {
      const at::Tensor next =
          at::linear(hidden.squeeze(1).to(at::kFloat), model.head().table())
              .argmax(1);  // [B]
      if (!speech.Take(next)) return speech.TakeAll();
      batch.ids = next.unsqueeze(1);  // [B, 1]
      hidden = read();                // [B, 1, H]
    }
  });
}

}  // namespace frostline::trainer
