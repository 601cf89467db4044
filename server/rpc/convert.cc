#include "server/rpc/convert.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/utf8.h"
#include "server/limits.h"
#include "server/rpc/convert_card.h"
#include "trace/api/trace_to_proto.h"

namespace chakrad {
namespace {

void SetTimestamp(int64_t unix_ns, google::protobuf::Timestamp* timestamp) {
  timestamp->set_seconds(unix_ns / 1'000'000'000);
  timestamp->set_nanos(static_cast<int32_t>(unix_ns % 1'000'000'000));
}

// Halves `list` until `message` fits; returns how many entries went.
template <typename List, typename Message>
int CutUntilItFits(List* list, const Message& message) {
  const int before = list->size();
  while (list->size() > 0 && message.ByteSizeLong() > kMaxAnswerBytes) {
    list->DeleteSubrange(list->size() / 2, list->size() - list->size() / 2);
  }
  return before - list->size();
}

// A list of an answer that may be shortened.
struct CuttableList {
  const char* name = "";
  size_t bytes = 0;
  int cut_count = 0;
  std::function<void(CuttableList*)> halve;
};

template <typename List>
size_t BytesOf(const List& list) {
  size_t bytes = 0;
  for (const auto& entry : list) bytes += entry.ByteSizeLong();
  return bytes;
}

template <typename List>
void AddCuttable(const char* name, List* list, std::vector<CuttableList>* lists) {
  lists->push_back({name, BytesOf(*list), 0, [list](CuttableList* self) {
                      const int cut = list->size() - list->size() / 2;
                      list->DeleteSubrange(list->size() / 2, cut);
                      self->cut_count += cut;
                      self->bytes = BytesOf(*list);
                    }});
}

v1::Job::State ToState(JobRecord::State state) {
  switch (state) {
    case JobRecord::State::kPending:
      return v1::Job::PENDING;
    case JobRecord::State::kRunning:
      return v1::Job::RUNNING;
    case JobRecord::State::kSucceeded:
      return v1::Job::SUCCEEDED;
    case JobRecord::State::kFailed:
      return v1::Job::FAILED;
    case JobRecord::State::kCancelled:
      return v1::Job::CANCELLED;
  }
  return v1::Job::STATE_UNSPECIFIED;
}

}  // namespace

void ToSummaryProto(const TraceInfo& info, v1::Trace* trace) {
  trace->set_name(absl::StrCat("traces/", info.id));
  for (const auto& [key, value] : info.labels) (*trace->mutable_labels())[key] = value;
  SetTimestamp(info.create_unix_ns, trace->mutable_create_time());
  trace->set_world_size(info.world_size);
  trace->set_stored_bytes(info.stored_bytes);
  trace->set_ranks_count(static_cast<int64_t>(info.ranks.size()));
  int64_t nodes_count = 0;
  for (const RankSummary& summary : info.ranks) nodes_count += summary.nodes_count;
  trace->set_nodes_count(nodes_count);
  ToSummaryProto(info.check, trace->mutable_check());
}

void ToProto(const TraceInfo& info, v1::Trace* trace) {
  ToSummaryProto(info, trace);
  ToProto(info.ranks, info.groups, info.ledgers, info.notices, info.check, trace);
  AddDetails(info, trace);
}

void FitIntoAnswer(v1::Trace* trace) {
  if (trace->ByteSizeLong() <= kMaxAnswerBytes) return;
  // Listed entries first: their counts by rule stay.
  for (v1::FileLedger& file : *trace->mutable_files()) {
    file.clear_rejections();
    file.clear_flaws();
  }
  const int findings = CutUntilItFits(trace->mutable_check()->mutable_findings(), *trace);
  const int files = CutUntilItFits(trace->mutable_files(), *trace);
  const int groups = CutUntilItFits(trace->mutable_process_groups(), *trace);
  const int raw_files = CutUntilItFits(trace->mutable_raw_files(), *trace);
  const int ranks = CutUntilItFits(trace->mutable_ranks(), *trace);
  const int notices = CutUntilItFits(trace->mutable_notices(), *trace);
  trace->add_notices(absl::StrCat("this answer leaves out, for its size: listed rejections, ",
                                  findings, " findings, ", files, " files, ", groups,
                                  " process groups, ", raw_files, " kept files, ", ranks,
                                  " ranks, ", notices, " notices"));
}

void FitIntoAnswer(v1::Job* job) {
  if (job->ByteSizeLong() <= kMaxAnswerBytes) return;
  v1::SimulationResult* result = job->mutable_result();
  std::vector<CuttableList> lists;
  AddCuttable("steps of the critical path", result->mutable_critical_path(), &lists);
  AddCuttable("links", result->mutable_links(), &lists);
  AddCuttable("memory", result->mutable_memory(), &lists);
  AddCuttable("collectives", result->mutable_collectives(), &lists);
  AddCuttable("classes", result->mutable_classes(), &lists);
  AddCuttable("ranks", result->mutable_ranks(), &lists);
  while (job->ByteSizeLong() > kMaxAnswerBytes) {
    CuttableList* longest = &lists[0];
    for (CuttableList& list : lists) {
      if (list.bytes > longest->bytes) longest = &list;
    }
    if (longest->bytes == 0) break;
    longest->halve(longest);
  }
  std::vector<std::string> cuts;
  for (const CuttableList& list : lists) {
    if (list.cut_count > 0) cuts.push_back(absl::StrCat(list.cut_count, " ", list.name));
  }
  const int notices = CutUntilItFits(result->mutable_notices(), *job);
  if (notices > 0) cuts.push_back(absl::StrCat(notices, " notices"));
  result->add_notices(
      absl::StrCat("this answer leaves out, for its size, the last ", absl::StrJoin(cuts, ", ")));
}

void ToProto(const JobView& view, v1::Job* job) {
  const JobRecord& record = view.record;
  job->set_name(absl::StrCat("jobs/", record.id));
  job->set_state(ToState(record.state));
  if (!job->mutable_spec()->ParseFromString(record.spec) || record.spec.empty()) {
    job->mutable_spec()->Clear();
    job->mutable_spec()->set_trace(absl::StrCat("traces/", record.trace_id));
  }
  SetTimestamp(record.create_unix_ns, job->mutable_create_time());
  if (record.start_unix_ns != 0) SetTimestamp(record.start_unix_ns, job->mutable_start_time());
  if (record.end_unix_ns != 0) SetTimestamp(record.end_unix_ns, job->mutable_end_time());
  job->mutable_progress()->set_nodes_done(view.progress.nodes_done);
  job->mutable_progress()->set_nodes_count(view.progress.nodes_count);
  job->mutable_progress()->set_simulated_ps(view.progress.now_ps);
  job->mutable_progress()->set_events_count(view.progress.events_count);
  job->set_error(ValidUtf8(record.error, kMaxErrorBytes));
  if (!record.result.empty() && !job->mutable_result()->ParseFromString(record.result)) {
    job->clear_result();
  }
  if (job->has_result()) {  // Progress itself is not stored: a finished job has done all.
    job->mutable_progress()->set_nodes_done(job->result().nodes_count());
    job->mutable_progress()->set_nodes_count(job->result().nodes_count());
    job->mutable_progress()->set_simulated_ps(job->result().end_ps());
    job->mutable_progress()->set_events_count(job->result().events_count());
  }
}

}  // namespace chakrad
