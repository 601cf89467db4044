#include "client/upload_view.h"

#include <google/protobuf/util/time_util.h>

#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/quantity.h"
#include "client/table.h"

namespace chakrad::client {
namespace {

using google::protobuf::util::TimeUtil;

std::string StateText(v1::Upload::State state) {
  switch (state) {
    case v1::Upload::OPEN:
      return "open";
    case v1::Upload::SEALED:
      return "sealed";
    case v1::Upload::SEALING:
      return "sealing";
    case v1::Upload::REFUSED:
      return "refused";
    default:
      return "unknown";
  }
}

std::string LabelsText(const v1::Upload& upload) {
  const std::map<std::string, std::string> sorted(upload.labels().begin(), upload.labels().end());
  return absl::StrJoin(sorted, " ", absl::PairFormatter("="));
}

// "3 of 4", "3": of a joint upload how many are complete, of another how many there are.
std::string FilesText(const v1::Upload& upload) {
  if (!upload.has_join()) return absl::StrCat(upload.files_count());
  std::string text = absl::StrCat(upload.complete_files_count());
  if (upload.join().expected_files() > 0) {
    absl::StrAppend(&text, " of ", upload.join().expected_files());
  }
  return text;
}

}  // namespace

Json UploadJson(const v1::Upload& upload) {
  Json json = {{"name", upload.name()},
               {"request_id", upload.request_id()},
               {"state", StateText(upload.state())},
               {"labels", Json::object()},
               {"create_time", TimeUtil::ToString(upload.create_time())},
               {"files_count", upload.files_count()},
               {"complete_files_count", upload.complete_files_count()},
               {"committed_bytes", upload.committed_bytes()}};
  const std::map<std::string, std::string> labels(upload.labels().begin(), upload.labels().end());
  for (const auto& [key, value] : labels) json["labels"][key] = value;
  if (upload.has_expire_time()) json["expire_time"] = TimeUtil::ToString(upload.expire_time());
  if (upload.has_join()) {
    json["join"] = {{"expected_files", upload.join().expected_files()},
                    {"seal_after_seconds", upload.join().seal_after_seconds()}};
  }
  if (!upload.trace().empty()) json["trace"] = upload.trace();
  if (!upload.error().empty()) json["error"] = upload.error();
  if (upload.files().empty()) return json;
  json["files"] = Json::array();
  for (const v1::UploadFile& file : upload.files()) {
    Json entry = {{"file", file.file()},
                  {"committed_bytes", file.committed_bytes()},
                  {"complete", file.complete()}};
    if (!file.sha256().empty()) entry["sha256"] = absl::BytesToHexString(file.sha256());
    json["files"].push_back(std::move(entry));
  }
  return json;
}

std::string UploadText(const v1::Upload& upload) {
  std::string text = absl::StrCat(upload.name(), " (", upload.request_id(),
                                  "): ", StateText(upload.state()), "\n");
  const auto line = [&text](const char* name, const std::string& value) {
    if (!value.empty()) absl::StrAppend(&text, "  ", name, value, "\n");
  };
  line("labels:  ", LabelsText(upload));
  line("created: ", TimeUtil::ToString(upload.create_time()));
  line("trace:   ", upload.trace());
  line("error:   ", upload.error());
  line("files:   ", absl::StrCat(FilesText(upload), upload.has_join() ? " complete, " : ", ",
                                 BytesText(upload.committed_bytes())));
  if (upload.has_expire_time()) {
    const bool open_joint = upload.has_join() && upload.state() == v1::Upload::OPEN;
    line(open_joint ? "sealed at the latest: " : "expires: ",
         TimeUtil::ToString(upload.expire_time()));
  }
  if (upload.files().empty()) return text;
  Table table({{"file", "", Table::Align::kLeft},
               {"committed", "bytes", Table::Align::kRight},
               {"complete", "", Table::Align::kLeft}});
  for (const v1::UploadFile& file : upload.files()) {
    table.AddRow({file.file(), CountText(file.committed_bytes()), file.complete() ? "yes" : "no"});
  }
  absl::StrAppend(&text, table.Text());
  if (upload.files_count() > upload.files_size()) {
    absl::StrAppend(&text, "and ", upload.files_count() - upload.files_size(), " more files\n");
  }
  return text;
}

std::string UploadListText(const std::vector<v1::Upload>& uploads) {
  if (uploads.empty()) return "no uploads in progress\n";
  Table table({{"upload", "", Table::Align::kLeft},
               {"state", "", Table::Align::kLeft},
               {"request id", "", Table::Align::kLeft},
               {"created", "", Table::Align::kLeft},
               {"files", "", Table::Align::kRight},
               {"size", "", Table::Align::kRight},
               {"labels", "", Table::Align::kLeft}});
  for (const v1::Upload& upload : uploads) {
    table.AddRow({upload.name().substr(upload.name().find('/') + 1), StateText(upload.state()),
                  upload.request_id(), TimeUtil::ToString(upload.create_time()), FilesText(upload),
                  BytesText(upload.committed_bytes()), LabelsText(upload)});
  }
  return table.Text();
}

}  // namespace chakrad::client
