// SPDX-License-Identifier: Apache-2.0
//
// File: example_study.h
//
// A small study that every test of the server can start from.
#ifndef FROSTLINE_TESTS_SERVER_EXAMPLE_STUDY_H_
#define FROSTLINE_TESTS_SERVER_EXAMPLE_STUDY_H_

#include <string>

#include "frostline/v1/study_service.pb.h"
#include "server/wire/spec.h"

namespace frostline::server {

// A rate of three levels for each of two layers, accuracy to be maximised.
inline v1::StudySpec ExampleSpec() {
  v1::StudySpec spec;
  spec.mutable_model()->set_id("tiny");
  spec.mutable_model()->set_layers(2);
  spec.set_seed(7);
  v1::Objective* const objective = spec.add_objectives();
  objective->set_metric("accuracy");
  objective->set_direction(v1::DIRECTION_MAXIMIZE);
  v1::ModuleSpace* const layers = spec.mutable_space()->add_modules();
  layers->set_select("layer.*");
  for (const double rate : {0.0, 1e-5, 1e-4}) {
    layers->mutable_levels()->add_rates(rate);
  }
  spec.mutable_sampler()->set_name("random");
  return spec;
}

inline LeaseRules ExampleLease() {
  return {.ttl = std::chrono::seconds(60),
          .heartbeat_interval = std::chrono::seconds(15),
          .retry = {}};
}

inline v1::CreateStudyRequest ExampleStudy(const std::string& id,
                                           std::int64_t budget) {
  static int requests = 0;
  v1::CreateStudyRequest request;
  request.set_request_id("create-study-request-" + std::to_string(++requests));
  request.set_study_id(id);
  *request.mutable_spec() = ExampleSpec();
  request.mutable_settings()->mutable_budget()->set_trials(budget);
  return request;
}

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_EXAMPLE_STUDY_H_
