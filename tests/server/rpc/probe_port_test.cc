// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/probe_port.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <limits>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/ids.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/metrics/page.h"
#include "tests/server/rpc/raw_client.h"
#include "tests/server/rpc/raw_socket.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace frostline::server {

// A whole coordinator with a port for probes and scrapes.
class ScrapeFixture : public RpcFixture {
 protected:
  void SetUp() override {
    RpcFixture::SetUp();
    server_.reset();
    RpcOptions options;
    options.listen = {"127.0.0.1:0"};
    options.health_listen = "127.0.0.1:0";
    options.measure = [this](MetricsPage& page) {
      coordinator_->Measure(page);
    };
    ASSERT_OK_AND_ASSIGN(server_,
                         RpcServer::Listen(options, coordinator_->verbs()));
    channel_ = grpc::CreateChannel(server_->address(),
                                   grpc::InsecureChannelCredentials());
    studies_ = v1::StudyService::NewStub(channel_);
    workers_ = v1::WorkerService::NewStub(channel_);
  }

  // What a peer gets that sends these bytes.
  std::string Answer(const std::string& request) const {
    const RawSocket socket(server_->health_address());
    socket.Send(request);
    return socket.ReadAll(std::chrono::seconds(20));
  }

  // A page of its own: what was made before may be a quarter of a second old.
  std::string Scrape() const {
    std::this_thread::sleep_for(PageMaker::kKept);
    return Answer("GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
  }

  // Returns the value of the series that is named so, labels included; -1 where
  // there is none.
  static double ValueOf(const std::string& series, const std::string& page) {
    const std::size_t at = page.find("\n" + series + " ");
    if (at == std::string::npos) return -1;
    return std::strtod(page.c_str() + at + 1 + series.size(), nullptr);
  }

  // A probe, over a connection of its own, is told that all is well.
  bool IsHealthy() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    RawClient client(server_->health_address(), arguments);
    const auto answer = client.Call("/grpc.health.v1.Health/Check", "");
    return answer.ok() && *answer == std::string("\x08\x01", 2);
  }

  // Registers, takes a trial and ends it with a result.
  void RunOne(const std::string& worker) {
    ASSERT_OK_AND_ASSIGN(const auto acquired,
                         Acquire(worker, std::chrono::seconds(10)));
    ASSERT_EQ(acquired.leases_size(), 1);
    const v1::Lease& lease = acquired.leases(0);
    v1::FinishRequest finish;
    finish.mutable_lease()->set_trial(lease.trial());
    finish.mutable_lease()->set_attempt(lease.attempt());
    finish.mutable_lease()->set_secret(lease.secret());
    v1::Outcome& outcome = *finish.mutable_outcome();
    outcome.set_kind(v1::Outcome::SUCCEEDED);
    (*outcome.mutable_metrics())["accuracy"] = 0.5;
    outcome.mutable_usage()->set_train_seconds(2.5);
    outcome.mutable_usage()->set_prefix_hits(3);
    outcome.mutable_usage()->set_prefix_misses(2);
    outcome.mutable_usage()->set_prefix_bytes(4096);
    ASSERT_OK(Call(*workers_, &v1::WorkerService::Stub::Finish, finish));
  }
};

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ScrapeRequestTest, TellsTheTwoLanguagesApartByThreeBytes) {
  EXPECT_EQ(SpeechOf(""), Speech::kUnclear);
  EXPECT_EQ(SpeechOf("P"), Speech::kUnclear);
  EXPECT_EQ(SpeechOf("PR"), Speech::kUnclear);
  EXPECT_EQ(SpeechOf("PRI * HTTP/2.0\r\n"), Speech::kHttp2);
  EXPECT_EQ(SpeechOf("G"), Speech::kHttp1);
  EXPECT_EQ(SpeechOf("PO"), Speech::kHttp1);
  EXPECT_EQ(SpeechOf(std::string_view("\x16\x03\x01", 3)), Speech::kHttp1);
}

struct Asked {
  const char* head;
  ScrapeVerdict verdict;
};

class JudgeTest : public ::testing::TestWithParam<Asked> {};

TEST_P(JudgeTest, Judges) {
  EXPECT_EQ(JudgeScrape(GetParam().head), GetParam().verdict);
}

