// SPDX-License-Identifier: Apache-2.0
//
// What a node has: read of its registry, told to the coordinator, told again
// when files come and go.
#include "worker/agent/node/stock.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>

#include "base/plain/sums.h"
#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/agent/rig.h"

namespace frostline::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string SumOf(const std::string& text) {
  Sha256Sum sum;
  sum.Add(text);
  return sum.Finish();
}

const std::string kSumA = SumOf("w");  // of the weights
const std::string kSumB = SumOf("t");  // of the rows

// A folder with a registry, and files that it may name.
class Node {
 public:
  explicit Node(std::filesystem::path root) : root_(std::move(root)) {
    Write("models.yaml", Model("bert", "bert"));
    Write("datasets.yaml", DataSet("imdb"));
    Write("bert/model.safetensors", "w");
    Write("bert/config.json", "{}");
    Write("imdb/train.tsv", "t");
    Write("imdb/test.tsv", "t");
  }

  static std::string Model(const std::string& id, const std::string& path) {
    return id + ":\n  path: " + path + "\n  sha256: " + kSumA + "\n";
  }
  static std::string DataSet(const std::string& id) {
    return id + ":\n  task: classification\n  splits:\n    test: {path: " + id +
           "/test.tsv, sha256: " + kSumB + "}\n    train: {path: " + id +
           "/train.tsv, sha256: " + kSumB + "}\n";
  }
  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    // Renamed, as an editor does it.
    std::ofstream(root_ / "new") << text;
    std::filesystem::rename(root_ / "new", root_ / name);
  }
  void Remove(const std::string& name) const {
    std::filesystem::remove_all(root_ / name);
  }
  std::string root() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};

std::vector<std::string> IdsOf(
    const google::protobuf::RepeatedPtrField<v1::StockItem>& items) {
  std::vector<std::string> ids;
  for (const v1::StockItem& item : items) ids.push_back(item.id());
  return ids;
}

class StockReaderTest : public ::testing::Test {
 protected:
  TempFolder folder_;
  Node node_{folder_.path() / "registry"};
  StockReader reader_{node_.root()};
};

TEST_F(StockReaderTest, SaysIdsAndSumsOfWhatIsThere) {
  const v1::Stock stock = reader_.Read(false);
  ASSERT_THAT(IdsOf(stock.models()), ElementsAre("bert"));
  ASSERT_THAT(IdsOf(stock.data_sets()), ElementsAre("imdb"));
  EXPECT_EQ(stock.models(0).sha256(), kSumA);
  EXPECT_EQ(stock.data_sets(0).sha256(), kSumB);  // of its training split
}

// As a BERT of two layers says it, with what the trainer needs to read it.
std::string ConfigOf(int positions) {
  return R"({"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 2,
             "num_attention_heads": 2, "intermediate_size": 16,
             "vocab_size": 100, "type_vocab_size": 2, "hidden_act": "gelu",
             "max_position_embeddings": )" +
         std::to_string(positions) + "}";
}

TEST_F(StockReaderTest, SaysWhatAModelBoundsAndThatItChanged) {
  EXPECT_FALSE(reader_.Read(false).models(0).has_bounds());  // of "{}"
  node_.Write("bert/config.json", ConfigOf(64));
  v1::Stock stock = reader_.Read(false);
  ASSERT_TRUE(stock.models(0).has_bounds());
  EXPECT_EQ(stock.models(0).bounds().layers(), 2);
  EXPECT_EQ(stock.models(0).bounds().heads(), 2);
  EXPECT_EQ(stock.models(0).bounds().longest_text(), 64);
  node_.Write("bert/config.json", ConfigOf(512));
  stock = reader_.Read(false);
  EXPECT_EQ(stock.models(0).bounds().longest_text(), 512);
}

