// What generic tools ask a gRPC server: its health, and its services.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/e2e/test_server.h"

namespace chakrad {
namespace {

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string ToString(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

// Sends one serialised message to `method` and returns the first answer's bytes.
std::string Ask(TestServer* server, const std::string& method, const std::string& request) {
  grpc::GenericStub stub(server->channel());
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  const auto call = stub.PrepareCall(&context, method, &queue);
  void* tag = nullptr;
  bool ok = false;
  const auto next = [&] { return queue.Next(&tag, &ok) && ok; };
  call->StartCall(nullptr);
  EXPECT_TRUE(next());
  call->Write(ToBuffer(request), nullptr);
  EXPECT_TRUE(next());
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  EXPECT_TRUE(next());
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  next();
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return ToString(answer);
}

TEST(DiscoveryTest, TheHealthServiceSaysServing) {
  TestServer server;
  // HealthCheckResponse{status = 1 (SERVING)}.
  EXPECT_EQ(Ask(&server, "/grpc.health.v1.Health/Check", ""), std::string("\x08\x01"));
}

TEST(DiscoveryTest, ReflectionListsTheServices) {
  TestServer server;
  // ServerReflectionRequest{list_services = ""}: field 7, length 0.
  const std::string answer =
      Ask(&server, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
          std::string("\x3a\x00", 2));
  for (const char* service :
       {"chakrad.v1.IngestService", "chakrad.v1.TraceService", "chakrad.v1.JobService"}) {
    EXPECT_NE(answer.find(service), std::string::npos) << service;
  }
}

}  // namespace
}  // namespace chakrad
