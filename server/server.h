// The whole daemon in one object: stores, managers, services, pages. The binary
// is a thin main around it, and tests run it in process.
#ifndef CHAKRAD_SERVER_SERVER_H_
#define CHAKRAD_SERVER_SERVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "server/options.h"

namespace chakrad {

struct Stores;  // storage/open.h

class ChakradServer {
 public:
  virtual ~ChakradServer() = default;  // Drains without grace, unless drained.

  virtual int grpc_port() const = 0;  // The chosen one where port 0 was asked.
  virtual int http_port() const = 0;

  // No new work; health says NOT_SERVING; running jobs get
  // limits.drain_seconds to finish and are put back as pending then; streams
  // end. Returns when all calls have ended. Call once.
  virtual void Drain() = 0;
};

// Opens the store in options.data_dir, takes up unfinished jobs, listens.
// Errors are one line for the operator: what, where, and what to do.
absl::StatusOr<std::unique_ptr<ChakradServer>> StartServer(const ServerOptions& options);

// The same over stores that are open already.
absl::StatusOr<std::unique_ptr<ChakradServer>> StartServerOn(Stores stores,
                                                             const ServerOptions& options);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_SERVER_H_
