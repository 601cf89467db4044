#include "server/http_server.h"

#include <civetweb.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace chakrad {
namespace {

class CivetHttpServer : public HttpServer {
 public:
  explicit CivetHttpServer(std::map<std::string, HttpHandler> handlers)
      : handlers_(std::move(handlers)) {}
  ~CivetHttpServer() override {
    if (context_ == nullptr) return;
    // civetweb looks at its stop flag only every two seconds, or when a
    // connection comes: so connections come until it has looked.
    std::atomic<bool> stopped{false};
    std::thread stopper([this, &stopped] {
      mg_stop(context_);
      stopped = true;
    });
    while (!stopped) {
      Knock();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    stopper.join();
  }

  absl::Status Start(absl::string_view listen) {
    // civetweb has no notion of a host name in a port specification.
    const std::string ports = absl::StrReplaceAll(listen, {{"localhost:", "127.0.0.1:"}});
    const char* options[] = {"listening_ports",
                             ports.c_str(),
                             "num_threads",
                             "4",
                             "request_timeout_ms",
                             "10000",
                             "enable_keep_alive",
                             "no",
                             "enable_directory_listing",
                             "no",
                             nullptr};
    mg_callbacks callbacks = {};
    callbacks.begin_request = &CivetHttpServer::OnRequest;
    callbacks.log_message = [](const mg_connection*, const char*) { return 1; };  // Said by Status.
    context_ = mg_start(&callbacks, this, options);
    mg_server_port port = {};
    if (context_ == nullptr || mg_get_server_ports(context_, 1, &port) < 1) {
      return absl::UnavailableError(
          absl::StrCat("http_listen: cannot listen on ", listen,
                       ": the port is taken, or the address is not "
                       "one of this machine; choose another, or port 0 for a free one"));
    }
    port_ = port.port;
    host_ = ports.substr(0, ports.rfind(':'));
    if (host_ == ports || host_ == "0.0.0.0") host_ = "127.0.0.1";  // A bare port: everywhere.
    return absl::OkStatus();
  }

  int port() const override { return port_; }

 private:
  // Connects to our own port, and leaves.
  void Knock() const {
    char error[100];
    mg_connection* connection = mg_connect_client(host_.c_str(), port_, 0, error, sizeof(error));
    if (connection != nullptr) mg_close_connection(connection);
  }

  HttpResponse Answer(const mg_request_info& request) const {
    const absl::string_view method = request.request_method;
    if (method != "GET" && method != "HEAD") return {.status = 405, .body = "only GET\n"};
    const auto it = handlers_.find(request.local_uri);
    if (it == handlers_.end()) return {.status = 404, .body = "not found\n"};
    HttpRequest parsed;
    const absl::string_view query = request.query_string == nullptr ? "" : request.query_string;
    if (query.size() > kMaxHttpQueryBytes) return {.status = 414, .body = "query too long\n"};
    for (const absl::string_view pair : absl::StrSplit(query, '&', absl::SkipEmpty())) {
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(pair, absl::MaxSplits('=', 1));
      parsed.query.emplace(Decode(parts.first), Decode(parts.second));
    }
    return it->second(parsed);
  }

  // "a+b%20c" -> "a b c"; what is no escape stays.
  static std::string Decode(absl::string_view text) {
    std::string decoded;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '%' && i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
          absl::ascii_isxdigit(text[i + 2])) {
        decoded += absl::HexStringToBytes(text.substr(i + 1, 2));
        i += 2;
      } else {
        decoded += text[i] == '+' ? ' ' : text[i];
      }
    }
    return decoded;
  }

  static int OnRequest(mg_connection* connection) {
    const mg_request_info* request = mg_get_request_info(connection);
    const auto* self = static_cast<const CivetHttpServer*>(request->user_data);
    const HttpResponse response = self->Answer(*request);
    const absl::string_view version =
        request->http_version == nullptr ? "1.0" : request->http_version;
    // An older client knows the end of a stream by the end of the connection.
    const bool chunked = response.stream != nullptr && version == "1.1";
    const std::string length = response.stream == nullptr
                                   ? absl::StrCat("Content-Length: ", response.body.size(), "\r\n")
                               : chunked ? "Transfer-Encoding: chunked\r\n"
                                         : "";
    const std::string head = absl::StrCat(
        "HTTP/1.1 ", response.status, " ", mg_get_response_code_text(connection, response.status),
        "\r\nContent-Type: ", response.content_type, "\r\n", length,
        // Whatever a page shows, it runs and loads nothing.
        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n",
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n");
    mg_write(connection, head.data(), head.size());
    if (absl::string_view(request->request_method) == "HEAD") return response.status;
    if (response.stream == nullptr) {
      mg_write(connection, response.body.data(), response.body.size());
      return response.status;
    }
    const auto write = [&](absl::string_view piece) {
      if (piece.empty()) return true;  // An empty chunk would be the last.
      const auto size = static_cast<unsigned>(piece.size());
      return (chunked ? mg_send_chunk(connection, piece.data(), size)
                      : mg_write(connection, piece.data(), size)) > 0;
    };
    if (write(response.body)) response.stream(write);
    if (chunked) mg_send_chunk(connection, "", 0);
    return response.status;
  }

  const std::map<std::string, HttpHandler> handlers_;
  mg_context* context_ = nullptr;
  int port_ = 0;
  std::string host_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> StartHttpServer(
    absl::string_view listen, std::map<std::string, HttpHandler> handlers) {
  auto server = std::make_unique<CivetHttpServer>(std::move(handlers));
  if (absl::Status status = server->Start(listen); !status.ok()) return status;
  return server;
}

}  // namespace chakrad
