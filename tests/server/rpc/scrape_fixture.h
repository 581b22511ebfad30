// SPDX-License-Identifier: Apache-2.0
//
// File: scrape_fixture.h
//
// A whole coordinator with a port for probes and scrapes.
#ifndef FROSTLINE_TESTS_SERVER_RPC_SCRAPE_FIXTURE_H_
#define FROSTLINE_TESTS_SERVER_RPC_SCRAPE_FIXTURE_H_

#include <cstdlib>
#include <string>
#include <thread>

#include "tests/server/rpc/raw_client.h"
#include "tests/server/rpc/raw_socket.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace frostline::server {

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
    std::this_thread::sleep_for(Scribe::kKept);
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

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_RPC_SCRAPE_FIXTURE_H_
