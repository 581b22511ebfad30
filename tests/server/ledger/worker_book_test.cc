// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/worker_book.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ledger/blame.h"

namespace frostline::server {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

v1::Worker BoundedWorker(std::int64_t longest, int layers) {
  v1::Worker worker = Worker();
  v1::ModelBounds& bounds =
      *worker.mutable_stock()->mutable_models(0)->mutable_bounds();
  bounds.set_longest_text(longest);
  bounds.set_layers(layers);
  return worker;
}

TEST(KnownStock, AModelThatReadsShorterTextsOrHasFewerLayersLacks) {
  v1::StudySpec spec = Spec("tiny", "sst5");
  spec.mutable_training()->set_max_length(3200);
  EXPECT_EQ(WhatLacks(StockOf(BoundedWorker(512, 6)), spec),
            "a model tiny of max_length 3200 (it has 512)");
  EXPECT_EQ(WhatLacks(StockOf(BoundedWorker(3200, 6)), spec), "");
  EXPECT_EQ(WhatLacks(StockOf(Worker()), spec), "");  // it did not say
  spec.mutable_model()->set_layers(12);
  EXPECT_EQ(WhatLacks(StockOf(BoundedWorker(3200, 6)), spec),
            "a model tiny of layers 12 (it has 6)");
}

TEST(KnownStock, TheMarkTellsModelsOfOtherBoundsApart) {
  EXPECT_NE(StockOf(BoundedWorker(512, 6))->mark(),
            StockOf(BoundedWorker(128, 6))->mark());
}

TEST(CheckFitsAModel, RefusesWhatNoWorkersModelFits) {
  WorkerBook book;
  const auto join = [&book](const std::string& id, const v1::Worker& worker) {
    storage::WorkerRow row;
    row.id = id;
    row.info = worker.SerializeAsString();
    row.last_seen = 1;
    book.Absorb(row);
  };
  v1::StudySpec spec = Spec("tiny", "sst5");
  spec.mutable_training()->set_max_length(3200);
  const auto check = [&](WallMicros now = 1) {
    return CheckFitsAModel(book, spec, {}, now, seconds(60));
  };
  EXPECT_TRUE(check().ok());  // nobody has told anything
  join("a", BoundedWorker(512, 6));
  EXPECT_THAT(std::string(check().message()),
              HasSubstr("training.max_length is 3200, and tiny of the workers "
                        "reads at most 512 tokens"));
  EXPECT_TRUE(check(1 + 600 * std::int64_t{1000000}).ok());  // it is gone
  join("b", BoundedWorker(4096, 6));
  EXPECT_TRUE(check().ok());  // b gets its trials
}

TEST(KnownStock, EqualStocksHaveOneMark) {
  v1::Worker other = Worker();
  EXPECT_EQ(StockOf(other)->mark(), StockOf(Worker())->mark());
  other.mutable_stock()->mutable_models(0)->set_sha256(kOther);
  EXPECT_NE(StockOf(other)->mark(), StockOf(Worker())->mark());
}

class BlameTest : public ::testing::Test {
 protected:
  // The last of `times` failures, three to a trial as attempts go.
  BlameVerdict Fail(const std::string& worker, storage::StudyKey study,
                    int times, const std::string& cause = "boom") {
    BlameVerdict verdict;
    for (int i = 0; i < times; ++i) {
      verdict =
          blame_.NoteFailure({worker, {study, failed_++ / 3}, cause}, now_);
    }
    return verdict;
  }
  bool MayTry(const std::string& worker, storage::StudyKey study) {
    return blame_.MayTry(worker, study, now_);
  }