TEST_F(StockReaderTest, AnEntryCountsWhileEveryFileOfItIsThere) {
  node_.Remove("imdb/train.tsv");
  EXPECT_THAT(reader_.Read(false).data_sets(), IsEmpty());
  node_.Write("imdb/train.tsv", "t");
  EXPECT_THAT(reader_.Read(false).data_sets(), SizeIs(1));
  node_.Remove("bert/model.safetensors");
  std::filesystem::create_directory(node_.root() + "/bert/model.safetensors");
  EXPECT_THAT(reader_.Read(false).models(), IsEmpty());
}

TEST_F(StockReaderTest, AFileOfAnotherSumIsNoneOfTheRegistrys) {
  ASSERT_THAT(reader_.Read(false).models(), SizeIs(1));
  node_.Write("bert/model.safetensors", "v");
  node_.Write("imdb/train.tsv", "s");
  ::testing::internal::CaptureStderr();
  const v1::Stock stock = reader_.Read(false);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("bert: bert/model.safetensors has another sum"));
  EXPECT_THAT(stock.models(), IsEmpty());
  EXPECT_THAT(stock.data_sets(), IsEmpty());
  node_.Write("bert/model.safetensors", "w");
  EXPECT_THAT(reader_.Read(false).models(), SizeIs(1));
}

TEST_F(StockReaderTest, AFileIsReadForItsSumOnceAndNotAllInOneLook) {
  for (int look = 0; look < 50; ++look) reader_.Read(false);
  EXPECT_EQ(reader_.sums(), 2);
  StockReader careful(node_.root(), /*most_bytes=*/0);
  EXPECT_THAT(careful.Read(false).data_sets(), IsEmpty());
  EXPECT_THAT(careful.Read(false).data_sets(), SizeIs(1));
  EXPECT_EQ(careful.sums(), 2);
}

TEST_F(StockReaderTest, AModelNeedsItsConfiguration) {
  node_.Remove("bert/config.json");
  EXPECT_THAT(reader_.Read(false).models(), IsEmpty());
}

// The other splits of a published set are not used by a study.
TEST_F(StockReaderTest, OfADataSetTheTrainingSplitAloneDecides) {
  node_.Remove("imdb/test.tsv");
  EXPECT_THAT(reader_.Read(false).data_sets(), SizeIs(1));
}

TEST_F(StockReaderTest, AModelInPiecesNeedsThemAll) {
  node_.Write("models.yaml", Node::Model("bert", "bert") +
                                 "  weights: model.safetensors.index.json\n"
                                 "  shards: {one: " +
                                 kSumA + ", two: " + kSumB + "}\n");
  node_.Write("bert/model.safetensors.index.json", "w");
  node_.Write("bert/one", "w");
  EXPECT_THAT(reader_.Read(false).models(), IsEmpty());
  node_.Write("bert/two", "t");
  EXPECT_THAT(reader_.Read(false).models(), SizeIs(1));
}

TEST_F(StockReaderTest, NoPathLeadsOutOfTheRegistry) {
  std::ofstream(folder_.File("model.safetensors")) << "w";
  for (const std::string& path : {std::string(".."), folder_.path().string()}) {
    node_.Write("models.yaml", Node::Model("bert", path));
    EXPECT_THAT(reader_.Read(false).models(), IsEmpty()) << path;
  }
  std::filesystem::create_symlink(folder_.path(), node_.root() + "/link");
  node_.Write("models.yaml", Node::Model("bert", "link"));
  EXPECT_THAT(reader_.Read(false).models(), IsEmpty());
}

TEST_F(StockReaderTest, ARegistryFileIsReadAgainWhenItChangedOrWhenAsked) {
  for (int look = 0; look < 50; ++look) reader_.Read(false);
  EXPECT_EQ(reader_.reads(), 2);
  node_.Write("models.yaml", Node::Model("bort", "bert"));
  EXPECT_THAT(IdsOf(reader_.Read(false).models()), ElementsAre("bort"));
  EXPECT_EQ(reader_.reads(), 3);
  reader_.Read(true);
  EXPECT_EQ(reader_.reads(), 5);
}

