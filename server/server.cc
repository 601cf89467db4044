#include "server/server.h"

#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/codegen/service_type.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status.h"
#include "server/history/history.h"
#include "server/http_server.h"
#include "server/ingest/push_manager.h"
#include "server/ingest/upload_manager.h"
#include "server/jobs/job_manager.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/retention/retention_manager.h"
#include "server/rpc/admin_service.h"
#include "server/rpc/analysis_service.h"
#include "server/rpc/ingest_service.h"
#include "server/rpc/job_service.h"
#include "server/rpc/retention_service.h"
#include "server/rpc/trace_service.h"
#include "server/series/series_manager.h"
#include "server/series/trace_page.h"
#include "storage/open.h"
#include "trace/import/read_kernel_names.h"

namespace chakrad {
namespace {

class RealServer : public ChakradServer {
 public:
  RealServer(Stores stores, const ServerOptions& options, ImportResources resources)
      : options_(options),
        stores_(std::move(stores)),
        uploads_(stores_.uploads.get(), stores_.traces.get(), RealClock(), &metrics_,
                 options.limits, std::move(resources)),
        pushes_(stores_.traces.get(), stores_.uploads.get(), &uploads_.use(), &uploads_.gate(),
                RealClock(), &metrics_, options.limits),
        jobs_(stores_.jobs.get(), stores_.traces.get(), RealClock(), &metrics_, options.workers,
              options.limits),
        retention_(stores_.traces.get(), stores_.settings.get(), RealClock(), &metrics_),
        series_(stores_.traces.get(), stores_.jobs.get(), stores_.series.get(),
                [this] { return jobs_.ended_count(); }, RealClock(), &metrics_,
                {options.metric_keys, options.metric_expiry_seconds}),
        history_(stores_.series.get(), RealClock(), options) {}

  ~RealServer() override {
    if (grpc_ != nullptr && !drained_) {
      options_.limits.drain_seconds = 0;
      Drain();
    }
  }

  absl::Status Start() {
    ASSIGN_OR_RETURN(const int64_t swept, stores_.traces->SweepOrphans());
    ASSIGN_OR_RETURN(const int64_t damaged_uploads, stores_.uploads->Recover());
    if (damaged_uploads > 0) {
      Log(LogLevel::kError, "uploads_damaged", {{"count", absl::StrCat(damaged_uploads)}});
    }
    RETURN_IF_ERROR(uploads_.Start());
    RETURN_IF_ERROR(jobs_.Start());
    retention_.Start(std::chrono::seconds(options_.retention_period_seconds));
    series_.Start();
    history_.Start();
    ASSIGN_OR_RETURN(http_, StartHttpServer(options_.http_listen, Pages()));
    RETURN_IF_ERROR(StartGrpc());
    Log(LogLevel::kInfo, "serving",
        {{"grpc_port", absl::StrCat(grpc_port_)},
         {"http_port", absl::StrCat(http_->port())},
         {"data_dir", options_.data_dir.empty() ? "-" : options_.data_dir},
         {"workers", absl::StrCat(options_.workers)},
         {"orphan_chunks_swept", absl::StrCat(swept)}});
    return absl::OkStatus();
  }

  int grpc_port() const override { return grpc_port_; }
  int http_port() const override { return http_->port(); }

  void Drain() override {
    drained_ = true;
    healthy_ = false;
    Log(LogLevel::kInfo, "draining", {{"seconds", absl::StrCat(options_.limits.drain_seconds)}});
    grpc_->GetHealthCheckService()->SetServingStatus(false);
    retention_.Stop();
    uploads_.StartDraining();
    pushes_.StartDraining();
    series_.StartStopping();
    jobs_.Drain(std::chrono::seconds(options_.limits.drain_seconds));
    series_.Stop();
    history_.Stop();
    // Watchers have ended by now; a stuck upload stream is cut.
    grpc_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
    grpc_->Wait();
    Log(LogLevel::kInfo, "stopped", {});
  }

 private:
  std::map<std::string, HttpHandler> Pages() {
    std::map<std::string, HttpHandler> pages;
    pages["/metrics"] = [this](const HttpRequest&) {
      const absl::StatusOr<int64_t> bytes = stores_.traces->TotalBytes();
      if (bytes.ok()) metrics_.SetStoreBytes(*bytes);
      metrics_.SetStoreHealth(stores_.probe->Check());
      metrics_.SetEngine(stores_.probe->Engine());
      series_.Publish();
      return HttpResponse{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                          .body = absl::StrCat(metrics_.Text(), history_.MetricsText()),
                          .stream = [this](const auto& write) { series_.WriteText(write); }};
    };
    pages["/trace"] = [this](const HttpRequest& request) {
      return TracePage(request, stores_.series.get(), stores_.traces.get());
    };
    pages["/healthz"] = [this](const HttpRequest&) {
      if (!healthy_) return HttpResponse{.status = 503, .body = "draining\n"};
      // Reads go on, so that a full disk is no reason to restart or shun it.
      const StoreHealth store = stores_.probe->Check();
      return HttpResponse{
          .body = store.writable ? "ok\n"
                                 : absl::StrCat("ok\nuploads are refused: ", store.error, "\n")};
    };
    return pages;
  }

