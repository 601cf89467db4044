// A few read-only pages over HTTP: /metrics, /healthz, /trace.
#ifndef CHAKRAD_SERVER_HTTP_SERVER_H_
#define CHAKRAD_SERVER_HTTP_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace chakrad {

struct HttpRequest {
  // Parameters behind the '?', decoded, any bytes; of one that stands twice, the first. Those of
  // a longer query than kMaxHttpQueryBytes are not looked at (414).
  std::map<std::string, std::string> query;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  // Of an answer that is not to be held in memory as a whole: what follows `body`. Called once;
  // `write` returns false when the client has gone.
  std::function<void(const std::function<bool(absl::string_view)>& write)> stream;
};

// Called on server threads, several at once.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

inline constexpr size_t kMaxHttpQueryBytes = 8 << 10;

class HttpServer {
 public:
  virtual ~HttpServer() = default;  // Stops; requests in progress end first.
  virtual int port() const = 0;     // The chosen one when port 0 was asked.
};

// Serves GET of the exact paths of `handlers`; everything else is 404.
// UNAVAILABLE: "http_listen: ..." when the address cannot be used.
absl::StatusOr<std::unique_ptr<HttpServer>> StartHttpServer(
    absl::string_view listen, std::map<std::string, HttpHandler> handlers);

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_HTTP_SERVER_H_