INSTANTIATE_TEST_SUITE_P(
    All, JudgeTest,
    ::testing::Values(
        Asked{"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
              ScrapeVerdict::kMetrics},
        Asked{"GET /metrics?a=b HTTP/1.0\r\n\r\n", ScrapeVerdict::kMetrics},
        Asked{"GET /metrics HTTP/1.1\r\nHost: x\r\n",
              ScrapeVerdict::kIncomplete},
        Asked{"GET / HTTP/1.1\r\n\r\n", ScrapeVerdict::kNotFound},
        Asked{"GET /metrics/ HTTP/1.1\r\n\r\n", ScrapeVerdict::kNotFound},
        Asked{"GET /../metrics HTTP/1.1\r\n\r\n", ScrapeVerdict::kNotFound},
        Asked{"POST /metrics HTTP/1.1\r\n\r\n",
              ScrapeVerdict::kMethodNotAllowed},
        Asked{"HEAD /metrics HTTP/1.1\r\n\r\n",
              ScrapeVerdict::kMethodNotAllowed},
        Asked{"GET /metrics\r\n\r\n", ScrapeVerdict::kInvalid},
        Asked{"GET /metrics HTTP/3\r\n\r\n", ScrapeVerdict::kInvalid},
        Asked{"GET /met rics HTTP/1.1\r\n\r\n", ScrapeVerdict::kInvalid},
        Asked{"\r\n\r\n", ScrapeVerdict::kInvalid}));

TEST(ScrapeRequestTest, RefusesAHeadWithoutEnd) {
  const std::string line = "GET /metrics HTTP/1.1\r\nX: ";
  EXPECT_EQ(JudgeScrape(line + std::string(kMaxHeadBytes, 'x')),
            ScrapeVerdict::kTooLarge);
  EXPECT_EQ(JudgeScrape(line + std::string(kMaxHeadBytes, 'x') + "\r\n\r\n"),
            ScrapeVerdict::kTooLarge);
}

TEST(ScrapeRequestTest, AnswersWithItsLengthAndCloses) {
  const std::string page = "a 1\n";
  const std::string answer = ScrapeAnswer(ScrapeVerdict::kMetrics, &page);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n\r\na 1\n"));
  EXPECT_THAT(ScrapeAnswer(ScrapeVerdict::kMethodNotAllowed, nullptr),
              HasSubstr("Allow: GET\r\n"));
  EXPECT_THAT(ScrapeAnswer(ScrapeVerdict::kMetrics, nullptr),
              StartsWith("HTTP/1.1 503 "));
}

// Scrapes of a real coordinator, over sockets; and those who mean no good.

class ScrapeTest : public ScrapeFixture {
 protected:
  // Lines that are no comments.
  static std::vector<std::string> SeriesIn(const std::string& page) {
    std::vector<std::string> series;
    for (const auto line : absl::StrSplit(page, '\n')) {
      if (absl::StartsWith(line, "frostline_")) series.emplace_back(line);
    }
    return series;
  }
};

TEST_F(ScrapeTest, SaysWhatWasDone) {
  ASSERT_OK(Create("imdb", 10));
  ASSERT_OK(Register("gpu01"));
  for (int i = 0; i < 7; ++i) RunOne("gpu01");
  const std::string page = Scrape();
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200 OK\r\n"));
  const auto value = [&page](const char* series) {
    return ValueOf(series, page);
  };
  EXPECT_EQ(value("frostline_trials_ended_total{state=\"SUCCEEDED\"}"), 7);
  EXPECT_EQ(value("frostline_trials{state=\"SUCCEEDED\"}"), 7);
  EXPECT_EQ(value("frostline_study_trials{study=\"imdb\",state=\"SUCCEEDED\"}"),
            7);
  EXPECT_EQ(value("frostline_leases_granted_total"), 7);
  EXPECT_EQ(value("frostline_leases_running"), 0);
  EXPECT_EQ(value("frostline_attempts_ended_total{end=\"completed\"}"), 7);
  EXPECT_EQ(value("frostline_calls_total{verb=\"WorkerService.Finish\","
                  "code=\"OK\"}"),
            7);
  EXPECT_EQ(value("frostline_call_seconds_count{verb=\"WorkerService.Finish\","
                  "code=\"OK\"}"),
            7);
  EXPECT_EQ(value("frostline_train_seconds_total"), 17.5);
  EXPECT_EQ(value("frostline_prefix_lookups_total{result=\"hit\"}"), 21);
  EXPECT_EQ(value("frostline_prefix_lookups_total{result=\"miss\"}"), 14);
  EXPECT_EQ(value("frostline_prefix_bytes_total"), 7 * 4096);
  EXPECT_EQ(value("frostline_workers{state=\"ACTIVE\"}"), 1);
  EXPECT_EQ(value("frostline_slots"), 1);
  EXPECT_EQ(value("frostline_studies{state=\"ACTIVE\"}"), 1);
  EXPECT_EQ(value("frostline_useful_parallelism"), 3);  // of ten trials
  EXPECT_GE(value("frostline_proposal_seconds_count{sampler=\"random\"}"), 7);
  EXPECT_GE(value("frostline_commit_group_size_count"), 9);
  EXPECT_EQ(value("frostline_loop_responsive"), 1);
}

