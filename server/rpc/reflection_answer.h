// SPDX-License-Identifier: Apache-2.0
//
// File: reflection_answer.h
#ifndef FROSTLINE_SERVER_RPC_REFLECTION_ANSWER_H_
#define FROSTLINE_SERVER_RPC_REFLECTION_ANSWER_H_

#include <string>
#include <vector>

#include "grpc/reflection/v1/reflection.pb.h"

namespace frostline::server {

// Answers one question from what the program was linked with: a file comes
// after all that it imports, as a reader's own pool needs it. `services` is the
// list to give. What there is not is an error within the response. Any thread
// may call.
grpc::reflection::v1::ServerReflectionResponse AnswerReflection(
    const grpc::reflection::v1::ServerReflectionRequest& request,
    const std::vector<std::string>& services);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_REFLECTION_ANSWER_H_