TEST_F(StockReaderTest, AMalformedFileDeclaresNothingAndTheOtherStillDoes) {
  for (const std::string& text :
       {std::string("bert: {path: bert, size: 3}"), std::string("\tbert:"),
        std::string("bert: [a]"), Node::Model("Bert!", "bert"),
        std::string("bert: {path: bert, sha256: 123}")}) {
    node_.Write("models.yaml", text);
    ::testing::internal::CaptureStderr();
    const v1::Stock stock = reader_.Read(false);
    const std::string log = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(stock.models(), IsEmpty()) << text;
    EXPECT_THAT(stock.data_sets(), SizeIs(1)) << text;
    EXPECT_THAT(log, HasSubstr("registry_unreadable"));
    EXPECT_THAT(log, HasSubstr("models.yaml line "));
  }
  node_.Remove("models.yaml");
  EXPECT_THAT(reader_.Read(false).data_sets(), SizeIs(1));
}

// Nothing can be opened while it lives, and no disk said why.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST_F(StockReaderTest, WhereTheDiskDoesNotSayTheLastAnswerCounts) {
  node_.Write("models.yaml",
              Node::Model("bert", "bert") + Node::Model("gone", "gone"));
  const v1::Stock before = reader_.Read(false);
  ASSERT_THAT(IdsOf(before.models()), ElementsAre("bert"));
  const auto while_nothing_opens = [this](bool anew) {
    const NoDescriptors none;
    return reader_.Read(anew).SerializeAsString();
  };
  EXPECT_EQ(while_nothing_opens(false), before.SerializeAsString());
  EXPECT_EQ(while_nothing_opens(true), before.SerializeAsString());
  node_.Remove("imdb/train.tsv");
  EXPECT_THAT(reader_.Read(false).data_sets(), IsEmpty());
  // A path through a file, and one into a ring of links, are absent.
  node_.Write("models.yaml", Node::Model("bert", "bert/config.json"));
  EXPECT_THAT(reader_.Read(false).models(), IsEmpty());
  std::filesystem::create_symlink("ring", node_.root() + "/ring");
  node_.Write("models.yaml", Node::Model("bert", "ring"));
  EXPECT_THAT(reader_.Read(false).models(), IsEmpty());
}

TEST_F(StockReaderTest, TheFirstThousandCount) {
  std::string models;
  for (int i = 0; i < 1100; ++i) {
    models += Node::Model("m" + std::to_string(i), "bert");
  }
  node_.Write("models.yaml", models);
  EXPECT_THAT(reader_.Read(false).models(), SizeIs(1024));
}

TEST_F(StockReaderTest, AStudyNeedsItsModelAndItsDataWithTheSumsItNames) {
  const v1::Stock stock = reader_.Read(false);
  v1::TrialSpec spec;
  EXPECT_TRUE(HasStockFor(stock, spec));
  spec.mutable_model()->set_id("bert");
  spec.mutable_data()->set_id("imdb");
  EXPECT_TRUE(HasStockFor(stock, spec));
  spec.mutable_model()->set_sha256(kSumB);
  EXPECT_FALSE(HasStockFor(stock, spec));
  spec.mutable_model()->set_sha256(kSumA);
  EXPECT_TRUE(HasStockFor(stock, spec));
  spec.mutable_training()->add_also_evaluate("imdb");
  EXPECT_TRUE(HasStockFor(stock, spec));
  spec.mutable_training()->add_also_evaluate("sst2");
  EXPECT_FALSE(HasStockFor(stock, spec));
  spec.clear_training();
  spec.mutable_data()->set_id("sst2");
  EXPECT_FALSE(HasStockFor(stock, spec));
}

// An agent beside a scripted coordinator, on a node with a registry.
class Stocked {
 public:
  explicit Stocked(const std::string& trainer)
      : rig(trainer), node(rig.File("registry")) {
    rig.options().registry = node.root();
    rig.options().stock_interval = milliseconds(20);
  }
  static v1::Lease Lease(int number) {
    v1::Lease lease = ScriptedCoordinator::LeaseOf(number);
    lease.mutable_spec()->mutable_model()->set_id("bert");
    lease.mutable_spec()->mutable_data()->set_id("imdb");
    return lease;
  }

