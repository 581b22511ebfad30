// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/reflection.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>

#include "frostline/v1/served.pb.h"
#include "gmock/gmock.h"
#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "gtest/gtest.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace frostline::server {
namespace {

namespace pb = google::protobuf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

using V1 = grpc::reflection::v1::ServerReflection;
using V1Alpha = grpc::reflection::v1alpha::ServerReflection;
namespace v1r = grpc::reflection::v1;
namespace v1a = grpc::reflection::v1alpha;

// One stream; each question waits for its answer, as the protocol has it.
template <typename Service, typename Request, typename Response>
class Asker {
 public:
  explicit Asker(const std::shared_ptr<grpc::Channel>& channel)
      : stub_(Service::NewStub(channel)) {
    SetTimeout(&context_, std::chrono::seconds(20));
    stream_ = stub_->ServerReflectionInfo(&context_);
  }

  template <typename Fill>
  Response Ask(Fill fill) {
    Request request;
    fill(&request);
    Response response;
    EXPECT_TRUE(stream_->Write(request));
    EXPECT_TRUE(stream_->Read(&response));
    return response;
  }

  grpc::Status End() {
    stream_->WritesDone();
    Response response;
    EXPECT_FALSE(stream_->Read(&response));
    return stream_->Finish();
  }

 private:
  std::unique_ptr<typename Service::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> stream_;
};

using Modern =
    Asker<V1, v1r::ServerReflectionRequest, v1r::ServerReflectionResponse>;
using Older =
    Asker<V1Alpha, v1a::ServerReflectionRequest, v1a::ServerReflectionResponse>;

// Into a pool that knows nothing, in the order in which they came; it takes a
// file only after all that this imports.
template <typename Response>
void AddFiles(const Response& response, pb::DescriptorPool* pool) {
  for (const auto& bytes :
       response.file_descriptor_response().file_descriptor_proto()) {
    pb::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(bytes));
    if (pool->FindFileByName(file.name()) != nullptr) continue;
    ASSERT_NE(pool->BuildFile(file), nullptr) << file.name();
  }
}

class ReflectionTest : public RpcFixture {
 protected:
  // What a tool does that knows nothing: lists, then asks for each service.
  template <typename AskerOfVersion>
  void ReadAll(pb::DescriptorPool* pool, std::set<std::string>* services) {
    AskerOfVersion asker(channel_);
    const auto list =
        asker.Ask([](auto* request) { request->set_list_services("*"); });
    for (const auto& service : list.list_services_response().service()) {
      services->insert(service.name());
      AddFiles(asker.Ask([&](auto* request) {
        request->set_file_containing_symbol(service.name());
      }),
               pool);
      EXPECT_NE(pool->FindServiceByName(service.name()), nullptr)
          << service.name();
    }
    EXPECT_TRUE(asker.End().ok());
  }
};

TEST_F(ReflectionTest, ListsEveryServiceOfTheContract) {
  std::set<std::string> services;
  pb::DescriptorPool pool;
  ReadAll<Modern>(&pool, &services);
  EXPECT_THAT(
      services,
      IsSupersetOf({"frostline.v1.StudyService", "frostline.v1.WorkerService",
                    "frostline.v1.ImportanceService",
                    "frostline.v1.AdminService", "grpc.health.v1.Health",
                    "externalscaler.ExternalScaler",
                    "grpc.reflection.v1.ServerReflection",
                    "grpc.reflection.v1alpha.ServerReflection"}));
}