  Blame blame_;
  SteadyTime now_ = seconds(1000);
  std::int64_t failed_ = 0;
};

TEST_F(BlameTest, SevenFailuresSayNothing) {
  EXPECT_EQ(Fail("w", 1, 7).blamed, Blamed::kNobody);
  EXPECT_TRUE(MayTry("w", 1));
}

TEST_F(BlameTest, EightKeepAWorkerFromThatStudyAlone) {
  const BlameVerdict verdict = Fail("w", 1, 8, "no such data set");
  EXPECT_EQ(verdict.blamed, Blamed::kPair);
  EXPECT_EQ(verdict.why,
            "workers/w failed 8 times in a row in it; the last: no such data "
            "set");
  EXPECT_FALSE(MayTry("w", 1));
  EXPECT_TRUE(MayTry("w", 2));
  EXPECT_TRUE(MayTry("v", 1));
}

TEST_F(BlameTest, FailuresOfTwoStudiesAreNotAddedUp) {
  Fail("w", 1, 7);
  EXPECT_EQ(Fail("w", 2, 7).blamed, Blamed::kNobody);
}

TEST_F(BlameTest, ASuccessEndsARow) {
  Fail("w", 1, 7);
  blame_.NoteSuccess("w", 1);
  EXPECT_EQ(Fail("w", 1, 7).blamed, Blamed::kNobody);
}

TEST_F(BlameTest, AfterAPauseOneTrialIsTriedAndAFailureDoublesThePause) {
  Fail("w", 1, 8);
  now_ += minutes(5);
  EXPECT_TRUE(MayTry("w", 1));
  blame_.NoteTry("w", {1, 70}, now_);
  EXPECT_FALSE(MayTry("w", 1));
  blame_.NoteStopped("w", {1, 70}, now_);
  blame_.NoteFailure({"w", {1, 70}, "boom"}, now_);
  now_ += minutes(9);
  EXPECT_FALSE(MayTry("w", 1));
  now_ += minutes(1);
  EXPECT_TRUE(MayTry("w", 1));
}

TEST_F(BlameTest, ASuccessAfterAPauseOpensTheStudyAgain) {
  Fail("w", 1, 8);
  now_ += minutes(5);
  blame_.NoteTry("w", {1, 70}, now_);
  blame_.NoteSuccess("w", 1);
  EXPECT_TRUE(MayTry("w", 1));
  EXPECT_EQ(blame_.WhyKept("w", 1), std::nullopt);
}

TEST_F(BlameTest, WhatOtherSlotsHadBegunDoesNotLengthenThePause) {
  Fail("w", 1, 8);
  EXPECT_EQ(Fail("w", 1, 7).blamed, Blamed::kNobody);
  now_ += minutes(5);
  EXPECT_TRUE(MayTry("w", 1));
}

TEST_F(BlameTest, ATryThatIsLostOrCancelledMakesRoomForAnother) {
  Fail("w", 1, 8);
  now_ += minutes(5);
  blame_.NoteTry("w", {1, 70}, now_);
  blame_.NoteStopped("w", {1, 3}, now_);  // another one
  EXPECT_FALSE(MayTry("w", 1));
  blame_.NoteStopped("w", {1, 70}, now_);
  EXPECT_TRUE(MayTry("w", 1));
}

TEST_F(BlameTest, AStudyThatFailsOnTwoWorkersIsToBlame) {
  Fail("v", 1, 4);
  const BlameVerdict verdict = Fail("w", 1, 4);
  EXPECT_EQ(verdict.blamed, Blamed::kStudy);
  EXPECT_THAT(verdict.why, HasSubstr("fail on 2 workers, 8 times in a row"));
}

TEST_F(BlameTest, OneBadPointIsNobodysFault) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_NE(
        blame_.NoteFailure({i % 2 == 0 ? "v" : "w", {1, 7}, ""}, now_).blamed,
        Blamed::kStudy);
    if (i % 7 == 6) break;  // before it is a pair's eighth
  }
}

// Given one worker, which alone would need eight failures to be kept away.
TEST_F(BlameTest, TwoTrialsThatBlameTheStudyAlikePauseIt) {
  const auto fail = [this](std::int64_t trial, const std::string& cause) {
    return blame_.NoteFailure({"w", {1, trial}, cause}, now_);
  };
  EXPECT_EQ(fail(1, "FL-5015: max_length").blamed, Blamed::kNobody);
  EXPECT_EQ(fail(1, "FL-5015: max_length").blamed, Blamed::kNobody);
  EXPECT_EQ(fail(2, "FL-5002: a line").blamed, Blamed::kNobody);
  EXPECT_EQ(fail(3, "exit code 1 after FL-5015:").blamed, Blamed::kNobody);
  const BlameVerdict verdict = fail(4, "FL-5015: max_length");
  EXPECT_EQ(verdict.blamed, Blamed::kStudy);
  EXPECT_EQ(verdict.why,
            "trials 1 and 4 failed alike: FL-5015: max_length; mend it, then "
            "resume the study");
}

TEST_F(BlameTest, ABadCornerAmongGoodTrialsPausesNothing) {
  for (std::int64_t trial = 1; trial < 6; ++trial) {
    EXPECT_EQ(
        blame_.NoteFailure({"w", {1, trial}, "FL-5015: rank"}, now_).blamed,
        Blamed::kNobody);
    blame_.NoteSuccess("v", 1);
  }
}

// The trainer crashes at a point of its own for each trial, on a fleet of
// `serving` workers.
class CrashTest : public BlameTest {
 protected:
  Blamed Crash(const std::string& worker, std::int64_t trial,
               std::size_t serving, const std::string& cause = kCause,
               std::uint64_t point = 0) {
    last_ = blame_.NoteFailure(
        {worker,
         {1, trial},
         cause,
         point != 0 ? point : static_cast<std::uint64_t>(trial),
         serving},
        now_);
    return last_.blamed;
  }
  static constexpr char kCause[] = "FL-5003: KeyError: 'text'";
  BlameVerdict last_;
};