  absl::Status StartGrpc() {
    // What matters of gRPC's own complaints comes back as a status.
    gpr_set_log_function([](gpr_log_func_args* args) {
      Log(LogLevel::kDebug, "grpc", {{"message", args->message}});
    });
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    services_.push_back(NewIngestService(&uploads_, &pushes_, &metrics_));
    services_.push_back(NewTraceService(stores_.traces.get(), &metrics_));
    services_.push_back(NewJobService(&jobs_, stores_.jobs.get(), &metrics_));
    services_.push_back(NewAnalysisService(stores_.traces.get(), stores_.jobs.get(),
                                           stores_.series.get(), &metrics_));
    services_.push_back(NewRetentionService(&retention_, &metrics_));
    services_.push_back(NewAdminService(&stores_, &uploads_, RealClock(), &metrics_));
    grpc::ServerBuilder builder;
    // A second daemon on the port must fail, not share it.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    // docs/operating.md tells clients the matching settings.
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.SetMaxReceiveMessageSize(kMaxRequestBytes);
    builder.AddListeningPort(options_.listen, grpc::InsecureServerCredentials(), &grpc_port_);
    for (const auto& service : services_) builder.RegisterService(service.get());
    grpc_ = builder.BuildAndStart();
    if (grpc_ == nullptr || grpc_port_ == 0) {
      grpc_ = nullptr;
      return absl::UnavailableError(
          absl::StrCat("listen: cannot listen on ", options_.listen,
                       ": the port is taken, or the address is "
                       "not one of this machine; choose another, or port 0 for a free one"));
    }
    return absl::OkStatus();
  }

  ServerOptions options_;
  Metrics metrics_;
  Stores stores_;
  UploadManager uploads_;
  PushManager pushes_;
  JobManager jobs_;
  RetentionManager retention_;
  SeriesManager series_;
  History history_;
  std::vector<std::unique_ptr<grpc::Service>> services_;
  std::unique_ptr<grpc::Server> grpc_;
  int grpc_port_ = 0;
  std::atomic<bool> healthy_{true};
  bool drained_ = false;
  std::unique_ptr<HttpServer> http_;  // Stops first: its pages use the others.
};

// What a crashed daemon left half unpacked goes.
absl::StatusOr<std::string> EmptyScratchFolder(const std::string& data_dir) {
  const std::filesystem::path folder = std::filesystem::path(data_dir) / "scratch";
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (!error) std::filesystem::create_directory(folder, error);
  if (error) return absl::InternalError(absl::StrCat(folder.string(), ": ", error.message()));
  return folder.string();
}

absl::StatusOr<ImportResources> MakeResources(const ServerOptions& options) {
  ImportResources resources;
  resources.keep_files = options.keep_files;
  if (!options.data_dir.empty()) {
    ASSIGN_OR_RETURN(resources.scratch_folder, EmptyScratchFolder(options.data_dir));
  }
  if (!options.kernel_names_file.empty()) {
    absl::StatusOr<KernelNames> names = ReadKernelNames(options.kernel_names_file);
    if (!names.ok()) return Annotate(names.status(), "--kernel_names");
    resources.kernel_names = std::make_shared<const KernelNames>(*std::move(names));
  }
  return resources;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChakradServer>> StartServer(const ServerOptions& options) {
  StoreOptions store_options;
  store_options.data_dir = options.data_dir;
  store_options.backup_dir = options.backup_dir;
  store_options.reserve_bytes = options.reserve_bytes;
  store_options.notice = [](const std::string& line) {
    Log(LogLevel::kWarning, "store", {{"message", line}});
  };
  ASSIGN_OR_RETURN(Stores stores, OpenRocksStores(store_options));
  return StartServerOn(std::move(stores), options);
}

absl::StatusOr<std::unique_ptr<ChakradServer>> StartServerOn(Stores stores,
                                                             const ServerOptions& options) {
  ASSIGN_OR_RETURN(ImportResources resources, MakeResources(options));
  auto server = std::make_unique<RealServer>(std::move(stores), options, std::move(resources));
  RETURN_IF_ERROR(server->Start());
  return server;
}

}  // namespace chakrad