TEST_F(ReflectionTest, DescribesEveryMethodToWhoKnowsNothing) {
  std::set<std::string> services;
  pb::DescriptorPool pool;
  ReadAll<Modern>(&pool, &services);
  for (const std::string& name : services) {
    const auto* ours =
        pb::DescriptorPool::generated_pool()->FindServiceByName(name);
    const auto* theirs = pool.FindServiceByName(name);
    ASSERT_TRUE(ours != nullptr && theirs != nullptr) << name;
    EXPECT_EQ(theirs->DebugString(), ours->DebugString());
    for (int i = 0; i < ours->method_count(); ++i) {
      EXPECT_EQ(theirs->method(i)->input_type()->DebugString(),
                ours->method(i)->input_type()->DebugString());
      EXPECT_EQ(theirs->method(i)->output_type()->DebugString(),
                ours->method(i)->output_type()->DebugString());
    }
  }
}

TEST_F(ReflectionTest, SaysTheSameToOlderTools) {
  std::set<std::string> modern, older;
  pb::DescriptorPool modern_pool, older_pool;
  ReadAll<Modern>(&modern_pool, &modern);
  ReadAll<Older>(&older_pool, &older);
  EXPECT_EQ(older, modern);
}

TEST_F(ReflectionTest, FindsFilesExtensionsAndTheirNumbers) {
  Modern asker(channel_);
  pb::DescriptorPool pool;
  AddFiles(asker.Ask([](auto* request) {
    request->set_file_by_filename("frostline/v1/plan.proto");
  }),
           &pool);
  EXPECT_NE(pool.FindMessageTypeByName("frostline.v1.FreezePlan"), nullptr);
  const auto numbers = asker.Ask([](auto* request) {
    request->set_all_extension_numbers_of_type("google.protobuf.FieldOptions");
  });
  EXPECT_THAT(numbers.all_extension_numbers_response().extension_number(),
              Contains(v1::kNotServedFieldNumber));
  AddFiles(asker.Ask([](auto* request) {
    auto& extension = *request->mutable_file_containing_extension();
    extension.set_containing_type("google.protobuf.MethodOptions");
    extension.set_extension_number(v1::kMethodNotServedFieldNumber);
  }),
           &pool);
  EXPECT_NE(pool.FindExtensionByName("frostline.v1.method_not_served"),
            nullptr);
}

// grpcurl prints an error's cause and fix only when it finds their type.
TEST_F(ReflectionTest, DescribesTheDetailsOfErrorsByTheirNamesOnTheWire) {
  Modern asker(channel_);
  for (const std::string url :
       {proto::kErrorInfoUrl, proto::kBadRequestUrl, proto::kRetryInfoUrl}) {
    const std::string name = url.substr(url.find('/') + 1);
    pb::DescriptorPool pool;
    AddFiles(asker.Ask([&](auto* request) {
      request->set_file_containing_symbol(name);
    }),
             &pool);
    EXPECT_NE(pool.FindMessageTypeByName(name), nullptr) << name;
  }
}

TEST_F(ReflectionTest, SaysWhatThereIsNotAndGoesOn) {
  Modern asker(channel_);
  const auto fills = std::vector<void (*)(v1r::ServerReflectionRequest*)>{
      [](auto* request) { request->set_file_by_filename("no.proto"); },
      [](auto* request) { request->set_file_containing_symbol("no.Symbol"); },
      [](auto* request) {
        request->set_all_extension_numbers_of_type("no.Type");
      },
      [](auto* request) {
        request->mutable_file_containing_extension()->set_containing_type(
            "no.Type");
      }};
  for (const auto fill : fills) {
    const auto error = asker.Ask(fill).error_response();
    EXPECT_EQ(error.error_code(), grpc::StatusCode::NOT_FOUND);
    EXPECT_THAT(error.error_message(), HasSubstr("there is no "));
  }
  EXPECT_EQ(asker.Ask([](auto*) {}).error_response().error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(asker.End().ok());
}

TEST_F(ReflectionTest, AStreamLeftOpenEndsWithTheServer) {
  Modern asker(channel_);
  asker.Ask([](auto* request) { request->set_list_services(""); });
  coordinator_->Drain();
  server_->Shutdown(std::chrono::milliseconds(10));
  EXPECT_FALSE(asker.End().ok());
}

}  // namespace
}  // namespace frostline::server