  Rig rig;
  Node node;
};

constexpr char kLacksAFile[] = R"py(wait_for("go")
say(type="finish", state="failed",
    cause="FL-5010: imdb/train.tsv: No such file or directory (put it there)",
    **{"class": "infrastructure"})
)py";

TEST(Stock, WithoutARegistryNothingIsSaidOfIt) {
  Rig rig("pass");
  rig.Start();
  ASSERT_TRUE(rig.coordinator().Await(
      [](const Heard& heard) { return !heard.registers.empty(); }));
  EXPECT_FALSE(rig.coordinator().heard().registers[0].worker().has_stock());
}

TEST(Stock, ARegistrationFollowsEachChangeAndIsNoConflict) {
  Stocked test("pass");
  test.rig.Start();
  for (std::size_t change = 1; change <= 8; ++change) {
    ASSERT_TRUE(test.rig.coordinator().Await([change](const Heard& heard) {
      return heard.registers.size() == change;
    }));
    if (change % 2 == 1) {
      test.node.Remove("imdb/train.tsv");
    } else {
      test.node.Write("imdb/train.tsv", "t");
    }
  }
  const auto registers = test.rig.coordinator().heard().registers;
  for (std::size_t i = 0; i < registers.size(); ++i) {
    const v1::Worker& worker = registers[i].worker();
    EXPECT_THAT(worker.stock().data_sets(), SizeIs(i % 2 == 0 ? 1 : 0));
    EXPECT_THAT(worker.stock().models(), SizeIs(1));
    EXPECT_EQ(worker.boot_id(), registers[0].worker().boot_id());
  }
  test.rig.coordinator().EndStudy();
  EXPECT_EQ(test.rig.Join(), 0);
}

TEST(Stock, ItIsToldAgainWhenTheCoordinatorWasAway) {
  Stocked test("pass");
  test.rig.Start();
  ASSERT_TRUE(test.rig.coordinator().Await([](const Heard& heard) {
    return !heard.acquires.empty() || heard.registers.size() == 1;
  }));
  test.rig.coordinator().GoAway();
  test.node.Remove("imdb");
  std::this_thread::sleep_for(milliseconds(100));
  test.rig.coordinator().ComeBack();
  EXPECT_TRUE(test.rig.coordinator().Await([](const Heard& heard) {
    return heard.registers.back().worker().stock().data_sets().empty();
  }));
}

// The worker is one for fp32 alone; it says so, and takes no fault.
TEST(Stock, ATrialOfAnotherPrecisionGoesBackAndIsRemembered) {
  Stocked test(R"py(
if "auto_precision" not in t:
    say(type="report", step=0, precision="fp32", precisions=["fp32"])
    finish("succeeded", 1.0)
else:
    say(type="finish", state="failed", cause="FL-5013: not bf16 (elsewhere)",
        precisions=["fp32"], **{"class": "unfit"})
)py");
  v1::Lease decided = Stocked::Lease(2);
  decided.mutable_spec()->set_auto_precision("bf16");
  test.rig.coordinator().Offer(Stocked::Lease(1));
  test.rig.coordinator().Offer(decided);
  test.rig.Start();
  ASSERT_TRUE(test.rig.coordinator().Await([](const Heard& heard) {
    return heard.finishes.size() == 1 && heard.releases.size() == 1 &&
           heard.registers.back().worker().precisions_size() == 1;
  }));
  const Heard heard = test.rig.coordinator().heard();
  EXPECT_EQ(heard.reports[0].precision(), "fp32");
  EXPECT_EQ(heard.releases[0].reason(), v1::ReleaseRequest::NOT_IN_STOCK);
  EXPECT_THAT(heard.releases[0].detail(), HasSubstr("not bf16"));
  EXPECT_EQ(heard.registers.back().worker().precisions(0), "fp32");
}

