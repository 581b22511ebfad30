// SPDX-License-Identifier: Apache-2.0
//
// What KEDA asks, over the wire: numbers through the life of a study, streams,
// and who may see what.
#include <future>
#include <thread>

#include "gmock/gmock.h"
#include "grpc/externalscaler/externalscaler.grpc.pb.h"
#include "server/wire/scaler_query.h"
#include "tests/server/rpc/auth_fixture.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace frostline::server {
namespace {

using externalscaler::GetMetricSpecResponse;
using externalscaler::GetMetricsRequest;
using externalscaler::GetMetricsResponse;
using externalscaler::IsActiveResponse;
using externalscaler::ScaledObjectRef;
using std::chrono::seconds;
using Stub = externalscaler::ExternalScaler::Stub;
using Metadata = std::map<std::string, std::string>;

ScaledObjectRef ObjectWith(const Metadata& metadata) {
  ScaledObjectRef object;
  object.set_name("frostline-worker");
  object.set_namespace_("frostline");
  object.mutable_scalermetadata()->insert(metadata.begin(), metadata.end());
  return object;
}

GetMetricsRequest MetricsOf(const Metadata& metadata) {
  GetMetricsRequest request;
  *request.mutable_scaledobjectref() = ObjectWith(metadata);
  request.set_metricname(kUnclaimedTrials);
  return request;
}

class ScalerTest : public RpcFixture {
 protected:
  void SetUp() override {
    RpcFixture::SetUp();
    scaler_ = externalscaler::ExternalScaler::NewStub(channel_);
  }

  // What both fields say.
  absl::StatusOr<std::int64_t> Unclaimed(const Metadata& metadata = {}) {
    auto reply = Call(*scaler_, &Stub::GetMetrics, MetricsOf(metadata));
    if (!reply.ok()) return reply.status();
    EXPECT_EQ(reply->metricvalues_size(), 1);
    const auto& value = reply->metricvalues(0);
    EXPECT_EQ(value.metricname(), kUnclaimedTrials);
    EXPECT_EQ(value.metricvaluefloat(),
              static_cast<double>(value.metricvalue()));
    return value.metricvalue();
  }
  bool IsActive(const Metadata& metadata = {}) {
    const auto reply = Call(*scaler_, &Stub::IsActive, ObjectWith(metadata));
    EXPECT_OK(reply);
    return reply.ok() && reply->result();
  }

  absl::Status SetPaused(const std::string& id, bool paused) {
    if (paused) {
      v1::PauseStudyRequest request;
      request.set_request_id(RandomHexId());
      request.set_name(StudyNameOf(id));
      return Call(*studies_, &v1::StudyService::Stub::PauseStudy, request)
          .status();
    }
    v1::ResumeStudyRequest request;
    request.set_request_id(RandomHexId());
    request.set_name(StudyNameOf(id));
    return Call(*studies_, &v1::StudyService::Stub::ResumeStudy, request)
        .status();
  }
  // A trial that the worker holds.
  v1::Lease Take(const std::string& worker) {
    const auto reply = Acquire(worker, seconds(15));
    EXPECT_OK(reply);
    return reply.ok() && reply->leases_size() == 1 ? reply->leases(0)
                                                   : v1::Lease();
  }
  absl::Status Finish(const v1::Lease& lease) {
    v1::FinishRequest request;
    request.mutable_lease()->set_trial(lease.trial());
    request.mutable_lease()->set_attempt(lease.attempt());
    request.mutable_lease()->set_secret(lease.secret());
    request.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
    (*request.mutable_outcome()->mutable_metrics())["accuracy"] = 0.5;
    return Call(*workers_, &v1::WorkerService::Stub::Finish, request).status();
  }

  // Nobody reads it further than it is asked to.
  struct Stream {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<IsActiveResponse>> reader;
    // The next value; none when it has ended.
    std::optional<bool> Next() {
      IsActiveResponse news;
      if (!reader->Read(&news)) return std::nullopt;
      return news.result();
    }
  };
  std::unique_ptr<Stream> Watch(const Metadata& metadata = {}) {
    auto stream = std::make_unique<Stream>();
    SetTimeout(&stream->context, seconds(60));
    stream->reader =
        scaler_->StreamIsActive(&stream->context, ObjectWith(metadata));
    return stream;
  }

