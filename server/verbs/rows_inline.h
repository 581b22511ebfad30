// SPDX-License-Identifier: Apache-2.0
//
// File: rows_inline.h
#ifndef FROSTLINE_SERVER_VERBS_ROWS_INLINE_H_
#define FROSTLINE_SERVER_VERBS_ROWS_INLINE_H_

#include "server/verbs/calls.h"

namespace frostline::server {

// Returns its parent, the study it names, or that of its name.
template <typename Request>
std::string StudyNamedBy(const Request& request) {
  if constexpr (requires { request.parent(); }) {
    return request.parent();
  } else if constexpr (requires { request.study(); }) {
    return request.study();
  } else {
    return request.name().substr(0, request.name().find("/trials/"));
  }
}

template <typename V, typename Request, typename Answer>
void Calls::Add(VerbTable& table, const std::string& name, CallerRole role,
                V* object,
                absl::StatusOr<Answer> (V::*body)(Change&, const Request&)) {
  table.unary.emplace(
      absl::StrCat("frostline.v1.", name),
      MakeUnaryVerb<Request, Answer>(
          role, [this, object, body](CallContext caller, Request request,
                                     Reply<Answer> reply) {
            Act<Answer>(
                std::move(caller), std::move(reply),
                [object, body, request = std::move(request)](Change& change) {
                  return (object->*body)(change, request);
                });
          }));
}

template <typename V, typename Request, typename Answer>
void Calls::AddOnce(VerbTable& table, const std::string& name, CallerRole role,
                    V* object,
                    absl::StatusOr<Answer> (V::*body)(Change&,
                                                      const Request&)) {
  const std::string method = name.substr(name.find('.') + 1);
  table.unary.emplace(
      absl::StrCat("frostline.v1.", name),
      MakeUnaryVerb<Request, Answer>(
          role, [this, method, object, body](
                    CallContext caller, Request request, Reply<Answer> reply) {
            ActOnce<Answer>(
                std::move(caller), method, std::move(request), std::move(reply),
                [object, body](Change& change, const Request& asked) {
                  return (object->*body)(change, asked);
                },
                [](const Request&) { return absl::OkStatus(); });
          }));
}

template <typename V, typename Request, typename Answer>
void Calls::Add(VerbTable& table, const std::string& name, CallerRole role,
                const V* object,
                absl::StatusOr<Answer> (V::*body)(const StudyHandle&,
                                                  const Request&) const) {
  const auto run = [this, object, body](CallContext caller, Request request,
                                        Reply<Answer> reply) {
    std::vector<std::string> study = {StudyNamedBy(request)};
    Read(std::move(caller), std::move(study), std::move(reply),
         [object, body, request = std::move(request)](
             const std::vector<StudyHandle>& handles, Reply<Answer> answer) {
           answer((object->*body)(handles[0], request));
         });
  };
  table.unary.emplace(absl::StrCat("frostline.v1.", name),
                      MakeUnaryVerb<Request, Answer>(role, run));
}

template <typename V, typename Request, typename Answer>
void Calls::Add(VerbTable& table, const std::string& name, CallerRole role,
                V* object,
                void (V::*body)(CallContext, Request, Reply<Answer>)) {
  table.unary.emplace(
      absl::StrCat("frostline.v1.", name),
      MakeUnaryVerb<Request, Answer>(
          role, [object, body](CallContext caller, Request request,
                               Reply<Answer> reply) {
            (object->*body)(std::move(caller), std::move(request),
                            std::move(reply));
          }));
}

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_ROWS_INLINE_H_
