// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/workbench.h"

#include <gmock/gmock.h>

#include <optional>

#include "tests/support/temp_folder.h"
#include "tests/worker/trainer/tiny_registry.h"

namespace frostline::trainer {
namespace {

class ModelShelfOf : public testing::Test {
 protected:
  ModelShelfOf() {
    const std::string root = folder_.path().string();
    WriteTinyRegistry(root);
    files_.emplace(DataRoot::Open(root).value());
    shelf_.emplace(ModelShelf::Open(*files_, device_).value());
  }

  std::shared_ptr<const Pretrained> Weights(const HeadSpec& head) {
    ModelRequest request;
    request.id = "tiny";
    return shelf_->Weights(*files_, request, head, {}, log_).value();
  }

  static const void* FirstByte(const std::vector<Weight>& weights) {
    return weights.front().value.const_data_ptr();
  }

  TempFolder folder_;
  Device device_ = Device::Open("cpu").value();
  std::optional<VerifiedFiles> files_;
  std::optional<ModelShelf> shelf_;
  std::vector<std::string> log_;
};

TEST_F(ModelShelfOf, KeepsAnEncoderOnceForAllHeads) {
  const auto two = Weights({Task::kSequence, 2});
  const auto tags = Weights({Task::kTokens, 17});

  const Model& first = two->loaded.model;
  const Model& second = tags->loaded.model;
  for (std::size_t i = 0; i < first.encoder().weights().size(); ++i) {
    EXPECT_EQ(first.encoder().weights()[i].value.const_data_ptr(),
              second.encoder().weights()[i].value.const_data_ptr());
  }
  EXPECT_EQ(second.head().spec().outputs, 17);
  EXPECT_NE(FirstByte(first.head().weights()),
            FirstByte(second.head().weights()));
}

TEST_F(ModelShelfOf, KeepsAHeadAndSpeaksOfItOnce) {
  const auto once = Weights({Task::kTokens, 17});
  const std::size_t lines = log_.size();
  const auto again = Weights({Task::kTokens, 17});

  EXPECT_GT(lines, 0U);
  EXPECT_EQ(log_.size(), lines);
  EXPECT_EQ(FirstByte(once->loaded.model.head().weights()),
            FirstByte(again->loaded.model.head().weights()));
}

}  // namespace
}  // namespace frostline::trainer
