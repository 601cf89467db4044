#include "server/rpc/admin_service.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/admin.grpc.pb.h"
#include "common/status.h"
#include "common/utf8.h"
#include "server/limits.h"
#include "server/log.h"
#include "server/rpc/serve.h"

namespace chakrad {
namespace {

void ToProto(const BackupInfo& info, v1::Backup* backup) {
  backup->set_name(info.name);
  backup->set_path(ValidUtf8(info.path, kMaxLabelValueBytes));
  backup->mutable_create_time()->set_seconds(info.create_unix_ns / 1'000'000'000);
  backup->mutable_create_time()->set_nanos(
      static_cast<int32_t>(info.create_unix_ns % 1'000'000'000));
  backup->set_traces_count(info.traces_count);
  backup->set_size_bytes(info.size_bytes);
}

absl::Status CreateBackup(Stores* stores, Clock* clock, const v1::CreateBackupRequest& request,
                          v1::Backup* response) {
  ASSIGN_OR_RETURN(const BackupInfo info,
                   stores->backups->Create(request.name(), clock->NowUnixNs()));
  Log(LogLevel::kInfo, "backup_made",
      {{"name", info.name},
       {"traces", absl::StrCat(info.traces_count)},
       {"bytes", absl::StrCat(info.size_bytes)}});
  ToProto(info, response);
  return absl::OkStatus();
}

absl::Status ListBackups(Stores* stores, v1::ListBackupsResponse* response) {
  ASSIGN_OR_RETURN(const std::vector<BackupInfo> backups, stores->backups->List());
  // The newest ones, where there are very many.
  const size_t begin = backups.size() > kMaxBackupsListed ? backups.size() - kMaxBackupsListed : 0;
  for (size_t i = begin; i < backups.size(); ++i) ToProto(backups[i], response->add_backups());
  return absl::OkStatus();
}

absl::Status GetStoreStatus(Stores* stores, UploadManager* uploads, v1::StoreStatus* response) {
  const std::shared_ptr<const TraceCards> cards = stores->traces->Cards();
  response->set_traces_count(static_cast<int64_t>(cards->size()));
  ASSIGN_OR_RETURN(const int64_t stored_bytes, stores->traces->TotalBytes());
  response->set_stored_bytes(stored_bytes);
  const StoreHealth health = stores->probe->Check();
  response->set_writable(health.writable);
  response->set_error(ValidUtf8(health.error, kMaxErrorBytes));
  response->set_disk_free_bytes(health.disk_free_bytes);
  response->set_reserve_bytes(health.reserve_bytes);
  for (const auto& [tenant, used] : uploads->UseByTenant()) {
    v1::TenantUse& use = (*response->mutable_tenants())[ValidUtf8(tenant, kMaxLabelValueBytes)];
    use.set_traces_count(use.traces_count() + used.traces_count);
    use.set_stored_bytes(use.stored_bytes() + used.stored_bytes);
    use.set_staged_bytes(use.staged_bytes() + used.staged_bytes);
    use.set_max_bytes(uploads->max_tenant_bytes());
    if (response->tenants_size() == kMaxTenantsListed) break;
  }
  response->set_staged_bytes(uploads->use().StagedBytes());
  return absl::OkStatus();
}

class AdminService : public v1::AdminService::Service {
 public:
  AdminService(Stores* stores, UploadManager* uploads, Clock* clock, Metrics* metrics)
      : stores_(stores), uploads_(uploads), clock_(clock), metrics_(metrics) {}

  grpc::Status CreateBackup(grpc::ServerContext*, const v1::CreateBackupRequest* request,
                            v1::Backup* response) override {
    return Serve(metrics_, "CreateBackup",
                 [&] { return chakrad::CreateBackup(stores_, clock_, *request, response); });
  }
  grpc::Status ListBackups(grpc::ServerContext*, const v1::ListBackupsRequest*,
                           v1::ListBackupsResponse* response) override {
    return Serve(metrics_, "ListBackups", [&] { return chakrad::ListBackups(stores_, response); });
  }
  grpc::Status GetStoreStatus(grpc::ServerContext*, const v1::GetStoreStatusRequest*,
                              v1::StoreStatus* response) override {
    return Serve(metrics_, "GetStoreStatus",
                 [&] { return chakrad::GetStoreStatus(stores_, uploads_, response); });
  }

 private:
  Stores* const stores_;
  UploadManager* const uploads_;
  Clock* const clock_;
  Metrics* const metrics_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewAdminService(Stores* stores, UploadManager* uploads, Clock* clock,
                                               Metrics* metrics) {
  return std::make_unique<AdminService>(stores, uploads, clock, metrics);
}

}  // namespace chakrad
