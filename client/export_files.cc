#include "client/export_files.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/quantity.h"
#include "client/session.h"
#include "common/status.h"
#include "trace/writers/graphviz.h"

namespace chakrad::client {
namespace {

namespace fs = std::filesystem;

}  // namespace

void AddExportOptions(CLI::App* command, const char* default_folder, ExportArgs* args) {
  command
      ->add_option("--format", args->format,
                   "et: Chakra protobuf; json: the same as JSON; chrome: timelines for Perfetto; "
                   "dot, graphml: the graph; svg, pdf: its picture, by graphviz")
      ->type_name("FORM")
      ->check(CLI::IsMember({"et", "json", "chrome", "dot", "graphml", "svg", "pdf"}))
      ->capture_default_str();
  command
      ->add_option("-o", args->folder,
                   absl::StrCat("Folder to write to, or - for standard output (default: ",
                                default_folder, ")"))
      ->type_name("FOLDER");
  const auto graph = [command](CLI::Option* option) { option->group("Graphs"); };
  graph(command->add_flag("--full", args->graph.full,
                          "All nodes; otherwise compute, memory and communication that take time"));
  graph(command
            ->add_option("--around", args->graph.around_id,
                         "Only nodes near the one of this id; see --depth")
            ->type_name("ID"));
  graph(command->add_option("--depth", args->graph.depth, "How many edges away from --around")
            ->type_name("N")
            ->check(CLI::PositiveNumber)
            ->capture_default_str());
  graph(command
            ->add_option("--from-ns", args->graph.from_ns,
                         "Only nodes that run after this, nanoseconds from the rank's base")
            ->type_name("NS"));
  graph(command
            ->add_option("--to-ns", args->graph.to_ns,
                         "Only nodes that run before this, nanoseconds from the rank's base")
            ->type_name("NS"));
  graph(command->add_option("--layout-seconds", args->layout_seconds, "Time for each picture")
            ->type_name("N")
            ->check(CLI::PositiveNumber)
            ->capture_default_str());
}

absl::StatusOr<ExportPlan> PlanExport(ExportArgs* args) {
  ExportPlan plan;
  if (args->format == "svg" || args->format == "pdf") {
    plan.picture = args->format;
    plan.format = ExportFormat::kDot;
    args->graph.max_nodes = kMaxLayoutNodes;
    if (args->folder == "-") {
      return UsageError(
          absl::StrCat("-o -: a picture goes into a folder; write --format dot to "
                       "standard output and pipe it into dot -T",
                       args->format));
    }
    return plan;
  }
  const std::optional<ExportFormat> format = ExportFormatFromName(args->format);
  if (!format.has_value()) return UsageError(absl::StrCat("--format: ", args->format));
  plan.format = *format;
  return plan;
}

absl::Status ExportFiles::Add(absl::string_view file, absl::string_view bytes) {
  if (output_ == nullptr || file != file_) RETURN_IF_ERROR(Begin(std::string(file)));
  output_->stream() << bytes;
  written_.back().bytes += static_cast<int64_t>(bytes.size());
  return absl::OkStatus();
}

absl::Status ExportFiles::Begin(const std::string& file) {
  RETURN_IF_ERROR(Finish());
  // A server's word must not lead out of the folder.
  if (file.empty() || fs::path(file).filename() != file || file == "." || file == "..") {
    return absl::InternalError(absl::StrCat("the server names a file \"", file, "\""));
  }
  if (folder_ == "-" && !written_.empty()) {
    return UsageError(
        "-o -: takes one rank only; choose it (--rank of traces export, --only-rank of convert)");
  }
  if (folder_ != "-") {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) return absl::InternalError(absl::StrCat(folder_, ": ", error.message()));
  }
  const std::string path = folder_ == "-" ? folder_ : (fs::path(folder_) / file).string();
  ASSIGN_OR_RETURN(output_, OutputFile::Open(path, standard_output_));
  written_.push_back({path, 0});
  file_ = file;
  return absl::OkStatus();
}

absl::Status ExportFiles::Finish() {
  if (output_ != nullptr) RETURN_IF_ERROR(output_->Commit());
  output_.reset();
  return absl::OkStatus();
}

absl::Status ExportFiles::LayOut(const std::string& picture, int timeout_seconds) {
  for (Written& file : written_) {
    const std::string path = fs::path(file.path).replace_extension(picture).string();
    LayoutOptions options;
    options.timeout_seconds = timeout_seconds;
    RETURN_IF_ERROR(LayOutDot(file.path, picture, path, options));
    std::error_code error;
    fs::remove(file.path, error);
    const uintmax_t bytes = fs::file_size(path, error);
    if (error) return absl::InternalError(absl::StrCat(path, ": ", error.message()));
    file = {path, static_cast<int64_t>(bytes)};
  }
  return absl::OkStatus();
}

void ExportFiles::Print(const std::string& name, Session* session) const {
  // The trace itself may go to standard output.
  std::ostream& out = folder_ == "-" ? session->err() : session->out();
  if (session->json()) {
    Json json = {{"name", name}, {"files", Json::array()}};
    for (const Written& file : written_) {
      json["files"].push_back({{"path", file.path}, {"bytes", file.bytes}});
    }
    out << JsonText(json, 2) << "\n";
    return;
  }
  for (const Written& file : written_) {
    out << "wrote " << file.path << ", " << BytesText(file.bytes) << "\n";
  }
}

}  // namespace chakrad::client