TEST_F(ScrapeTest, SeesAWorkerThatIsParkedAndATrialThatRuns) {
  ASSERT_OK(Create("imdb", 1));
  ASSERT_OK(Register("gpu01"));
  ASSERT_OK(Register("gpu02"));
  ASSERT_OK(Acquire("gpu01", seconds(10)));
  std::thread parked([this] { (void)Acquire("gpu02", seconds(4)); });
  std::string page;
  for (int i = 0; i < 40 && ValueOf("frostline_workers_parked", page) < 1;
       ++i) {
    page = Scrape();
  }
  EXPECT_EQ(ValueOf("frostline_workers_parked", page), 1);
  EXPECT_EQ(ValueOf("frostline_leases_running", page), 1);
  EXPECT_EQ(ValueOf("frostline_slots_busy", page), 1);
  EXPECT_EQ(ValueOf("frostline_trials{state=\"RUNNING\"}", page), 1);
  EXPECT_EQ(ValueOf("frostline_calls_in_progress{verb=\"WorkerService."
                    "Acquire\"}",
                    page),
            1);
  parked.join();
}

// A node of four GPUs and two slots.
class GpuScrapeTest : public ScrapeTest {
 protected:
  void RegisterGpus(const std::string& worker, const std::string& model) {
    v1::RegisterRequest request;
    request.set_request_id(RandomHexId());
    request.set_worker_id(worker);
    request.mutable_worker()->set_boot_id(boot_id_);
    request.mutable_worker()->set_slots(2);
    for (int i = 0; i < 4; ++i) {
      auto* const gpu =
          request.mutable_worker()->mutable_hardware()->add_gpus();
      gpu->set_uuid("GPU-" + std::to_string(i));
      gpu->set_model(model);
    }
    ASSERT_OK(Call(*workers_, &v1::WorkerService::Stub::Register, request));
  }
  v1::HeartbeatRequest Beat(const std::string& worker) const {
    v1::HeartbeatRequest beat;
    beat.set_worker("workers/" + worker);
    beat.set_boot_id(boot_id_);
    for (int i = 0; i < 4; ++i) {
      v1::GpuLoad& gpu = *beat.mutable_load()->add_gpus();
      gpu.set_uuid("GPU-" + std::to_string(i));
      gpu.set_utilization(0.25 * i);
      gpu.set_memory_used_bytes(10);
      gpu.set_memory_total_bytes(100);
      gpu.set_power_watts(50);
    }
    return beat;
  }
  absl::Status Send(const v1::HeartbeatRequest& beat) {
    return Call(*workers_, &v1::WorkerService::Stub::Heartbeat, beat).status();
  }
  static double Gpus(const std::string& name, const std::string& page) {
    return ValueOf("frostline_" + name + "{model=\"H100\"}", page);
  }
};