TEST(Stock, AFileThatIsGoneIsNobodysFailure) {
  Stocked test(kLacksAFile);
  test.rig.options().stock_interval = std::chrono::hours(1);
  test.rig.coordinator().Offer(Stocked::Lease(1));
  test.rig.Start();
  ASSERT_TRUE(test.rig.coordinator().Await(
      [](const Heard& heard) { return !heard.heartbeats.empty(); }));
  test.node.Remove("imdb/train.tsv");
  std::ofstream(test.rig.File("go")) << "";
  ASSERT_TRUE(test.rig.coordinator().Await(
      [](const Heard& heard) { return !heard.releases.empty(); }));
  const Heard heard = test.rig.coordinator().heard();
  EXPECT_EQ(heard.releases[0].reason(), v1::ReleaseRequest::NOT_IN_STOCK);
  EXPECT_THAT(heard.releases[0].detail(), HasSubstr("imdb/train.tsv"));
  EXPECT_THAT(heard.finishes, IsEmpty());
  // Told first, or the coordinator would give the trial back to us.
  ASSERT_THAT(heard.registers, SizeIs(2));
  EXPECT_THAT(heard.registers[1].worker().stock().data_sets(), IsEmpty());
  const auto at = [&heard](const std::string& method) {
    return std::find(heard.order.rbegin(), heard.order.rend(), method);
  };
  EXPECT_GT(at("Register") - heard.order.rbegin(),
            at("Release") - heard.order.rbegin());
}

TEST(Stock, AFileOfAnotherSumIsNobodysFailureEither) {
  Stocked test(R"py(wait_for("go")
say(type="finish", state="failed",
    cause="FL-5014: imdb/train.tsv: its SHA-256 is another (put it there)",
    **{"class": "infrastructure"})
)py");
  test.rig.options().stock_interval = std::chrono::hours(1);
  test.rig.coordinator().Offer(Stocked::Lease(1));
  test.rig.Start();
  ASSERT_TRUE(test.rig.coordinator().Await(
      [](const Heard& heard) { return !heard.heartbeats.empty(); }));
  test.node.Write("imdb/train.tsv", "other rows");
  std::ofstream(test.rig.File("go")) << "";
  ASSERT_TRUE(test.rig.coordinator().Await(
      [](const Heard& heard) { return !heard.releases.empty(); }));
  const Heard heard = test.rig.coordinator().heard();
  EXPECT_EQ(heard.releases[0].reason(), v1::ReleaseRequest::NOT_IN_STOCK);
  EXPECT_THAT(heard.finishes, IsEmpty());
}

// As frostline-trainer does: what it read first is all it knows.
constexpr char kReadsOnce[] = R"py(global known
try: known
except NameError: known = open(os.environ["FROSTLINE_REGISTRY"] + "/datasets.yaml").read()
finish("succeeded", len(known) * 1e6 + os.getpid() % 1000000)
)py";

TEST(Stock, AWarmTrainerThatReadAnOldRegistryIsReplaced) {
  Stocked test(kReadsOnce);
  const auto run = [&test](int number) {
    test.rig.coordinator().Offer(Stocked::Lease(number));
    EXPECT_TRUE(test.rig.coordinator().Await([number](const Heard& heard) {
      return heard.finishes.size() == static_cast<std::size_t>(number);
    }));
    const auto finish = test.rig.coordinator().heard().finishes.back();
    return finish.outcome().metrics().at("score");
  };
  test.rig.Start();
  const double first = run(1);
  // A touch changes nothing, nor do files come and go.
  test.node.Write("datasets.yaml", Node::DataSet("imdb"));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(run(2), first);
  test.node.Write("datasets.yaml",
                  Node::DataSet("imdb") + Node::DataSet("sst2"));
  test.node.Write("sst2/train.tsv", "t");
  test.node.Write("sst2/test.tsv", "t");
  ASSERT_TRUE(test.rig.coordinator().Await([](const Heard& heard) {
    return heard.registers.back().worker().stock().data_sets_size() == 2;
  }));
  EXPECT_GT(run(3), first + 50e6);
}

