// Every bound of the daemon: number, unit, reason. Those that a site may want to
// change are fields of ServerLimits and flags; the others are constants.
#ifndef CHAKRAD_SERVER_LIMITS_H_
#define CHAKRAD_SERVER_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace chakrad {

struct ServerLimits {
  // Bytes of all files of one upload: a full disk must come from many uploads,
  // not from one mistake.
  int64_t upload_bytes = int64_t{64} << 30;
  // Files of one upload: ranks of the largest jobs, twice (ET and Kineto).
  int64_t upload_files = 262'144;
  // Open uploads at once: each holds disk space.
  int64_t open_uploads = 1'000;
  // Bytes of one tenant (label `tenant`), stored traces and uploads together, and
  // of all; 0: none. Stored ones count compressed, before sharing.
  int64_t tenant_bytes = 0;
  int64_t store_bytes = 0;
  // Jobs that wait for a worker. Beyond it CreateJob answers
  // RESOURCE_EXHAUSTED at once rather than promise work it cannot do soon.
  int64_t pending_jobs = 1'000;
  // Seconds that a drain gives running jobs before they are put back.
  int64_t drain_seconds = 20;
  // Traces that are converted at once: each holds its columns in memory.
  int64_t concurrent_seals = 2;
};

// A piece of a stream, either way. Far below gRPC's default 4 MiB message limit,
// large enough that the cost a message does not count.
inline constexpr size_t kPieceBytes = size_t{1} << 20;
// Of ReadNodes. Nodes of one answer: some 400 kB with names of 40 bytes (longer ones
// make answers shorter); nodes that are read from the store at once: what one
// chunk holds; of a name, whatever a recorder wrote, so much is shown.
inline constexpr int kNodesPerAnswer = 4'096;
inline constexpr uint64_t kNodesReadAtOnce = 65'536;
inline constexpr size_t kMaxNodeNameBytes = 64 << 10;
// The largest request that is read: a piece and its framing.
inline constexpr int kMaxRequestBytes = 2 << 20;
// --- Traces that clients encoded (PushTrace) ---
// Streams at once: each holds its trace's columns in memory.
inline constexpr size_t kMaxPushStreams = 64;
// Threads of a stream that decode: a stream alone then uses two cores.
inline constexpr int kPushDecodersCount = 2;
// Chunks of a stream that are stored and wait in memory to be decoded.
inline constexpr int64_t kPushCacheBytes = int64_t{32} << 20;
// One rank's index: 70,000 chunks, some 70 GB of trace.
inline constexpr size_t kMaxRankIndexBytes = size_t{4} << 20;
// Chunks that all ranks of a trace list: 100 bytes of memory each.
inline constexpr int64_t kMaxPushChunks = 4'000'000;
// World, groups, ledgers and notices: they become the manifest.
inline constexpr size_t kMaxPushHeaderBytes = size_t{64} << 20;
inline constexpr int kMaxPushHeaderEntries = 1'000'000;
// A trace once decoded: it is in memory as a whole while it is checked.
inline constexpr int64_t kMaxPushRawBytes = int64_t{16} << 30;
// What a broken stream left is kept so long, and of so many streams: their chunks
// take disk. Collectors come back within seconds; the oldest goes first.
inline constexpr int64_t kParkedPushSeconds = 600;
inline constexpr size_t kMaxParkedPushes = 64;
inline constexpr int64_t kDropParkedSeconds = 30;
// Streams in a row that broke, whose chunks are kept for the next.
inline constexpr size_t kMaxParkedDrafts = 8;
// Request ids and labels: an index and a log line carry them. (The length of a
// file's name is the store's limit: kMaxFileNameBytes.)
inline constexpr size_t kMaxRequestIdChars = 128;
inline constexpr size_t kMaxLabels = 64;
inline constexpr size_t kMaxLabelKeyBytes = 64;
inline constexpr size_t kMaxLabelValueBytes = 1'024;
inline constexpr int kDefaultPageSize = 50;
inline constexpr int kMaxPageSize = 1'000;
// A network or system description; real ones have a few kilobytes.
inline constexpr size_t kMaxSystemBytes = 1 << 20;
// The text of retention policies, and how many: a fleet has a few.
inline constexpr size_t kMaxPoliciesBytes = 64 << 10;
inline constexpr size_t kMaxPolicies = 100;
inline constexpr size_t kMaxPolicyNameBytes = 64;
inline constexpr size_t kMaxGroupByLabels = 8;
// Age at which an upload that was never sealed goes, and a refused one after its
// refusal: a collector that has not come back for a week will begin anew.
inline constexpr int64_t kAbandonedUploadSeconds = 7 * 24 * 3600;
// After its creation a joint upload is sealed with what is complete, unless it
// says otherwise: hosts of one job end within minutes of each other.
inline constexpr int64_t kSealAfterSeconds = 3600;
// A joint upload whose seal failed for want of space or the like is tried again
// after so long, then twice as long, up to the second number.
inline constexpr int64_t kSealRetrySeconds = 30;
inline constexpr int64_t kSealRetrySecondsMax = 600;
// How often uploads are looked at that may be due; a look costs microseconds.
inline constexpr int64_t kHousekeepingMs = 500;
// How often records of sealed uploads are looked through for traces that are gone.
inline constexpr int64_t kRecordSweepSeconds = 3600;
// Names in the notice of a joint upload that lacked files.
inline constexpr size_t kMaxNamesInNotice = 20;
// Intervals of a timeline that are stored and sent together: about 16 KiB, and
// room for as many new names of 4 KiB each.
inline constexpr size_t kTimelineChunkIntervals = 1'024;
// Intervals of one kept timeline, all ranks: some 16 bytes each on disk, 1 GiB.
inline constexpr int64_t kMaxJobIntervals = int64_t{1} << 26;
// Custom algorithms of one job: a trace is loaded for each.
inline constexpr size_t kMaxCustomAlgorithms = 64;
// Of a stored result. Ranks that are listed one by one: what a person scrolls through. Beyond
// it equal ones share an entry, of which there are so many (80 bytes each, and what names the
// ranks: 10 bytes a range); then links (40 bytes each) and steps of the critical path (30 bytes).
inline constexpr size_t kRanksListedEach = 1'024;
inline constexpr int kMaxRankEntries = 65'536;
inline constexpr int64_t kMaxRankRanges = 100'000;
inline constexpr size_t kMaxLinksListed = 10'000;
inline constexpr size_t kMaxCriticalStepsListed = 10'000;
// Of a result: memory of ranks (30 bytes each), ranks that others stood in for (8 bytes each).
inline constexpr int kMaxMemoryPeaksListed = 10'000;
inline constexpr size_t kMaxStandInsListed = 10'000;
// Of one trace's damage in an answer of VerifyTraces: what a person reads.
inline constexpr size_t kMaxVerifyErrors = 100;
inline constexpr size_t kMaxVerifyErrorBytes = 1'000;
// Tenants in an answer, by name.
inline constexpr int kMaxTenantsListed = 10'000;
// Backups in an answer; the newest.
inline constexpr size_t kMaxBackupsListed = 1'000;
// Nodes (or intervals of a timeline) that one analysis holds: some 100 bytes each.
inline constexpr int64_t kMaxAnalysisNodes = 50'000'000;
// Entries of a list in an analysis: what a person looks through; at most what fits an answer.
inline constexpr int32_t kDefaultAnalysisTop = 20;
inline constexpr int32_t kMaxAnalysisTop = 10'000;
// Of a critical path in an answer: names (templates make them long) are cut, steps (some 60 bytes
// and a name each) fit with everything else below 3 MiB.
inline constexpr size_t kMaxPathNameBytes = 500;
inline constexpr size_t kMaxPathSharesListed = 1'000;
inline constexpr size_t kMaxPathStepsBytes = size_t{2} << 20;
// Of a diff in an answer: each of three lists, whose names are whole up to kMaxNodeNameBytes; and
// what counts as a change unless told otherwise: runs of one job differ by about as much.
inline constexpr size_t kMaxDiffListBytes = size_t{768} << 10;
inline constexpr double kDefaultRelativeChange = 0.05;
// Of one notice in an answer: it may name groups.
inline constexpr size_t kMaxNoticeBytes = 1'000;
// --- Series ---
// Nodes of a trace that is turned into series in the background: 100 bytes of memory each.
inline constexpr int64_t kMaxSeriesNodes = 20'000'000;
// Traces, and time, that share a synced write: many small ones cost a sync together, and one
// shows on dashboards soon.
inline constexpr int64_t kSeriesBatchRecords = 256;
inline constexpr int64_t kSeriesBatchNs = 200'000'000;
// How often the thread looks for new traces and ended jobs: a look costs nothing without news.
inline constexpr int64_t kSeriesPollMs = 500;
// The longest pause after an error of the store.
inline constexpr int64_t kSeriesRetryMsMax = 60'000;
// Times that a source cannot be read, over two minutes, before it is passed over; and processes
// that may end in one trace. A trace of so many nodes is marked (two synced writes, next to 50 ms
// and more of analysis) so that the latter is known.
inline constexpr int kSeriesReadTries = 8;
inline constexpr int kSeriesCrashesMax = 2;
inline constexpr int64_t kSeriesMarkedNodes = 200'000;
// How much the thread stands back when all cores are busy.
inline constexpr int kSeriesThreadNice = 10;
// Jobs created longer ago are all stored, whatever threads and the clock did.
inline constexpr int64_t kJobsSettledNs = int64_t{3600} * 1'000'000'000;
// Simulations of one key that /metrics shows: a sweep takes no more of --metric_keys.
inline constexpr size_t kMaxVariantsShown = 20;
// A simulation's variant: a label of its series.
inline constexpr size_t kMaxVariantBytes = 64;
// Analyses that run at once, and that wait, so long, for one to end: each holds its timeline.
inline constexpr int kConcurrentAnalyses = 2;
inline constexpr int kWaitingAnalyses = 8;
inline constexpr int64_t kAnalysisWaitMs = 30'000;
// Of one list in an analysis: eight such lists make an answer of at most 3 MiB.
inline constexpr size_t kMaxAnalysisListBytes = size_t{380} << 10;
// Of a name in an analysis: mangled kernels have some hundred bytes.
inline constexpr size_t kMaxAnalysisNameBytes = 512;
// Of a job's error in an answer.
inline constexpr size_t kMaxErrorBytes = 64 << 10;
// Progress events a job and second, at most: a watcher is a person or a bar.
inline constexpr int kProgressPeriodMs = 100;
// --- Remote write ---
// Samples of a request, and stored bytes of their records: what a receiver takes within a
// fraction of a second; Prometheus takes 32 MiB. A request is about as large in memory.
inline constexpr int64_t kRemoteWriteBatchSamples = 10'000;
inline constexpr int64_t kRemoteWriteBatchBytes = int64_t{2} << 20;
// Pauses after a failure: a restart of a receiver takes seconds, an outage hours.
inline constexpr int64_t kRemoteWriteMinPauseMs = 500;
inline constexpr int64_t kRemoteWriteMaxPauseMs = 60'000;
// However long a receiver asks us to wait.
inline constexpr int64_t kRemoteWriteMaxRetryAfterMs = 600'000;
// Below Prometheus's five minutes after which a series counts as gone.
inline constexpr int64_t kRemoteWriteHeartbeatMs = 60'000;
// A receiver's clock and ours, by its Date: beyond what clocks and a slow answer explain.
inline constexpr int64_t kRemoteWriteMaxSkewMs = 3'600'000;
// How long records that seem to come from the future wait for the clock: a time service, or a
// person who reads an alert, has set it by then.
inline constexpr int64_t kRemoteWriteMaxDoubtMs = 86'400'000;
// Receivers: each has a thread and a batch in memory.
inline constexpr size_t kMaxRemoteWriteReceivers = 16;
// --- Export of series ---
// Samples that an export holds at once, with their series some 50 to 100 bytes each; fewer
// means that the store is read more often. And exports at once.
inline constexpr int64_t kExportSamplesAtOnce = 2'000'000;
inline constexpr int kMaxSeriesExports = 2;

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_LIMITS_H_
