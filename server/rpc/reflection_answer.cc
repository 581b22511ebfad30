// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/reflection_answer.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/support/status.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"

namespace frostline::server {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;

// What the program was linked with. That includes the details of errors under
// the names that they have on the wire, since they are named here.
const DescriptorPool& Pool() {
  return *google::rpc::ErrorInfo::descriptor()->file()->pool();
}

void SetError(grpc::StatusCode code, const std::string& cause,
              ServerReflectionResponse* response) {
  response->mutable_error_response()->set_error_code(code);
  response->mutable_error_response()->set_error_message(cause);
}

// A pool of the reader's takes a file only when it has what that imports.
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

}  // namespace frostline::server