TEST(Stock, AFileThatTheRegistryDoesNotMissIsAFailure) {
  Stocked test(kLacksAFile);
  test.rig.coordinator().Offer(Stocked::Lease(1));
  std::ofstream(test.rig.File("go")) << "";
  test.rig.Start();
  ASSERT_TRUE(test.rig.coordinator().Await(
      [](const Heard& heard) { return !heard.finishes.empty(); }));
  const Heard heard = test.rig.coordinator().heard();
  EXPECT_EQ(heard.finishes[0].outcome().kind(), v1::Outcome::FAILED);
  EXPECT_THAT(heard.releases, IsEmpty());
  EXPECT_THAT(heard.registers, SizeIs(1));
}

// A disk that answers nobody between Block() and its end.
class HungDisk {
 public:
  LookAtStock Look() const {
    return [state = state_](bool) {
      std::unique_lock<std::mutex> lock(state->mutex);
      ++state->looks;
      state->changed.notify_all();
      state->changed.wait(lock, [&] { return !state->hangs; });
      StockLook look;
      look.stock.add_models()->set_id("bert");
      look.stock.add_data_sets()->set_id("imdb");
      return look;
    };
  }
  ~HungDisk() { Set(false); }
  void Set(bool hangs) const {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->hangs = hangs;
    state_->changed.notify_all();
  }
  void AwaitLooks(int looks) const {
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->looks >= looks; });
  }
  int looks() const {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    return state_->looks;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool hangs = false;
    int looks = 0;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

TEST(StockWatch, LooksAtOnceWhenAskedAndAfterEachInterval) {
  const HungDisk disk;
  std::atomic<int> heard{0};
  StockWatch slow(disk.Look(), std::chrono::hours(1), [&heard] { ++heard; });
  EXPECT_TRUE(slow.Await(1, std::chrono::hours(1)));
  EXPECT_FALSE(slow.Await(2, milliseconds(50)));
  EXPECT_TRUE(slow.Await(slow.Ask(), std::chrono::hours(1)));
  EXPECT_EQ(heard, 2);
  EXPECT_EQ(disk.looks(), 2);
  EXPECT_THAT(slow.last().stock.models(), SizeIs(1));
  const HungDisk other;
  const StockWatch quick(other.Look(), milliseconds(1), [] {});
  EXPECT_TRUE(quick.Await(5, std::chrono::hours(1)));
}

TEST(StockWatch, ALookThatNeverEndsIsLeftBehind) {
  HungDisk disk;
  bool is_gone = false;
  {
    disk.Set(true);
    StockWatch watch(disk.Look(), milliseconds(1),
                     [&is_gone] { EXPECT_FALSE(is_gone); });
    disk.AwaitLooks(1);
    EXPECT_FALSE(watch.Await(1, milliseconds(20)));
  }
  is_gone = true;
}

TEST(Stock, ARegistryThatHangsHoldsUpNeitherTheAgentNorItsEnd) {
  HungDisk disk;
  Stocked test(kLacksAFile);
  test.rig.options().look_at_stock = disk.Look();
  test.rig.coordinator().Offer(Stocked::Lease(1));
  test.rig.Start();
  ASSERT_TRUE(test.rig.coordinator().Await(
      [](const Heard& heard) { return !heard.heartbeats.empty(); }));
  disk.Set(true);
  std::ofstream(test.rig.File("go")) << "";
  disk.AwaitLooks(disk.looks() + 1);
  test.rig.Stop(StopLevel::kRelease, kExitRequeue);
  EXPECT_EQ(test.rig.Join(), kExitRequeue);
}

TEST(Stock, ARegistryThatHangsFromTheStartDoesNotKeepTheAgent) {
  HungDisk disk;
  disk.Set(true);
  Stocked test("pass");
  test.rig.options().look_at_stock = disk.Look();
  test.rig.Start();
  disk.AwaitLooks(1);
  test.rig.Stop(StopLevel::kRelease, kExitInterrupted);
  EXPECT_EQ(test.rig.Join(), kExitInterrupted);
  EXPECT_THAT(test.rig.coordinator().heard().registers, IsEmpty());
}

}  // namespace
}  // namespace frostline::agent