  std::unique_ptr<Stub> scaler_;
};

TEST_F(ScalerTest, TheSpecIsWhatOneWorkerTakes) {
  ASSERT_OK_AND_ASSIGN(
      const GetMetricSpecResponse reply,
      Call(*scaler_, &Stub::GetMetricSpec, ObjectWith({{"slots", "4"}})));
  ASSERT_EQ(reply.metricspecs_size(), 1);
  EXPECT_EQ(reply.metricspecs(0).metricname(), kUnclaimedTrials);
  EXPECT_EQ(reply.metricspecs(0).targetsize(), 4);
  EXPECT_EQ(reply.metricspecs(0).targetsizefloat(), 4.0);
}

TEST_F(ScalerTest, TheMetricFollowsAStudyThroughItsLife) {
  EXPECT_EQ(*Unclaimed(), 0);
  EXPECT_FALSE(IsActive());
  ASSERT_OK(Create("imdb", 3));
  EXPECT_EQ(*Unclaimed(), 3);
  EXPECT_TRUE(IsActive());
  for (const char* worker : {"w1", "w2", "w3"}) ASSERT_OK(Register(worker));
  const v1::Lease first = Take("w1");
  EXPECT_EQ(*Unclaimed(), 2);
  const v1::Lease second = Take("w2");
  EXPECT_EQ(*Unclaimed(), 1);
  EXPECT_TRUE(IsActive());  // for a single trial too
  const v1::Lease third = Take("w3");
  EXPECT_EQ(*Unclaimed(), 0);
  EXPECT_FALSE(IsActive());
  for (const v1::Lease& lease : {first, second, third}) {
    ASSERT_OK(Finish(lease));
    EXPECT_EQ(*Unclaimed(), 0);
  }
}

TEST_F(ScalerTest, APausedStudyCountsForNothing) {
  ASSERT_OK(Create("imdb", 3));
  ASSERT_OK(Create("sst", 5));
  EXPECT_EQ(*Unclaimed(), 8);
  EXPECT_EQ(*Unclaimed({{"study", "imdb"}}), 3);
  ASSERT_OK(SetPaused("imdb", true));
  EXPECT_EQ(*Unclaimed(), 5);
  EXPECT_EQ(*Unclaimed({{"study", "imdb"}}), 0);
  ASSERT_OK(SetPaused("imdb", false));
  EXPECT_EQ(*Unclaimed(), 8);
}

TEST_F(ScalerTest, AFleetIsStartedOnlyForStudiesThatItMayServe) {
  v1::CreateStudyRequest create = ExampleStudy("big", 7);
  (*create.mutable_settings()->mutable_required_worker_labels())["gpu"] =
      "a100";
  ASSERT_OK(Call(*studies_, &v1::StudyService::Stub::CreateStudy, create));
  ASSERT_OK(Create("small", 2));
  EXPECT_EQ(*Unclaimed(), 2);
  EXPECT_EQ(*Unclaimed({{"labels", "gpu=a100"}}), 9);
  EXPECT_EQ(*Unclaimed({{"labels", "gpu=t4"}}), 2);
  // Whoever names the study hears why it would never get a worker.
  EXPECT_THAT(Unclaimed({{"study", "big"}}),
              FailsAt(ErrorId::kRequestInvalid, "scalerMetadata.labels"));
  EXPECT_EQ(*Unclaimed({{"study", "big"}, {"labels", "gpu=a100"}}), 7);
}

TEST_F(ScalerTest, AMisspeltStudyIsAnError) {
  EXPECT_THAT(Unclaimed({{"study", "imbd"}}),
              FailsWith(ErrorId::kStudyNotFound));
  const auto stream = Watch({{"study", "imbd"}});
  EXPECT_EQ(stream->Next(), std::nullopt);
  EXPECT_THAT(proto::FromGrpcStatus(stream->reader->Finish()),
              FailsWith(ErrorId::kStudyNotFound));
}

TEST_F(ScalerTest, AStreamTellsAtOnceAndAtEachChangeOnly) {
  const auto stream = Watch();
  EXPECT_EQ(stream->Next(), false);
  ASSERT_OK(Create("imdb", 2));
  EXPECT_EQ(stream->Next(), true);
  ASSERT_OK(Create("sst", 2));  // more of the same is no change
  ASSERT_OK(SetPaused("sst", true));
  ASSERT_OK(SetPaused("imdb", true));
  EXPECT_EQ(stream->Next(), false);
  const auto later = Watch();
  EXPECT_EQ(later->Next(), false);
  ASSERT_OK(SetPaused("imdb", false));
  EXPECT_EQ(stream->Next(), true);
  EXPECT_EQ(later->Next(), true);
}

TEST_F(ScalerTest, AStreamOfAStudyEndsWithIt) {
  ASSERT_OK(Create("imdb", 2));
  const auto stream = Watch({{"study", "imdb"}});
  EXPECT_EQ(stream->Next(), true);
  v1::DeleteStudyRequest request;
  request.set_request_id(RandomHexId());
  request.set_name("studies/imdb");
  request.set_force(true);
  ASSERT_OK(Call(*studies_, &v1::StudyService::Stub::DeleteStudy, request));
  while (stream->Next().has_value()) continue;  // first it may be stopped
  EXPECT_THAT(proto::FromGrpcStatus(stream->reader->Finish()),
              FailsWith(ErrorId::kStudyNotFound));
}

TEST_F(ScalerTest, StreamsKeepNoThread) {
  const auto threads = [] {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line) && !line.starts_with("Threads:")) {
    }
    return std::stoi(line.substr(line.find(':') + 1));
  };
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(streams.emplace_back(Watch())->Next(), false);
  }
  const int with_eight = threads();
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(streams.emplace_back(Watch())->Next(), false);
  }
  EXPECT_LE(threads(), with_eight + 8);  // gRPC's own pool may have grown
  ASSERT_OK(Create("imdb", 1));
  for (const auto& stream : streams) EXPECT_EQ(stream->Next(), true);
}

