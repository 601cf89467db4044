// chakra backup, chakra status.
#include <google/protobuf/util/time_util.h>
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "chakrad/v1/admin.grpc.pb.h"
#include "client/commands.h"
#include "client/quantity.h"
#include "client/session.h"
#include "client/table.h"
#include "client/unary_call.h"
#include "common/status.h"

namespace chakrad::client {
namespace {

using google::protobuf::util::TimeUtil;
using AdminStub = v1::AdminService::Stub;

Json BackupJson(const v1::Backup& backup) {
  return {{"name", backup.name()},
          {"path", backup.path()},
          {"create_time", TimeUtil::ToString(backup.create_time())},
          {"traces_count", backup.traces_count()},
          {"size_bytes", backup.size_bytes()}};
}

absl::Status RunCreate(const std::string& name, Session* session) {
  const auto stub = v1::AdminService::NewStub(session->channel());
  v1::CreateBackupRequest request;
  request.set_name(name);
  CallOptions options = session->call_options();
  options.deadline = std::nullopt;  // Across file systems it copies.
  ASSIGN_OR_RETURN(const v1::Backup backup,
                   UnaryCall(stub.get(), &AdminStub::CreateBackup, request, options));
  if (session->json()) {
    session->PrintJson(BackupJson(backup));
  } else {
    session->PrintText(absl::StrCat(backup.path(), ": ", CountText(backup.traces_count()),
                                    " traces, ", BytesText(backup.size_bytes()),
                                    "\nTo restore: chakrad --data_dir NEW_FOLDER --restore_from ",
                                    backup.path(), "\n"));
  }
  return absl::OkStatus();
}

absl::Status RunList(Session* session) {
  const auto stub = v1::AdminService::NewStub(session->channel());
  ASSIGN_OR_RETURN(const v1::ListBackupsResponse answer,
                   UnaryCall(stub.get(), &AdminStub::ListBackups, v1::ListBackupsRequest(),
                             session->call_options()));
  if (session->json()) {
    Json json = {{"backups", Json::array()}};
    for (const v1::Backup& backup : answer.backups()) json["backups"].push_back(BackupJson(backup));
    session->PrintJson(json);
    return absl::OkStatus();
  }
  Table table({{"backup", "", Table::Align::kLeft},
               {"made", "", Table::Align::kLeft},
               {"traces", "", Table::Align::kRight},
               {"size", "", Table::Align::kRight},
               {"path", "", Table::Align::kLeft}});
  for (const v1::Backup& backup : answer.backups()) {
    table.AddRow({backup.name(), TimeUtil::ToString(backup.create_time()),
                  CountText(backup.traces_count()), BytesText(backup.size_bytes()), backup.path()});
  }
  session->PrintText(answer.backups().empty() ? "no backups\n" : table.Text());
  return absl::OkStatus();
}

Json StatusJson(const v1::StoreStatus& status) {
  Json json = {{"traces_count", status.traces_count()},
               {"stored_bytes", status.stored_bytes()},
               {"staged_bytes", status.staged_bytes()},
               {"disk_free_bytes", status.disk_free_bytes()},
               {"reserve_bytes", status.reserve_bytes()},
               {"writable", status.writable()},
               {"error", status.error()},
               {"tenants", Json::object()}};
  for (const auto& [tenant, use] : status.tenants()) {
    json["tenants"][tenant] = {{"traces_count", use.traces_count()},
                               {"stored_bytes", use.stored_bytes()},
                               {"staged_bytes", use.staged_bytes()},
                               {"max_bytes", use.max_bytes()}};
  }
  return json;
}

std::string StatusText(const v1::StoreStatus& status) {
  std::string text = absl::StrCat(
      CountText(status.traces_count()), " traces, ", BytesText(status.stored_bytes()),
      " stored (shared chunks once), ", BytesText(status.staged_bytes()), " of open uploads\n",
      "disk: ", BytesText(status.disk_free_bytes()), " free, ", BytesText(status.reserve_bytes()),
      " kept in reserve\n",
      status.writable() ? "writable\n" : absl::StrCat("NOT writable: ", status.error(), "\n"));
  if (status.tenants().empty()) return text;
  Table table({{"tenant", "", Table::Align::kLeft},
               {"traces", "", Table::Align::kRight},
               {"stored", "", Table::Align::kRight},
               {"staged", "", Table::Align::kRight},
               {"limit", "", Table::Align::kRight}});
  const std::map<std::string, v1::TenantUse> sorted(status.tenants().begin(),
                                                    status.tenants().end());
  for (const auto& [tenant, use] : sorted) {
    table.AddRow({tenant.empty() ? "-" : tenant, CountText(use.traces_count()),
                  BytesText(use.stored_bytes()), BytesText(use.staged_bytes()),
                  use.max_bytes() == 0 ? "-" : BytesText(use.max_bytes())});
  }
  return text + table.Text();
}

absl::Status RunStatus(Session* session) {
  const auto stub = v1::AdminService::NewStub(session->channel());
  ASSIGN_OR_RETURN(const v1::StoreStatus status,
                   UnaryCall(stub.get(), &AdminStub::GetStoreStatus, v1::GetStoreStatusRequest(),
                             session->call_options()));
  if (session->json()) {
    session->PrintJson(StatusJson(status));
  } else {
    session->PrintText(StatusText(status));
  }
  return absl::OkStatus();
}

}  // namespace

void AddAdminCommands(CLI::App* app, Session* session, int* exit_code) {
  CLI::App* backup = app->add_subcommand("backup", "Make and list backups of the store");
  backup->require_subcommand(1);
  CLI::App* create = backup->add_subcommand("create", "Copy all that is stored, as of now");
  const auto name = std::make_shared<std::string>();
  create->add_option("NAME", *name, "Of its folder; without: the time")->type_name("");
  create->callback([=] { *exit_code = session->Report(RunCreate(*name, session)); });
  backup->add_subcommand("ls", "List backups, oldest first")->callback([=] {
    *exit_code = session->Report(RunList(session));
  });
  app->add_subcommand("status", "How full the store is, and whether it takes uploads")
      ->callback([=] { *exit_code = session->Report(RunStatus(session)); });
}

}  // namespace chakrad::client
