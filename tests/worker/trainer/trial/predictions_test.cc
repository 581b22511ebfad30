// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/predictions.h"

#include <ATen/ops/tensor.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/trainer/data/data_fixture.h"

namespace frostline::trainer {
namespace {

class PredictionsOfWords : public ::testing::Test {
 protected:
  DataPart Read(const DatasetReader& reader, std::string_view bytes) {
    DataPart part;
    part.data = std::make_shared<const Dataset>(
        folder_.Read(reader, bytes, Jsonl(), {}).value());
    part.rows = part.data->AllRows();
    return part;
  }

  // A VERB, then a NOUN, of two sentences of as many tokens. Labels are as a
  // model reads them; -100 is none.
  Scores Say(const std::vector<std::int64_t>& labels) const {
    Scores scores({.task = Task::kTokens, .outputs = 2}, labels_, 2);
    const std::vector<std::uint32_t> rows = {0, 1};
    Batch batch;
    batch.labels = at::tensor(labels).view({2, 2});
    scores.Add(
        rows, batch,
        {at::tensor({0.F, 9.F, 9.F, 0.F, 0.F, 9.F, 9.F, 0.F}).view({2, 2, 2}),
         1.0, 0});
    return scores;
  }

  std::string Written(const DataPart& part, const Scores& scores) {
    const std::string path = folder_.File("predictions/test.tsv");
    EXPECT_TRUE(WritePredictions(path, part, scores).ok());
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  DataFolder folder_;
  LabelSet labels_ = LabelSet::FromList({"NOUN", "VERB"}).value();
};

// Each word of them has the class 0 where a model reads labels, and no truth in
// the file.
TEST_F(PredictionsOfWords, WithoutLabelsEachWordIsPredicted) {
  DatasetReader reader(TaskKind::kTagging);
  const DataPart part =
      Read(reader.WithoutLabels(),
           "{\"words\": \"go home now\"}\n{\"words\": \"stay\"}\n");
  Scores scores = Say({0, 0, 0, -100});
  const std::vector<UnreadWord> cut = {{2, 0}};
  scores.AddUnread(0, cut);
  EXPECT_EQ(Written(part, scores),
            "word\tlabel\tprediction\tconfidence\n"
            "go\t\tVERB\t0.999877\nhome\t\tNOUN\t0.999877\nnow\t\t\t\n\n"
            "stay\t\tVERB\t0.999877\n\n");
}

TEST_F(PredictionsOfWords, OnesWithoutALabelAmongOthersAreNotPredicted) {
  DatasetReader reader(TaskKind::kTagging);
  const DataPart part =
      Read(reader.WithLabelRules({{.names = {}, .dropped = {"ADV"}}}),
           "{\"words\": \"go home\", \"tags\": \"VERB ADV\"}\n"
           "{\"words\": \"stay\", \"tags\": \"NOUN\"}\n");
  EXPECT_EQ(Written(part, Say({1, -100, 0, -100})),
            "word\tlabel\tprediction\tconfidence\n"
            "go\tVERB\tVERB\t0.999877\nhome\t\t\t\n\n"
            "stay\tNOUN\tVERB\t0.999877\n\n");
}

}  // namespace
}  // namespace frostline::trainer