TEST_F(ScalerTest, StreamsEndWithoutAnErrorWhenTheCoordinatorDoes) {
  const auto stream = Watch();
  EXPECT_EQ(stream->Next(), false);
  server_->StopServing();
  coordinator_->Drain();
  EXPECT_EQ(stream->Next(), std::nullopt);
  EXPECT_TRUE(stream->reader->Finish().ok());
}

// The stream's next question may come when the loop has just stopped.
TEST_F(ScalerTest, AStreamThatComesTooLateEndsWithoutAnErrorToo) {
  coordinator_->Drain();
  const auto stream = Watch();
  EXPECT_EQ(stream->Next(), std::nullopt);
  EXPECT_TRUE(stream->reader->Finish().ok());
}

// A server ends only when every call has been answered: this one would wait for
// ever.
TEST_F(ScalerTest, AStreamWhoseReaderHungUpIsEndedAtTheNextLook) {
  const auto stream = Watch();
  EXPECT_EQ(stream->Next(), false);
  stream->context.TryCancel();
  EXPECT_EQ(stream->reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  server_->Shutdown(seconds(0));  // without Drain()
}

TEST_F(ScalerTest, SpecsAreNotStreamedAndKedaIsToldSo) {
  grpc::ClientContext context;
  SetTimeout(&context, seconds(20));
  const auto reader = scaler_->StreamMetricSpec(&context, ObjectWith({}));
  GetMetricSpecResponse none;
  EXPECT_FALSE(reader->Read(&none));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

class ScalerAccessTest : public AuthFixture {
 protected:
  absl::StatusOr<std::int64_t> Unclaimed(const Caller& caller,
                                         const Metadata& metadata = {}) {
    auto reply = Call<GetMetricsResponse>(caller, "ExternalScaler/GetMetrics",
                                          MetricsOf(metadata));
    if (!reply.ok()) return reply.status();
    return reply->metricvalues(0).metricvalue();
  }
  void Create(const std::string& id, std::int64_t trials,
              const std::string& team) {
    v1::CreateStudyRequest create = ExampleStudy(id, trials);
    (*create.mutable_settings()->mutable_labels())["team"] = team;
    EXPECT_OK(
        Call<v1::CreateStudyReply>(local_, "StudyService/CreateStudy", create));
  }
};

TEST_F(ScalerAccessTest, AViewersCertificateIsEnoughAndAWorkersIsNone) {
  Create("imdb", 3, "a");
  const auto certificate = [this](const char* role) {
    return WithCertificate(role, authority_,
                           tls::FormatOwnerName({role, "keda"}));
  };
  EXPECT_EQ(*Unclaimed(certificate("viewer")), 3);
  EXPECT_THAT(Unclaimed(certificate("worker")),
              FailsWith(ErrorId::kRoleDenied));
}

TEST_F(ScalerAccessTest, ALimitedViewerCountsWhatItMaySee) {
  Create("imdb", 3, "a");
  Create("sst", 5, "b");
  v1::CreateTokenRequest request = TokenRequest(v1::ROLE_VIEWER, "keda");
  (*request.mutable_study_labels())["team"] = "b";
  ASSERT_OK_AND_ASSIGN(const auto token,
                       (Call<v1::CreateTokenReply>(
                           local_, "AdminService/CreateToken", request)));
  const Caller keda = WithToken(token.secret());
  EXPECT_EQ(*Unclaimed(local_), 8);
  EXPECT_EQ(*Unclaimed(keda), 5);
  EXPECT_EQ(*Unclaimed(keda, {{"study", "sst"}}), 5);
  EXPECT_THAT(Unclaimed(keda, {{"study", "imdb"}}),
              FailsWith(ErrorId::kStudyDenied));
  EXPECT_THAT(Send(keda, "ExternalScaler/StreamIsActive",
                   ObjectWith({{"study", "imdb"}}).SerializeAsString()),
              FailsWith(ErrorId::kStudyDenied));
}

}  // namespace
}  // namespace frostline::server
