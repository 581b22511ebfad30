// SPDX-License-Identifier: Apache-2.0
#include "cli/view/registry_view.h"

#include <sstream>

#include "cli/term/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

v1::Worker WorkerWith(const std::string& id,
                      const std::vector<std::string>& models,
                      const std::string& sum) {
  v1::Worker worker;
  worker.set_name("workers/" + id);
  worker.set_state(v1::WORKER_STATE_ACTIVE);
  worker.set_slots(2);
  worker.mutable_hardware()->set_host(id + ".lan");
  worker.mutable_stock();
  for (const std::string& model : models) {
    v1::StockItem* const item = worker.mutable_stock()->add_models();
    item->set_id(model);
    item->set_sha256(sum);
  }
  worker.mutable_stock()->add_data_sets()->set_id("imdb");
  return worker;
}

void ExpectWithin(const std::string& text, int width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(DisplayWidth(line), width) << line;
  }
}

TEST(FleetStock, SaysWhoHasWhatAndWhereSumsDiffer) {
  v1::Worker gone = WorkerWith("gone", {"bert"}, "cc");
  gone.set_state(v1::WORKER_STATE_GONE);
  v1::Worker any;
  any.set_name("workers/any");
  any.set_state(v1::WORKER_STATE_ACTIVE);
  const std::string text = RenderFleetStock(
      {WorkerWith("a", {"bert", "minilm"}, std::string(64, 'a')),
       WorkerWith("b", {"bert"}, std::string(64, 'b')), gone, any},
      0);
  EXPECT_THAT(text, AllOf(HasSubstr("bert    model      1  aaaaaaaa  a\n"),
                          HasSubstr("bert    model      1  bbbbbbbb  b\n"),
                          HasSubstr("minilm  model      1  aaaaaaaa  a\n"),
                          HasSubstr("imdb    data set   2            a, b\n"),
                          HasSubstr("taken to have everything: any\n"),
                          Not(HasSubstr("gone"))));
  EXPECT_EQ(RenderFleetStock({}, 0), "");
}

TEST(FleetStock, FitsEachWidth) {
  const std::vector<v1::Worker> workers = {
      WorkerWith("a-worker-of-a-long-name", {"bert-base-multilingual-cased"},
                 std::string(64, 'a')),
      WorkerWith("b", {"minilm"}, std::string(64, 'b'))};
  for (const int width : {40, 80, 200}) {
    ExpectWithin(RenderFleetStock(workers, width), width);
    ExpectWithin(StockTable(workers).Render(width), width);
    EXPECT_THAT(StockTable(workers).Render(width), HasSubstr("ID"));
  }
  EXPECT_THAT(
      StockTable(workers).Render(200),
      AllOf(HasSubstr("bert-base-multilingual-cased"), HasSubstr("b.lan")));
}

TEST(StockTable, TellsAWorkerThatHasNothingFromOneThatDidNotSay) {
  v1::Worker silent = WorkerWith("silent", {}, "");
  silent.clear_stock();
  const std::string text =
      StockTable({WorkerWith("empty", {}, ""), silent}).Render();
  EXPECT_THAT(text, AllOf(HasSubstr("empty   ACTIVE      2  none    imdb"),
                          HasSubstr("silent  ACTIVE      2  any     any")));
}

TEST(DescribeData, SaysWhatIsOddAboutRows) {
  registry::DataFacts facts;
  facts.id = "d";
  facts.splits = {
      {.name = "train", .rows = 1200, .empty_texts = 3, .left_out = 1},
      {.name = "test", .labelled = false, .rows = 1}};
  facts.classes = {{"no", 700}, {"yes", 500}};
  EXPECT_EQ(DescribeData(facts),
            "d: classification\n"
            "  train: 1,200 rows, 1 more without a label left out, of which 3 "
            "with an empty text\n"
            "  test: 1 row, without labels\n"
            "  2 classes: no 700, yes 500\n");
}

}  // namespace
}  // namespace frostline::cli