TEST_F(CrashTest, TwoPointsThatCrashAlikeOnTheOnlyWorkerPauseTheStudy) {
  EXPECT_EQ(Crash("w", 1, 1), Blamed::kNobody);
  EXPECT_EQ(Crash("w", 1, 1), Blamed::kNobody);  // its second attempt
  EXPECT_EQ(Crash("w", 2, 1), Blamed::kStudy);
  EXPECT_EQ(last_.why,
            "trials 1 and 2 failed alike: FL-5003: KeyError: 'text'; mend it, "
            "then resume the study");
}

TEST_F(CrashTest, OneBrokenNodeStopsNoFleet) {
  for (std::int64_t trial = 1; trial < 8; ++trial) {
    EXPECT_NE(Crash("w", trial, 2), Blamed::kStudy);
  }
  EXPECT_EQ(Crash("v", 9, 2), Blamed::kStudy);
}

TEST_F(CrashTest, TwoOfFourWorkersAreNotTheFleet) {
  EXPECT_EQ(Crash("u", 1, 4), Blamed::kNobody);
  EXPECT_EQ(Crash("v", 2, 4), Blamed::kNobody);
  EXPECT_EQ(Crash("w", 3, 4), Blamed::kStudy);
}

TEST_F(CrashTest, OnePointTwiceOtherWordsOrNoMemoryTellNothing) {
  EXPECT_EQ(Crash("w", 1, 1, kCause, 7), Blamed::kNobody);
  EXPECT_EQ(Crash("w", 2, 1, kCause, 7), Blamed::kNobody);
  EXPECT_EQ(Crash("w", 3, 1, "FL-5003: OSError"), Blamed::kNobody);
  const std::string memory = "FL-5003: CUDA error: out of memory";
  EXPECT_EQ(Crash("w", 4, 1, memory), Blamed::kNobody);
  EXPECT_EQ(Crash("w", 5, 1, memory), Blamed::kNobody);
}

TEST_F(CrashTest, WhatHasEverSucceededCanRun) {
  blame_.NoteSuccess("v", 1);
  EXPECT_EQ(Crash("w", 1, 1), Blamed::kNobody);
  EXPECT_EQ(Crash("w", 2, 1), Blamed::kNobody);
}

TEST_F(BlameTest, WhereSomethingHasSucceededARegionOfBadPointsIsLikelier) {
  blame_.NoteSuccess("v", 1);
  Fail("v", 1, 7);
  EXPECT_EQ(Fail("w", 1, 7).blamed, Blamed::kNobody);
  EXPECT_EQ(Fail("u", 1, 7).blamed, Blamed::kNobody);
  EXPECT_EQ(Fail("t", 1, 3).blamed, Blamed::kStudy);
}

TEST_F(BlameTest, ANodeIsBrokenWhereOthersSucceedInTwoStudies) {
  for (const storage::StudyKey study : {1, 2}) blame_.NoteSuccess("v", study);
  EXPECT_EQ(Fail("w", 1, 8).blamed, Blamed::kPair);
  EXPECT_EQ(Fail("w", 2, 8).blamed, Blamed::kWorker);
}

TEST_F(BlameTest, WhereNobodyElseSucceedsTheNodeIsNotBlamed) {
  Fail("w", 1, 8);
  EXPECT_EQ(Fail("w", 2, 8).blamed, Blamed::kPair);
}

TEST_F(BlameTest, AQuarantineEndsAfterItsPauseAndTheNextIsTwiceAsLong) {
  blame_.NoteQuarantined("w", now_);
  EXPECT_THAT(blame_.TakePardoned(now_ + minutes(4)), IsEmpty());
  EXPECT_THAT(blame_.TakePardoned(now_ + minutes(5)), ElementsAre("w"));
  EXPECT_THAT(blame_.TakePardoned(now_ + minutes(6)), IsEmpty());
  blame_.NoteQuarantined("w", now_);
  EXPECT_THAT(blame_.TakePardoned(now_ + minutes(9)), IsEmpty());
}

TEST_F(BlameTest, WhatIsForgottenHasItsChanceAgain) {
  Fail("w", 1, 8);
  Fail("w", 2, 8);
  blame_.ForgetStudy(1);
  EXPECT_TRUE(MayTry("w", 1));
  blame_.ForgetWorker("w");
  EXPECT_TRUE(MayTry("w", 2));
  EXPECT_EQ(blame_.CauseOf("w"), "");
}

}  // namespace
}  // namespace frostline::server
