// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/shown_by.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>

namespace frostline::server {
namespace {

std::string FirstOf(const grpc::AuthContext& context, const char* property) {
  const auto values = context.FindPropertyValues(property);
  return values.empty() ? ""
                        : std::string(values[0].data(), values[0].length());
}

}  // namespace

Shown ShownBy(const grpc::ServerContextBase& context) {
  Shown shown;
  const auto& metadata = context.client_metadata();
  const auto authorization = metadata.find("authorization");
  if (authorization != metadata.end()) {
    const auto& text = authorization->second;
    shown.authorization = SecretString(std::string(text.data(), text.length()));
  }
  const auto peer = context.auth_context();
  if (peer == nullptr) return shown;  // nobody
  const std::string transport =
      FirstOf(*peer, GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME);
  // Only loopback and Unix sockets are served in plaintext.
  shown.is_local = transport == "insecure";
  if (!shown.is_local) {
    shown.certificate_pem = FirstOf(*peer, GRPC_X509_PEM_CERT_PROPERTY_NAME);
  }
  return shown;
}

TraceContext TraceOf(const grpc::ServerContextBase& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find(kTraceparent);
  if (found == metadata.end()) return NewTrace();
  const grpc::string_ref& text = found->second;
  TraceContext trace = ParseTraceparent({text.data(), text.length()});
  return trace.empty() ? NewTrace() : trace;
}

}  // namespace frostline::server
