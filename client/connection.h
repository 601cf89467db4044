// The way to a chakrad server: one channel, and what its errors mean.
#ifndef CHAKRAD_CLIENT_CONNECTION_H_
#define CHAKRAD_CLIENT_CONNECTION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"

namespace grpc {
class Channel;
class Status;
}  // namespace grpc

namespace chakrad::client {

// The largest answer taken from a server. gRPC's own 4 MiB is too little for a
// job of thousands of ranks or a trace with a long ledger.
inline constexpr int kReceivedMessageBytesMax = 256 << 20;

// A piece of an upload, as the server takes it (ingest.proto).
inline constexpr int kPieceBytesMax = 1 << 20;

// Returns a channel to `address` ("host:port"); connects with the first call.
// A dead peer is noticed within 80 s while a call waits. Thread-safe.
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& address);

// The same code and message.
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace chakrad::client

#endif  // CHAKRAD_CLIENT_CONNECTION_H_
