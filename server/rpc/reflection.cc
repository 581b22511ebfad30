// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/reflection.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"
#include "server/rpc/call.h"

namespace frostline::server {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;

// Returns the descriptors that the program was linked with. They include the
// details of errors under the names that these have on the wire, since they are
// named here.
const DescriptorPool& Pool() {
  return *google::rpc::ErrorInfo::descriptor()->file()->pool();
}

void SetError(grpc::StatusCode code, const std::string& cause,
              ServerReflectionResponse* response) {
  response->mutable_error_response()->set_error_code(code);
  response->mutable_error_response()->set_error_message(cause);
}

// Adds a file after all that it imports, because a reader's pool refuses it
// before these.
void AddWithImports(const FileDescriptor& file,
                    std::set<const FileDescriptor*>* added,
                    ServerReflectionResponse* response) {
  if (!added->insert(&file).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) {
    AddWithImports(*file.dependency(i), added, response);
  }
  google::protobuf::FileDescriptorProto proto;
  file.CopyTo(&proto);
  response->mutable_file_descriptor_response()->add_file_descriptor_proto(
      proto.SerializeAsString());
}

void SetFile(const FileDescriptor* file, const std::string& asked,
             ServerReflectionResponse* response) {
  if (file == nullptr) {
    return SetError(grpc::StatusCode::NOT_FOUND,
                    absl::StrCat("there is no ", asked,
                                 "; list_services says where to begin"),
                    response);
  }
  std::set<const FileDescriptor*> added;
  AddWithImports(*file, &added, response);
}

void SetExtensionNumbers(const std::string& type,
                         ServerReflectionResponse* response) {
  const auto* message = Pool().FindMessageTypeByName(type);
  if (message == nullptr) return SetFile(nullptr, "type " + type, response);
  std::vector<const google::protobuf::FieldDescriptor*> extensions;
  Pool().FindAllExtensions(message, &extensions);
  auto& numbers = *response->mutable_all_extension_numbers_response();
  numbers.set_base_type_name(type);
  for (const auto* extension : extensions) {
    numbers.add_extension_number(extension->number());
  }
}

void SetExtension(const grpc::reflection::v1::ExtensionRequest& request,
                  ServerReflectionResponse* response) {
  const auto* message = Pool().FindMessageTypeByName(request.containing_type());
  const auto* extension =
      message == nullptr
          ? nullptr
          : Pool().FindExtensionByNumber(message, request.extension_number());
  SetFile(extension == nullptr ? nullptr : extension->file(),
          absl::StrCat("extension ", request.extension_number(), " of ",
                       request.containing_type()),
          response);
}

}  // namespace

ServerReflectionResponse AnswerReflection(
    const ServerReflectionRequest& request,
    const std::vector<std::string>& services) {
  ServerReflectionResponse response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kFileByFilename:
      SetFile(Pool().FindFileByName(request.file_by_filename()),
              "file " + request.file_by_filename(), &response);
      break;
    case ServerReflectionRequest::kFileContainingSymbol:
      SetFile(Pool().FindFileContainingSymbol(request.file_containing_symbol()),
              "symbol " + request.file_containing_symbol(), &response);
      break;
    case ServerReflectionRequest::kFileContainingExtension:
      SetExtension(request.file_containing_extension(), &response);
      break;
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      SetExtensionNumbers(request.all_extension_numbers_of_type(), &response);
      break;
    case ServerReflectionRequest::kListServices:
      for (const std::string& name : services) {
        response.mutable_list_services_response()->add_service()->set_name(
            name);
      }
      break;
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      SetError(grpc::StatusCode::INVALID_ARGUMENT,
               "the request asks for nothing; list_services says what there is",
               &response);
      break;
  }
  return response;
}

namespace {

using grpc::ByteBuffer;
using Services = std::vector<std::string>;

// Names one message of each file, without which the linker would leave the file
// out.
std::vector<const FileDescriptor*> OwnFiles() {
  return {
      ServerReflectionRequest::descriptor()->file(),
      grpc::reflection::v1alpha::ServerReflectionRequest::descriptor()->file()};
}

const FileDescriptor& HealthFile() {
  return *grpc::health::v1::HealthCheckRequest::descriptor()->file();
}

// A stream of questions. One read or one write is under way at a time. The call
// owns itself until gRPC is done with it.
class ReflectionCall final
    : public grpc::ServerBidiReactor<ByteBuffer, ByteBuffer> {
 public:
  ReflectionCall(const Services& services, const absl::Status& admitted)
      : services_(services) {
    if (admitted.ok()) {
      StartRead(&in_);
    } else {
      Finish(ToGrpcStatus(admitted));
    }
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);  // the reader asks no more
    ServerReflectionRequest request;
    absl::Status status = CheckSize(in_);
    if (status.ok()) status = Parse(in_, &request);
    if (status.ok())
      status = Serialize(AnswerReflection(request, services_), &out_);
    if (!status.ok()) return Finish(ToGrpcStatus(status));
    StartWrite(&out_);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);  // the reader is gone
    in_.Clear();
    StartRead(&in_);
  }

  void OnDone() override { delete this; }

 private:
  const Services& services_;  // the service's own, which outlives its calls
  ByteBuffer in_;
  ByteBuffer out_;  // must stay while a write is under way
};

absl::Status Admitted(const grpc::CallbackServerContext& context,
                      const Gate& gate) {
  const Shown shown = ShownBy(context);
  // Tools on the coordinator's own machine need nothing but the address.
  if (shown.is_local) return absl::OkStatus();
  return gate.Identify(shown).status();
}

}  // namespace

ReflectionService::ReflectionService(Services services, const Gate& gate)
    : services_(std::move(services)), gate_(gate) {
  services_.push_back(HealthFile().service(0)->full_name());
  for (const FileDescriptor* file : OwnFiles()) {
    Add(services_.emplace_back(file->service(0)->full_name()));
  }
}

void ReflectionService::Add(const std::string& service) {
  const std::string& path =
      paths_.emplace_back(absl::StrCat("/", service, "/ServerReflectionInfo"));
  AddMethod(new grpc::internal::RpcServiceMethod(
      path.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
  MarkMethodRawCallback(
      static_cast<int>(paths_.size()) - 1,
      new grpc::internal::CallbackBidiHandler<ByteBuffer, ByteBuffer>(
          [this](grpc::CallbackServerContext* context) {
            return new ReflectionCall(services_, Admitted(*context, gate_));
          }));
}

}  // namespace frostline::server
