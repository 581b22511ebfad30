// SPDX-License-Identifier: Apache-2.0
// client HOST:PORT: creates a study, watches it, imports trials, reads its report.
#include <google/protobuf/util/json_util.h>
#include <grpcpp/grpcpp.h>

#include <fstream>
#include <iostream>

#include "frostline/v1/importance_service.grpc.pb.h"
#include "frostline/v1/study_service.grpc.pb.h"

namespace v1 = frostline::v1;
using google::protobuf::util::JsonStringToMessage;

std::string Text(std::ifstream file) { return {std::istreambuf_iterator<char>(file), {}}; }

int main(int, char** argv) {
  grpc::ChannelArguments retries;
  retries.SetServiceConfigJSON(Text(std::ifstream("service_config.json")));
  auto channel = grpc::CreateCustomChannel(argv[1], grpc::InsecureChannelCredentials(), retries);
  auto studies = v1::StudyService::NewStub(channel);
  grpc::ClientContext creates, watches, imports, asks;
  v1::CreateStudyRequest study;
  v1::CreateStudyReply created;
  v1::WatchStudyRequest watch;
  v1::StudyEvent event;
  v1::ImportTrialsRequest trials;
  v1::ImportTrialsReply imported;
  v1::GetReportRequest ask;
  v1::ImportanceReport report;
  if (!JsonStringToMessage(Text(std::ifstream("study.json")), &study).ok()) return 2;
  if (!JsonStringToMessage(Text(std::ifstream("trials.json")), &trials).ok()) return 2;
  grpc::Status status = studies->CreateStudy(&creates, study, &created);
  watch.set_name(created.study().name());
  ask.set_study(created.study().name());
  auto events = studies->WatchStudy(&watches, watch);
  if (status.ok()) status = studies->ImportTrials(&imports, trials, &imported);
  auto missing = imported.count();
  while (missing > 0 && events->Read(&event)) missing -= event.has_trial();
  if (status.ok()) status = v1::ImportanceService::NewStub(channel)->GetReport(&asks, ask, &report);
  for (auto& one : report.parameters())
    std::cout << one.parameter() << " " << one.main().value() << "\n";
  std::cout << (status.ok() ? report.verdict() : status.error_message()) << "\n";
  return status.ok() ? 0 : 1;
}
