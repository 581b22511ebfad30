// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/worker_book.h"

#include <string>

#include "gtest/gtest.h"

namespace frostline::server {
namespace {

const std::string kSum(64, 'a');
const std::string kOther(64, 'b');

v1::Worker Worker() {
  v1::Worker worker;
  v1::StockItem* const model = worker.mutable_stock()->add_models();
  model->set_id("tiny");
  model->set_sha256(kSum);
  worker.mutable_stock()->add_data_sets()->set_id("sst5");
  return worker;
}

v1::StudySpec Spec(const std::string& model, const std::string& data) {
  v1::StudySpec spec;
  spec.mutable_model()->set_id(model);
  spec.mutable_data()->set_id(data);
  return spec;
}

TEST(KnownStock, WhatIsListedIsThere) {
  EXPECT_EQ(WhatLacks(StockOf(Worker()), Spec("tiny", "sst5")), "");
  EXPECT_EQ(WhatLacks(StockOf(Worker()), Spec("", "")), "");
}

TEST(KnownStock, WhatIsNotListedLacks) {
  EXPECT_EQ(WhatLacks(StockOf(Worker()), Spec("tiny", "cola")),
            "the data set cola");
  EXPECT_EQ(WhatLacks(StockOf(Worker()), Spec("bert", "sst5")),
            "the model bert");
}

TEST(KnownStock, AStudysPrecisionMustBeOneOfTheWorkers) {
  v1::Worker worker = Worker();
  EXPECT_EQ(WhatLacks(StockOf(worker), Spec("tiny", "sst5"), "bf16"), "");
  const std::string before = StockOf(worker)->mark();
  worker.add_precisions("fp32");
  EXPECT_NE(StockOf(worker)->mark(), before);
  EXPECT_EQ(WhatLacks(StockOf(worker), Spec("tiny", "sst5"), "bf16"),
            "the precision bf16");
  EXPECT_EQ(WhatLacks(StockOf(worker), Spec("tiny", "sst5"), "fp32"), "");
  worker.clear_stock();  // it says nothing of models
  EXPECT_EQ(WhatLacks(StockOf(worker), Spec("bert", "any"), "fp32"), "");
}

TEST(KnownStock, OtherWeightsOfTheSameNameLack) {
  v1::StudySpec spec = Spec("tiny", "sst5");
  spec.mutable_model()->set_sha256(kSum);
  spec.mutable_data()->set_sha256(kOther);  // the worker does not say its own
  EXPECT_EQ(WhatLacks(StockOf(Worker()), spec), "");
  spec.mutable_model()->set_sha256(kOther);
  EXPECT_EQ(WhatLacks(StockOf(Worker()), spec),
            "the model tiny of SHA-256 " + kOther);
}

TEST(KnownStock, DataSetsThatAreEvaluatedBesidesCountToo) {
  v1::StudySpec spec = Spec("tiny", "sst5");
  spec.mutable_training()->add_also_evaluate("imdb");
  EXPECT_EQ(WhatLacks(StockOf(Worker()), spec), "the data set imdb");
}

TEST(KnownStock, AWorkerThatDoesNotSayLacksNothing) {
  EXPECT_EQ(StockOf(v1::Worker()), nullptr);
  EXPECT_EQ(WhatLacks(nullptr, Spec("bert", "cola")), "");
}

TEST(KnownStock, AnEmptyStockLacksEverything) {
  v1::Worker worker;
  worker.mutable_stock();
  EXPECT_EQ(WhatLacks(StockOf(worker), Spec("tiny", "")), "the model tiny");
}

TEST(KnownStock, EqualStocksHaveOneMark) {
  v1::Worker other = Worker();
  EXPECT_EQ(StockOf(other)->mark(), StockOf(Worker())->mark());
  other.mutable_stock()->mutable_models(0)->set_sha256(kOther);
  EXPECT_NE(StockOf(other)->mark(), StockOf(Worker())->mark());
}

}  // namespace
}  // namespace frostline::server
