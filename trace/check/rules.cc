#include "trace/check/rules.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace chakrad {
namespace {

constexpr Severity kInfo = Severity::kInfo;
constexpr Severity kWarning = Severity::kWarning;
constexpr Severity kError = Severity::kError;

// What readers and the import write into ledgers.
const Rule kLedgerRules[] = {
    {"unreadable_file", kError, "A file, or the rank it belongs to, could not be read.",
     "Record or convert the file again; the message names the place."},
    {"lost_record", kError, "A record could not be read and is left out.",
     "Record again; with --repair what can be mended is kept."},
    {"missing_dependency", kError, "A data dependency names a node that is not in the file.",
     "Write every node that others depend on, or drop the dependency."},
    {"missing_control_dependency", kWarning,
     "A control dependency or parent names a node that is not in the file.",
     "Write the parent, or let the node depend on an ancestor that is written."},
    {"not_a_number", kWarning, "A file has bare NaN or Infinity; kept as recorded.",
     "Write numbers that JSON has; --lenient keeps these."},
    {"cyclic_control_dependency", kWarning,
     "A control dependency of a Chakra file runs against the other dependencies; dropped.",
     "Write call nesting that agrees with the data dependencies, or none."},
    {"self_control_dependency", kWarning, "A node names itself as its parent; dropped.",
     "Write no control dependency for a root."},
    {"duplicate_node_id", kError, "Two nodes of one file have the same id.",
     "Give every node an id of its own within the rank."},
    {"duplicate_dependency", kWarning, "A node lists the same dependency twice.",
     "List each dependency once."},
    {"attribute_type", kError, "A known attribute has a value of the wrong type.",
     "Write the type that the attribute contract states; any integer kind does for a number."},
    {"attribute_range", kError, "A known attribute has a value outside its range.",
     "Write a value in the range that the message states."},
    {"duplicate_attribute", kWarning, "A node states an attribute twice; the first one counts.",
     "Write each attribute once."},
    {"bad_node", kError, "A node of an execution trace is malformed; left out.",
     "Record again; the message names the place."},
    {"missing_parent", kWarning,
     "A call's parent was never written: the observer stopped while it ran; it goes under its "
     "thread.",
     "Stop the observer between steps."},
    {"time_out_of_range", kWarning, "Starts lie further apart than 90 days; none of them is used.",
     "Write start_time_micros in microseconds of one clock."},
    {"unknown_json_key", kWarning, "A key of a Chakra JSON file is no field; left out.",
     "Spell fields as et_def.proto does; what is not a field goes into attr."},
    {"text_not_utf8", kWarning, "A name holds bytes that are no UTF-8; they became '?'.",
     "Write names in UTF-8."},
    {"comm_type_missing", kWarning,
     "A collective does not state its kind; it was taken from the node's name.",
     "Write the comm_type attribute on every COMM_COLL_NODE."},
    {"unknown_comm_kernel", kWarning,
     "Kernels look like communication and are in no table: they are taken for compute.",
     "Add an entry of kernel_names that says what they are."},
    {"linked_sync_backwards", kWarning,
     "A linked trace's synchronisation names an operation that ends later; dropped.",
     "Link again from the execution trace and the Kineto profile."},
    {"repaired_", kWarning, "Broken JSON was mended, as --repair asked.",
     "Record again with a newer PyTorch; until then check what the message names."},
    {"kineto_not_an_object", kWarning, "An element of traceEvents is no object; left out.",
     "Record again; the file was damaged or edited."},
    {"kineto_no_phase", kWarning, "An event has no ph; left out.",
     "Write ph: \"X\" for an interval."},
    {"kineto_unknown_phase", kWarning, "An event's ph is none that the trace format defines.",
     "Write ph: \"X\" for an interval."},
    {"kineto_unknown_category", kInfo,
     "An interval's category is no kind of operation known here; left out.",
     "None needed, unless it was an operation: then report the category."},
    {"kineto_no_time", kWarning, "An event has no ts; left out.",
     "Record again, or write ts in microseconds."},
    {"kineto_bad_time", kWarning, "An event's ts is no number; left out.",
     "Record again, or write ts in microseconds."},
    {"kineto_negative_time", kWarning, "An event starts before time 0; left out.",
     "Record again with a newer profiler."},
    {"kineto_device_op_at_zero", kWarning,
     "A device operation has ts 0, which the profiler writes when it lost the time; left out.",
     "Record fewer steps at a time, so that the profiler's buffers suffice."},
    {"kineto_no_duration", kWarning, "An interval has no dur; left out.",
     "Record again, or write dur in microseconds."},
    {"kineto_bad_duration", kWarning, "An interval's dur is no number; left out.",
     "Record again, or write dur in microseconds."},
    {"kineto_negative_duration", kWarning,
     "An interval ends before it starts: it was not finished when the profiler stopped; left out.",
     "Stop the profiler after a synchronisation."},
    {"kineto_duration_too_long", kWarning, "An interval takes more than 90 days; left out.",
     "Record again with a newer profiler."},
    {"kineto_end_without_begin", kWarning, "An end event (ph E) has no begin on its thread.",
     "Record again; the file lacks its beginning."},
    {"kineto_begin_without_end", kWarning, "A begin event (ph B) has no end on its thread.",
     "Stop the profiler after a synchronisation."},
    {"kineto_time_outlier", kWarning,
     "An event lies more than 45 days from the middle of the recording; left out.",
     "Record again with a newer profiler."},
    {"flexflow_label", kError, "A task's label is none that FlexFlow writes; the task is left out.",
     "Export the graph again; the message shows the label."},
    {"flexflow_self_transfer", kWarning,
     "A device sends to itself: taken for a computation of the same duration.",
     "None needed, unless the devices' numbers are wrong."},
    {"flexflow_cross_device_edge", kWarning,
     "An edge joins tasks of two devices without a transfer: taken for a message of 0 bytes.",
     "Export the graph with its transfers."},
    {"flexflow_no_devices", kWarning,
     "The graph tells no devices: it is one rank, and transfers keep their simulated time.",
     "Export the labelled form, which has devices and bytes."},
    {"astra_text_extra_layer", kWarning, "More layers follow than line 2 states; left out.",
     "Correct the number of layers in line 2."},
    {"astra_text_extra_column", kWarning, "A line has columns without a meaning; not read.",
     "Remove the columns, or correct the parallelism in line 1."},
    {"astra_text_unknown_collective", kError,
     "A layer's communication is none that the format defines; nothing is sent.",
     "Write NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL."},
    {"astra_text_unused_collective", kWarning,
     "A layer states communication that its parallelism never issues.",
     "Write NONE there, or correct the parallelism."},
};

// What holds within one rank.
const Rule kRankRules[] = {
    {"empty_rank", kWarning, "A rank has no nodes.", "Record the rank again."},
    {"dependency_cycle", kError, "Nodes wait for each other in a ring.",
     "Remove the false dependency from the ring that the message prints."},
    {"deep_nesting", kInfo, "Calls are nested more than 1,000 deep.",
     "None needed here; tools that recurse need a bigger stack or limit."},
    {"unknown_node_type", kError, "A node has no type, or one that Chakra does not define.",
     "Set the node's type; METADATA_NODE for what does no work."},
    {"negative_time", kError, "A node has a negative start, duration, work or gap.",
     "Leave unknown times out instead of writing negative ones."},
    {"stream_overlap", kWarning, "Two operations of one device stream overlap in time.",
     "Keep the device's own times, and give each stream its own number."},
    {"thread_overlap", kInfo,
     "Two operations of one host thread overlap and neither holds the other.",
     "Give asynchronous work a thread number of its own."},
    {"unordered_stream", kWarning,
     "Operations of one device stream do not wait for the one before.",
     "Keep stream order as dependencies when converting; our linker adds it."},
    {"starts_before_dependency", kWarning, "A node starts before what it waits for allows.",
     "Drop the false dependency, or keep the recorded times of both."},
    {"unknown_duration", kInfo,
     "Compute nodes have neither a duration nor a size: a simulation charges them 0.",
     "Record a Kineto profile beside the execution trace."},
    {"memory_without_duration", kWarning,
     "A memory node has no duration; remote memory is not modelled, so no simulation can run it.",
     "Record the copy's duration."},
    {"no_work", kWarning, "No node of the trace takes time or moves bytes: a simulation answers 0.",
     "Write durations, num_ops and tensor_size, or comm_size."},
    {"comm_without_attributes", kError, "A communication node has none of its attributes.",
     "Write comm_type, comm_size and the peer or group."},
    {"negative_size", kError, "A node's bytes or operations are negative.",
     "Write sizes as unsigned numbers."},
    {"zero_size", kWarning,
     "Communication of 0 bytes, other than a barrier, in a group of several.",
     "Write comm_size, in bytes."},
    {"peer_missing", kError, "A send or receive does not name the other side.",
     "Write comm_dst on sends and comm_src on receives."},
    {"peer_is_self", kError, "A send or receive names its own rank as the other side.",
     "Write the other side's global rank."},
    {"peer_out_of_world", kError, "A send's or receive's other side is no rank of the world.",
     "Write the global rank, in [0, world size)."},
    {"peer_not_in_group", kError,
     "A send's or receive's other side is no member of the group that the operation names.",
     "Write the global rank of the peer, not its rank within the group."},
    {"root_not_in_group", kError, "A collective's root is no member of its group.",
     "Write the global rank of the root, not its rank within the group."},
    {"unknown_group", kWarning, "A communication's group has no known members.",
     "List the group's ranks in the manifest, or record the process group table."},
    {"rank_not_in_group", kError, "A rank communicates in a group that does not hold it.",
     "Correct the group's members, or the group that the operation names."},
    {"isolated_comm", kWarning,
     "A communication node waits for nothing and nothing waits for it: it may run at time 0.",
     "Keep the dependencies on its launch and its consumers when converting."},
    {"device_op_without_launch", kWarning,
     "A recorded device operation depends on no host operation.",
     "Record the host's runtime calls, with correlation ids."},
    {"unnamed_node", kInfo, "Nodes have no name.", "Name every node; reports show names."},
};

// What holds for the groups and among ranks.
const Rule kTraceRules[] = {
    {"missing_ranks", kWarning, "Ranks of the world have no trace.",
     "Add the missing ranks' files, or let equal copies stand in (replicate)."},
    {"rank_out_of_world", kError, "A rank's number is not below the world size.",
     "Correct the world size or the rank."},
    {"group_member_out_of_world", kError, "A process group holds a rank that the world does not.",
     "Correct the group's ranks or the world size."},
    {"group_member_twice", kError, "A process group lists a rank twice.", "List each rank once."},
    {"duplicate_group", kInfo, "Two process groups have the same members.",
     "None needed; one group would do unless the job has two communicators."},
    {"one_rank_group", kInfo, "A process group has one rank: its communication moves nothing.",
     "State the world size and the group's members, if there are more."},
    {"collective_count_mismatch", kError, "A member of a group runs more or fewer collectives.",
     "Record the same steps on all ranks; look at the first difference."},
    {"collective_order_mismatch", kError,
     "A member of a group runs the same collectives in another order.",
     "Issue a group's collectives in one order on all ranks."},
    {"collective_type_mismatch", kError, "A member runs another kind of collective at this place.",
     "Look at the first difference: the ranks' programs part there."},
    {"collective_size_mismatch", kError, "A member states another size for the same collective.",
     "Compare the tensors' shapes on both ranks."},
    {"collective_root_mismatch", kError, "Members of a collective name different roots.",
     "Write the root as a global rank on all members."},
    {"collective_dtype_mismatch", kError, "Members of a collective use different element types.",
     "Cast to one type before the call."},
    {"split_mismatch", kError, "In an all-to-all a rank sends another count than its peer expects.",
     "Exchange the split sizes before the call; the message names the pair."},
    {"gather_size_mismatch", kError,
     "Elements in times group size is not elements out of an all-gather (or the reverse of a "
     "reduce-scatter).",
     "Record in and out element counts of one and the same call."},
    {"unmatched_send", kError, "A send has no receive on the other side.",
     "Add the receive, or correct peer, tag or group."},
    {"unmatched_receive", kError, "A receive has no send on the other side.",
     "Add the send, or correct peer, tag or group."},
    {"message_size_mismatch", kError, "A send and its receive state different sizes.",
     "Make both sides agree on the bytes."},
    {"message_tag_mismatch", kError, "A send and a receive would match but for tag or group.",
     "Use the same tag and group on both sides."},
    {"cross_rank_deadlock", kError, "Ranks wait for each other in a ring: no run can finish.",
     "Break the ring that the message prints: let one side send first."},
    {"clock_skew", kInfo,
     "A rank starts collectives after another has ended them: their clocks differ.",
     "Synchronise the hosts' clocks; compare times within a rank only."},
};

}  // namespace

absl::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "unknown";
}

const std::vector<Rule>& AllRules() {
  static const std::vector<Rule>* const rules = [] {
    auto* all = new std::vector<Rule>(std::begin(kLedgerRules), std::end(kLedgerRules));
    all->insert(all->end(), std::begin(kRankRules), std::end(kRankRules));
    all->insert(all->end(), std::begin(kTraceRules), std::end(kTraceRules));
    return all;
  }();
  return *rules;
}

const Rule* FindRule(absl::string_view id) {
  static const std::vector<const Rule*>* const by_id = [] {
    auto* sorted = new std::vector<const Rule*>();
    for (const Rule& rule : AllRules()) sorted->push_back(&rule);
    std::sort(sorted->begin(), sorted->end(),
              [](const Rule* a, const Rule* b) { return a->id < b->id; });
    return sorted;
  }();
  if (absl::StartsWith(id, "repaired_")) id = "repaired_";
  const auto it = std::lower_bound(by_id->begin(), by_id->end(), id,
                                   [](const Rule* a, absl::string_view b) { return a->id < b; });
  return it != by_id->end() && (*it)->id == id ? *it : nullptr;
}

}  // namespace chakrad
