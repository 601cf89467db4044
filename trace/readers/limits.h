// Bounds on what an input file may ask of the readers, with unit and reason.
// One that is exceeded is INVALID_ARGUMENT with the limit in the message.
#ifndef CHAKRAD_TRACE_READERS_LIMITS_H_
#define CHAKRAD_TRACE_READERS_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace chakrad {

// Bytes read from a file at once: large enough to hide the call's cost.
inline constexpr int64_t kReadBytes = 256 << 10;
// Bytes of complete JSON elements read together, which stay in the cache while they are. Their
// tokens take up to 8 bytes of memory a byte of window.
inline constexpr int64_t kJsonWindowBytes = 256 << 10;
// Bytes of one JSON element or small top-level value. The largest seen is an
// optimiser step over some ten thousand tensors, a few MiB.
inline constexpr int64_t kMaxJsonElementBytes = 16 << 20;
// Levels of nesting in an element. Recorders write about six; simdjson stops at 1,024.
inline constexpr int kMaxJsonDepth = 512;
// Bytes of a name: templated kernel names reach some ten thousand.
inline constexpr int64_t kMaxNameBytes = 1 << 20;
// Attributes of one node; recorders write about twenty. Doubled ones are looked
// for by comparing each with each.
inline constexpr size_t kMaxNodeAttributes = 1024;
// Nodes or events of one rank's file. 64 Mi events are over 20 GB of JSON.
inline constexpr int64_t kMaxRecords = int64_t{64} << 20;
// Members of a process group: more than any machine built. Also bounds what a
// group_size without a list of ranks can make the reader allocate.
inline constexpr int64_t kMaxGroupRanks = 1 << 20;
// Process groups in one file's table.
inline constexpr int64_t kMaxGroups = 1 << 20;
// Members listed by all groups of one file together: 16 Mi ranks are 64 MiB, and
// 160 groups of 100,000.
inline constexpr int64_t kMaxGroupRanksInAll = int64_t{16} << 20;
// Bytes of one protobuf message of a Chakra file; an ASTRA-sim text workload
// is kept whole in the first one.
inline constexpr int64_t kMaxChakraMessageBytes = 64 << 20;
// Bytes of a manifest.
inline constexpr int64_t kMaxManifestBytes = 16 << 20;
// Members of an archive, folders and links included: two files for each of 64 Ki ranks.
inline constexpr int64_t kMaxArchiveMembers = 128 << 10;
// Bytes that an archive's members have together when unpacked: more than the
// largest set of traces seen (200 GB), less than the disks it would fill.
inline constexpr int64_t kMaxArchiveBytes = int64_t{512} << 30;
// Unpacked bytes a byte of archive. Traces reach 50; deflate, which zip bombs are
// made of, 1,032. Archives that unpack to less than kFreeArchiveBytes are let pass.
inline constexpr int64_t kMaxArchiveRatio = 500;
inline constexpr int64_t kFreeArchiveBytes = 64 << 20;
// Bytes of a member's name: PATH_MAX.
inline constexpr size_t kMaxArchiveNameBytes = 4096;
// Nanoseconds that a recording may span, 90 days: times are kept in picoseconds
// later, and an int64_t of those ends after 106 days.
inline constexpr int64_t kMaxRecordingNs = int64_t{90} * 24 * 3600 * 1'000'000'000;
// Ranks that one file may describe (task graphs, text workloads): each takes about
// a kilobyte before its first node.
inline constexpr int32_t kMaxRanksOfFile = 1 << 16;
// Bytes of a text workload: some 150,000 layers.
inline constexpr int64_t kMaxTextWorkloadBytes = 16 << 20;
// Nodes of all ranks together that a text workload is written out to: about a gigabyte.
inline constexpr int64_t kMaxTextWorkloadNodes = int64_t{16} << 20;
// Missing dependencies that an error lists one by one.
inline constexpr int kListedMissing = 10;

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_READERS_LIMITS_H_