TEST_F(GpuScrapeTest, SumsWhatWorkersSayOfTheirGpus) {
  ASSERT_OK(Create("imdb", 10));
  RegisterGpus("gpu01", "H100");
  RegisterGpus("gpu02", "H100");
  ASSERT_OK(Acquire("gpu01", seconds(10)));
  ASSERT_OK(Send(Beat("gpu01")));
  ASSERT_OK(Send(Beat("gpu02")));
  const std::string page = Scrape();
  EXPECT_EQ(Gpus("gpus", page), 8);
  EXPECT_EQ(Gpus("gpus_leased", page), 2);  // one slot of two has a trial
  EXPECT_EQ(Gpus("gpus_busy", page), 3);
  EXPECT_EQ(Gpus("gpu_memory_bytes", page), 800);
  EXPECT_EQ(Gpus("gpu_memory_used_bytes", page), 80);
  EXPECT_EQ(Gpus("gpu_power_watts", page), 400);
}

TEST_F(GpuScrapeTest, ForgetsWhatIsNotSaidAgain) {
  RegisterGpus("gpu01", "H100");
  ASSERT_OK(Send(Beat("gpu01")));
  v1::HeartbeatRequest silent = Beat("gpu01");
  silent.clear_load();
  ASSERT_OK(Send(silent));
  EXPECT_EQ(Gpus("gpus", Scrape()), -1);
}

TEST_F(GpuScrapeTest, CountsNoGpuThatDoesNotSayHowBusyItIs) {
  RegisterGpus("gpu01", "H100");
  v1::HeartbeatRequest beat = Beat("gpu01");
  beat.mutable_load()->mutable_gpus(3)->clear_utilization();
  ASSERT_OK(Send(beat));
  EXPECT_EQ(Gpus("gpus", Scrape()), 3);
}

TEST_F(GpuScrapeTest, NamesSixteenModelsOfAHundred) {
  for (int i = 0; i < 100; ++i) {
    const std::string worker = "gpu" + std::to_string(i);
    RegisterGpus(worker, "model \"" + std::to_string(i) + "\"\n{}");
    ASSERT_OK(Send(Beat(worker)));
  }
  const std::string page = Scrape();
  int named = 0;
  for (const std::string& line : SeriesIn(page)) {
    named += absl::StartsWith(line, "frostline_gpus{") ? 1 : 0;
  }
  EXPECT_EQ(named, 17);
  EXPECT_EQ(ValueOf("frostline_gpus{model=\"other\"}", page), 4 * 84);
}

TEST_F(GpuScrapeTest, TakesNoNumberThatIsNone) {
  RegisterGpus("gpu01", "H100");
  v1::HeartbeatRequest beat = Beat("gpu01");
  beat.mutable_load()->mutable_gpus(2)->set_power_watts(
      std::numeric_limits<double>::infinity());
  EXPECT_THAT(Send(beat),
              FailsAt(ErrorId::kRequestInvalid, "load.gpus[2].power_watts"));
  EXPECT_EQ(Gpus("gpus", Scrape()), -1);
}

TEST_F(ScrapeTest, CountsACallThatIsRefused) {
  v1::GetStudyRequest nothing;
  nothing.set_name("studies/none");
  EXPECT_FALSE(
      Call(*studies_, &v1::StudyService::Stub::GetStudy, nothing).ok());
  EXPECT_EQ(ValueOf("frostline_calls_total{verb=\"StudyService.GetStudy\","
                    "code=\"NOT_FOUND\"}",
                    Scrape()),
            1);
}

