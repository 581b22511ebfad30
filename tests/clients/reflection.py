#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reflection.py HOST:PORT: as grpcurl does, without a stub and with nothing but
gRPC's own packages: finds every method by reflection, and calls one."""
import sys

import grpc
from google.protobuf import descriptor_pool, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase)

OURS = {f"frostline.v1.{name}Service"
        for name in ("Study", "Worker", "Importance", "Admin")}

with grpc.insecure_channel(sys.argv[1]) as channel:
    database = ProtoReflectionDescriptorDatabase(channel)
    pool = descriptor_pool.DescriptorPool(database)
    services = {name: pool.FindServiceByName(name)
                for name in database.get_services()}
    assert OURS < services.keys(), services.keys()
    methods = [method for service in services.values()
               for method in service.methods]
    assert all(method.input_type.full_name for method in methods)
    print(f"{len(methods)} methods of {len(services)} services")

    info = pool.FindMethodByName("frostline.v1.AdminService.GetInfo")
    call = channel.unary_unary(
        "/frostline.v1.AdminService/GetInfo",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=message_factory.GetMessageClass(
            info.output_type).FromString)
    reply = call(message_factory.GetMessageClass(info.input_type)())
    assert reply.version and reply.limits.request_bytes > 0, reply
