// SPDX-License-Identifier: Apache-2.0
#include "proto/served.h"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/served.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FileDescriptor;
using ::testing::HasSubstr;

TEST(CheckServed, PassesWhatUsesNothingUnserved) {
  v1::CreateStudyRequest request;
  request.set_study_id("a");
  request.mutable_spec()->mutable_data()->set_id("imdb");
  request.mutable_spec()->add_enqueue()->set_seed(3);
  EXPECT_OK(CheckServed(request));
}

TEST(CheckServed, PassesAFieldThatSaysWhatSilenceSays) {
  v1::EnqueueTrialsRequest request;
  request.add_trials()->set_baseline(false);
  EXPECT_OK(CheckServed(request));
}

TEST(CheckServed, NamesTheFieldAndWhatWillServeIt) {
  v1::CreateStudyRequest request;
  request.mutable_spec()->add_enqueue()->set_baseline(true);
  const absl::Status status = CheckServed(request);
  EXPECT_THAT(status,
              FailsAt(ErrorId::kMethodNotBuilt, "spec.enqueue[0].baseline"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("comes with baselines"));
}

TEST(CheckServed, LooksIntoListsAndMaps) {
  v1::EnqueueTrialsRequest enqueue;
  enqueue.add_trials()->set_seed(1);
  enqueue.add_trials()->set_baseline(true);
  EXPECT_THAT(CheckServed(enqueue),
              FailsAt(ErrorId::kMethodNotBuilt, "trials[1].baseline"));
  v1::ImportTrialsRequest import;
  (*import.add_trials()->mutable_rates())["head"] = 1e-3;
  EXPECT_THAT(CheckServed(import),
              FailsAt(ErrorId::kMethodNotBuilt, "trials[0].rates"));
}

TEST(CheckServed, PassesNotifications) {
  v1::UpdateStudyRequest request;
  request.mutable_settings()->add_notify("mail");
  EXPECT_OK(CheckServed(request));
}

TEST(MethodNotServed, SaysWhatWillServeIt) {
  google::protobuf::FileDescriptorProto file;
  file.set_name("oracle.proto");
  file.add_dependency("frostline/v1/served.proto");
  file.add_message_type()->set_name("Nothing");
  auto& service = *file.add_service();
  service.set_name("Oracle");
  auto& method = *service.add_method();
  method.set_name("Ask");
  method.set_input_type("Nothing");
  method.set_output_type("Nothing");
  method.mutable_options()->SetExtension(v1::method_not_served, "wisdom");
  google::protobuf::DescriptorPool pool(
      google::protobuf::DescriptorPool::generated_pool());
  const auto* const built = pool.BuildFile(file);
  ASSERT_NE(built, nullptr);
  const absl::Status status = MethodNotServed(*built->service(0)->method(0));
  EXPECT_THAT(status, FailsWith(ErrorId::kMethodNotBuilt));
  EXPECT_EQ(std::string(status.message()),
            "Oracle.Ask is not served by this coordinator; it comes with "
            "wisdom");
}

// --- the page that lists them ---

std::string Row(const std::string& part, const std::string& comes_with) {
  return absl::StrCat("| `", part, "` | ", comes_with, " |");
}

void AddRows(const Descriptor& type, std::set<std::string>& rows) {
  for (int i = 0; i < type.field_count(); ++i) {
    const std::string& mark =
        type.field(i)->options().GetExtension(v1::not_served);
    if (mark.empty()) continue;
    rows.insert(
        Row(absl::StrCat(type.name(), ".", type.field(i)->name()), mark));
  }
}

void AddRows(const FileDescriptor& file, std::set<std::string>& rows) {
  for (int i = 0; i < file.message_type_count(); ++i) {
    AddRows(*file.message_type(i), rows);
  }
  for (int i = 0; i < file.service_count(); ++i) {
    const auto& service = *file.service(i);
    for (int k = 0; k < service.method_count(); ++k) {
      const auto& method = *service.method(k);
      const std::string& mark =
          method.options().GetExtension(v1::method_not_served);
      if (mark.empty()) continue;
      rows.insert(Row(absl::StrCat(service.name(), ".", method.name()), mark));
    }
  }
}

TEST(ContractPage, ListsEveryPartThatIsNotServed) {
  std::set<std::string> marked;
  for (const FileDescriptor* file :
       {v1::Study::descriptor()->file(), v1::Trial::descriptor()->file(),
        v1::Worker::descriptor()->file(),
        v1::GetStudyRequest::descriptor()->file(),
        v1::AcquireRequest::descriptor()->file(),
        v1::GetReportRequest::descriptor()->file(),
        v1::GetInfoRequest::descriptor()->file()}) {
    AddRows(*file, marked);
  }
  std::stringstream page;
  page << std::ifstream(std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
                        "/docs/reference/contract.md")
              .rdbuf();
  std::set<std::string> listed;
  const std::vector<std::string> parts =
      absl::StrSplit(page.str(), "## What is to come\n");
  ASSERT_EQ(parts.size(), 2u);
  for (const auto line : absl::StrSplit(parts[1], '\n')) {
    if (absl::StartsWith(line, "| `")) listed.insert(std::string(line));
  }
  EXPECT_EQ(listed, marked);
}

}  // namespace
}  // namespace frostline::proto