TEST_F(ScrapeTest, NamesFiftyStudiesOfFiveHundred) {
  for (int i = 0; i < 500; ++i) {
    ASSERT_OK(Create("study-" + std::to_string(i), 4));
  }
  const std::string page = Scrape();
  std::set<std::string> named;
  for (const std::string& line : SeriesIn(page)) {
    const std::size_t at = line.find("study=\"");
    if (at == std::string::npos) continue;
    named.insert(line.substr(at, line.find('"', at + 7) - at));
  }
  EXPECT_EQ(named.size(), 51U);
  EXPECT_TRUE(named.contains("study=\"other"));
  EXPECT_TRUE(named.contains("study=\"study-499"));
  EXPECT_EQ(ValueOf("frostline_studies{state=\"ACTIVE\"}", page), 500);
  EXPECT_LT(SeriesIn(page).size(), 3'000U);
}

TEST_F(ScrapeTest, HasNothingBesideMetrics) {
  EXPECT_THAT(Answer("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Answer("GET /healthz HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Answer("POST /metrics HTTP/1.1\r\nContent-Length: 9\r\n\r\n"
                     "some body"),
              HasSubstr("Allow: GET\r\n"));
  EXPECT_THAT(Answer("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_TRUE(IsHealthy());
}

TEST_F(ScrapeTest, RefusesAHugeHeader) {
  EXPECT_THAT(Answer("GET /metrics HTTP/1.1\r\nX: " + std::string(20'000, 'x')),
              StartsWith("HTTP/1.1 431 "));
}

TEST_F(ScrapeTest, UnderstandsARequestThatComesByteByByte) {
  const RawSocket socket(server_->health_address());
  for (const char byte : std::string("GET /metrics HTTP/1.1\r\n\r\n")) {
    ASSERT_TRUE(socket.Send(std::string(1, byte)));
    std::this_thread::sleep_for(milliseconds(2));
  }
  EXPECT_THAT(socket.ReadAll(seconds(20)), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ScrapeTest, HandsOnAProbeWhoseFirstBytesComeOneByOne) {
  const RawSocket socket(server_->health_address());
  const std::string preface = HttpPreface();
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(socket.Send(preface.substr(i, 1)));
    std::this_thread::sleep_for(milliseconds(30));
  }
  ASSERT_TRUE(socket.Send(preface.substr(4)));
  EXPECT_TRUE(socket.IsSpokenTo(seconds(10)));
}

TEST_F(ScrapeTest, ServesProbesBesideThoseWhoSayNothing) {
  std::deque<RawSocket> silent;
  for (int i = 0; i < 100; ++i) {
    silent.emplace_back(server_->health_address());
    if (i % 2 == 0) silent.back().Send("GET /metr");
  }
  EXPECT_TRUE(IsHealthy());
  EXPECT_THAT(Scrape(), StartsWith("HTTP/1.1 200 "));
  // They are sent away: by those who came later, or for their slowness.
  EXPECT_TRUE(silent.front().IsEndedWithin(seconds(20)));
  EXPECT_TRUE(silent.back().IsEndedWithin(seconds(20)));
  EXPECT_TRUE(IsHealthy());
}

TEST_F(ScrapeTest, ACrowdOfScrapersCostsFewPages) {
  const double before = ValueOf("frostline_scrapes_total", Scrape());
  const auto began = std::chrono::steady_clock::now();
  std::deque<RawSocket> crowd;
  for (int i = 0; i < 60; ++i) {
    crowd.emplace_back(server_->health_address());
    crowd.back().Send("GET /metrics HTTP/1.1\r\n\r\n");
  }
  for (const RawSocket& one : crowd) {
    EXPECT_THAT(one.ReadAll(seconds(20)), StartsWith("HTTP/1.1 200 "));
  }
  const double after = ValueOf("frostline_scrapes_total", Scrape());
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - began;
  EXPECT_LE(after - before,
            2 + took / std::chrono::duration<double>(PageMaker::kKept));
  EXPECT_TRUE(IsHealthy());
}

TEST_F(ScrapeTest, SaysEverythingInTheCatalogueThatNeedsNoFiles) {
  ASSERT_OK(Create("imdb", 1));
  const std::string page = Scrape();
  const std::set<std::string> of_the_program = {
      "frostline_store_bytes", "frostline_build_info",
      "frostline_certificate_expiry_timestamp_seconds",
      "frostline_spans_total"};
  for (const MetricKind& kind : AllMetrics()) {
    if (of_the_program.contains(kind.name) ||
        absl::StartsWith(kind.name, "process_")) {
      continue;
    }
    EXPECT_THAT(page, HasSubstr(std::string("\n# TYPE ") + kind.name + " " +
                                NameOf(kind.type) + "\n"));
  }
}

TEST_F(ScrapeTest, SaysThatTheLoopHasEnded) {
  coordinator_->Drain();
  const std::string page = Scrape();
  EXPECT_EQ(ValueOf("frostline_loop_responsive", page), 0);
  EXPECT_EQ(ValueOf("frostline_trials{state=\"QUEUED\"}", page), -1);
  EXPECT_EQ(ValueOf("frostline_leases_granted_total", page), 0);
}

}  // namespace
}  // namespace frostline::server
