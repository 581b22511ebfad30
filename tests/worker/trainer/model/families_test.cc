// SPDX-License-Identifier: Apache-2.0
//
// What freezing and batching rely on, for families whose layers are their own.
#include <gtest/gtest.h>

#include <string>

#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/device/device.h"

namespace frostline::trainer {
namespace {

constexpr double kWithin = 1e-5;

class FamilyOf : public testing::TestWithParam<const char*> {
 protected:
  FamilyOf()
      : folder_("models/" + std::string(GetParam())),
        model_(LoadFixture(folder_).model),
        batch_(BatchOf(ReadTensors(FixturePath(folder_ + "/io.safetensors")),
                       "b1")) {}

  at::Tensor Logits(const Batch& batch, const Pass& pass = {}) const {
    return model_.Forward(batch, pass);
  }

  at::NoGradGuard no_graph_;
  std::string folder_;
  Model model_;
  Batch batch_;
};

TEST_P(FamilyOf, ABoundaryOfAnyDepthGivesTheSame) {
  const at::Tensor whole = Logits(batch_);
  for (std::int64_t blocks = 0; blocks <= 1 + model_.config().layers;
       ++blocks) {
    Pass pass;
    pass.frozen_blocks = blocks;
    pass.first_token = ReadsFirstToken(model_.config(), model_.head().spec());
    Batch stored = batch_;
    stored.boundary = model_.encoder().Prefix(batch_, pass);
    EXPECT_TRUE(Logits(stored, pass).equal(whole)) << blocks;
  }
}

TEST_P(FamilyOf, PaddingChangesNothingThatAnyoneReads) {
  const Batch padded = PadTo(16, batch_, model_.config());
  ASSERT_EQ(padded.ids.size(1), 32);
  at::Tensor logits = Logits(padded);
  if (logits.dim() == 3) logits = logits.narrow(1, 0, batch_.ids.size(1));
  const at::Tensor tokens =
      logits.dim() == 3 ? batch_.mask.unsqueeze(2) : at::ones({1}, at::kLong);
  EXPECT_LE(Furthest(logits * tokens, Logits(batch_) * tokens), kWithin);
}

TEST_P(FamilyOf, TheTopLayerForOneTokenGivesThatToken) {
  const at::Tensor boundary = model_.encoder().Prefix(batch_, {});
  const at::Tensor all = model_.encoder().Suffix(boundary, batch_, {});
  const at::Tensor one =
      model_.encoder().Suffix(boundary, batch_, {.first_token = true});
  ASSERT_EQ(one.size(1), 1);
  EXPECT_LE(Furthest(one, all.narrow(1, 0, 1)), kWithin);
}

TEST_P(FamilyOf, KeptHalvesAreWhatAutocastMakes) {
  const Autocast autocast(Precision::kBf16, at::kCPU);
  const at::Tensor before = Logits(batch_);
  model_.Prepare({}, at::kBFloat16);
  EXPECT_TRUE(Logits(batch_).equal(before));
}

INSTANTIATE_TEST_SUITE_P(Recorded, FamilyOf,
                         testing::Values("electra-seq2", "electra-tok17",
                                         "distilroberta-seq2",
                                         "modernbert-seq2",
                                         "modernbert-mean-seq2",
                                         "modernbert-tok17", "deberta-seq2",
                                         "deberta-tok17", "deberta-far-seq2"),
                         [](const auto& folder) {
                           std::string name = folder.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace frostline::trainer
