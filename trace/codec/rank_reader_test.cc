#include "trace/codec/rank_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "common/status_matchers.h"
#include "trace/codec/chunk_map.h"
#include "trace/codec/long_rank.h"
#include "trace/codec/rank_check.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

constexpr uint32_t kGroupsCount = 3;

std::unique_ptr<RankReader> OpenReader(RankIndex index, ChunkMap* map,
                                       size_t cache_bytes = kReaderCacheBytes) {
  absl::StatusOr<std::unique_ptr<RankReader>> reader =
      RankReader::Open(std::move(index), map->Source(), {kGroupsCount, cache_bytes});
  EXPECT_THAT(reader, IsOk());
  return std::move(reader).value();
}

RankIndex WithoutSpans(RankIndex index) {
  index.has_spans = false;
  for (ChunkRef& ref : index.hot) ref.span = {};
  for (ChunkRef& ref : index.cold) ref.span = {};
  return index;
}

void ExpectRow(const RankPart& part, uint32_t row, const RankTrace& want, uint32_t node) {
  SCOPED_TRACE(node);
  const RankTrace& got = part.rows;
  EXPECT_EQ(part.position[row], node);
  EXPECT_EQ(got.id[row], want.id[node]);
  EXPECT_EQ(got.type[row], want.type[node]);
  EXPECT_EQ(got.flags[row], want.flags[node]);
  EXPECT_EQ(got.queues[got.queue[row]], want.queues[want.queue[node]]);
  EXPECT_EQ(got.NameOf(row), want.NameOf(node));
  EXPECT_EQ(got.start_ns[row], want.start_ns[node]);
  EXPECT_EQ(got.dur_ns[row], want.dur_ns[node]);
  EXPECT_EQ(got.work_ns[row], want.work_ns[node]);
  ASSERT_EQ(got.side[row] == kNone, want.side[node] == kNone);
  if (got.side[row] != kNone && IsComm(got.type[row])) {
    EXPECT_TRUE(got.comm[got.side[row]] == want.comm[want.side[node]]);
  } else if (got.side[row] != kNone) {
    EXPECT_TRUE(got.work_size[got.side[row]] == want.work_size[want.side[node]]);
  }
  const uint32_t deps_count = want.dep_begin[node + 1] - want.dep_begin[node];
  ASSERT_EQ(got.dep_begin[row + 1] - got.dep_begin[row], deps_count);
  for (uint32_t i = 0; i < deps_count; ++i) {
    EXPECT_EQ(got.dep_node[got.dep_begin[row] + i], want.dep_node[want.dep_begin[node] + i]);
    EXPECT_EQ(got.dep_kind[got.dep_begin[row] + i], want.dep_kind[want.dep_begin[node] + i]);
  }
}

int64_t GapOf(const std::vector<uint32_t>& nodes, const std::vector<int64_t>& gaps, uint32_t node) {
  const auto found = std::lower_bound(nodes.begin(), nodes.end(), node);
  if (found == nodes.end() || *found != node) return INT64_MIN + 1;
  return gaps[found - nodes.begin()];
}

// `part` must be exactly `nodes` of `want`.
void ExpectPart(const RankPart& part, const RankTrace& want, const std::vector<uint32_t>& nodes) {
  ASSERT_EQ(part.position, nodes);
  ASSERT_THAT(CheckPartColumns(part.rows, kGroupsCount, want.size()), IsOk());
  for (uint32_t row = 0; row < nodes.size(); ++row) {
    ExpectRow(part, row, want, nodes[row]);
    EXPECT_EQ(GapOf(part.rows.gap_node, part.rows.gap_ns, row),
              GapOf(want.gap_node, want.gap_ns, nodes[row]));
  }
}

std::vector<uint32_t> NodesOf(const RankTrace& rank, const NodeRange& range) {
  std::vector<uint32_t> nodes;
  for (uint64_t node = range.first; node < rank.size() && node - range.first < range.count;
       ++node) {
    const int64_t start_ns = rank.start_ns[node];
    if (range.from_ns.has_value() || range.to_ns.has_value()) {
      // In 128 bits: ends may lie beyond 64.
      const __int128 end_ns = __int128{start_ns} + std::max<int64_t>(rank.dur_ns[node], 0);
      if (start_ns == kUnknownNs) continue;
      if (range.to_ns.has_value() && start_ns >= *range.to_ns) continue;
      if (range.from_ns.has_value() && start_ns < *range.from_ns && end_ns <= *range.from_ns) {
        continue;
      }
    }
    nodes.push_back(static_cast<uint32_t>(node));
  }
  return nodes;
}

TEST(RankReaderTest, WindowsOfRandomRanksAreTheirNodesWithAndWithoutSpans) {
  std::mt19937_64 random(1);
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const RankTrace rank = RandomRank(seed, seed * 7 % 300, seed % 2 == 0, kGroupsCount);
    ChunkMap map;
    const RankIndex index = map.Add(rank);
    for (const RankIndex& opened : {index, WithoutSpans(index)}) {
      const auto reader = OpenReader(opened, &map);
      for (int round = 0; round < 6; ++round) {
        NodeRange range{random() % (rank.size() + 1), random() % 100};
        if (round >= 2) range.from_ns = static_cast<int64_t>(random() % 1200) - 100;
        if (round >= 3) range.to_ns = *range.from_ns + 1 + static_cast<int64_t>(random() % 600);
        if (round == 5) range = {0, UINT64_MAX, INT64_MAX, std::nullopt};
        ASSERT_OK_AND_ASSIGN(const RankPart part, reader->Read(range));
        ExpectPart(part, rank, NodesOf(rank, range));
        ASSERT_OK_AND_ASSIGN(const DependencyRun run,
                             reader->ReadDependencies(range.first, range.count));
        EXPECT_EQ(run.first, range.first);
        for (size_t i = 0; i + 1 < run.begin.size(); ++i) {
          const uint32_t begin = rank.dep_begin[range.first + i];
          ASSERT_EQ(run.begin[i + 1] - run.begin[i], rank.dep_begin[range.first + i + 1] - begin);
          EXPECT_TRUE(std::equal(run.dep_node.begin() + run.begin[i],
                                 run.dep_node.begin() + run.begin[i + 1],
                                 rank.dep_node.begin() + begin));
        }
      }
    }
  }
}

TEST(RankReaderTest, AWindowOpensOnlyTheChunksThatHoldIt) {
  // Five windows of nodes, of some 2 edges each; two of strings' runs at least; one
  // chunk each of queues and communication.
  const RankTrace rank = RecordedLikeRank(3, 5 * kWindowRows, /*cold=*/true);
  ChunkMap map;
  const RankIndex index = map.Add(rank);
  ASSERT_GT(index.hot.size(), 15);
  const auto reader = OpenReader(index, &map);
  EXPECT_EQ(map.reads_count(), 0);
  // Nodes in the middle of the second window: its chunk, one of edges (or two, where the
  // window's edges are cut), queues, communication, and runs of strings.
  const NodeRange range{kWindowRows + 100, 600};
  ASSERT_OK_AND_ASSIGN(const RankPart part, reader->Read(range));
  ExpectPart(part, rank, NodesOf(rank, range));
  const auto strings = static_cast<int64_t>(
      std::count_if(index.hot.begin(), index.hot.end(),
                    [](const ChunkRef& ref) { return ref.span.kind == ChunkKind::kStrings; }));
  const int64_t first_reads = map.reads_count();
  EXPECT_LE(first_reads, 1 + 2 + 1 + 1 + strings);
  EXPECT_GE(first_reads, 1 + 1 + 1 + 1 + 1);
  // Again, and beside it: nothing new is read.
  ASSERT_THAT(reader->Read(range), IsOk());
  ASSERT_THAT(reader->Read({kWindowRows + 150, 500}), IsOk());
  EXPECT_EQ(map.reads_count(), first_reads);
}

TEST(RankReaderTest, ATimeWindowOpensOnlyTheNodesThatRunThen) {
  const RankTrace rank = RecordedLikeRank(4, 5 * kWindowRows, /*cold=*/false);
  ChunkMap map;
  const auto reader = OpenReader(map.Add(rank), &map);
  const NodeRange range{0, UINT64_MAX, 0, 1'000'000};
  ASSERT_OK_AND_ASSIGN(const RankPart part, reader->Read(range));
  const std::vector<uint32_t> nodes = NodesOf(rank, range);
  ASSERT_GT(nodes.size(), 100);
  ASSERT_LT(nodes.back(), kWindowRows);
  ExpectPart(part, rank, nodes);
  EXPECT_LE(map.reads_count(), 8);  // One window of nodes of five.
  // Before everything: nothing at all.
  const int64_t reads = map.reads_count();
  ASSERT_OK_AND_ASSIGN(const RankPart none, reader->Read({0, UINT64_MAX, std::nullopt, -5}));
  EXPECT_TRUE(none.position.empty());
  EXPECT_EQ(map.reads_count(), reads);
}

TEST(RankReaderTest, WindowsAcrossChunksAreWhole) {
  const RankTrace rank = RandomRank(7, 2 * kWindowRows + 1234, /*cold=*/false, kGroupsCount);
  ChunkMap map;
  const auto reader = OpenReader(WithoutSpans(map.Add(rank)), &map);
  for (const NodeRange& range : {NodeRange{kWindowRows - 50, 100}, NodeRange{2 * kWindowRows, 2000},
                                 NodeRange{0, UINT64_MAX, 5, 6}}) {
    ASSERT_OK_AND_ASSIGN(const RankPart part, reader->Read(range));
    ExpectPart(part, rank, NodesOf(rank, range));
  }
}

TEST(RankReaderTest, NamesOfMegabytesAreRead) {
  RankTrace rank = RandomRank(9, 50, /*cold=*/false, kGroupsCount);
  rank.name[3] = rank.strings.Append(std::string(3 << 20, 'x') + "end");
  rank.name[4] = rank.strings.Append("after");
  ChunkMap map;
  const RankIndex index = map.Add(rank);
  EXPECT_TRUE(std::any_of(index.hot.begin(), index.hot.end(), [](const ChunkRef& ref) {
    return ref.span.kind == ChunkKind::kStringLengths;
  }));
  for (const RankIndex& opened : {index, WithoutSpans(index)}) {
    ASSERT_OK_AND_ASSIGN(const RankPart part, OpenReader(opened, &map)->Read({0, 50}));
    ExpectPart(part, rank, NodesOf(rank, {0, 50}));
  }
}

TEST(RankReaderTest, ASmallCacheReadsAgainAndAnswersTheSame) {
  const RankTrace rank = RandomRank(8, 3 * kWindowRows, /*cold=*/false, kGroupsCount);
  ChunkMap map;
  const auto reader = OpenReader(map.Add(rank), &map, /*cache_bytes=*/1);
  const NodeRange range{kWindowRows - 5, 10};
  ASSERT_OK_AND_ASSIGN(const RankPart first, reader->Read(range));
  const int64_t reads = map.reads_count();
  ASSERT_OK_AND_ASSIGN(const RankPart second, reader->Read(range));
  EXPECT_GT(map.reads_count(), reads);
  ExpectPart(first, rank, NodesOf(rank, range));
  ExpectPart(second, rank, NodesOf(rank, range));
}

TEST(RankReaderTest, RangesThatAreNoneAreInvalid) {
  const RankTrace rank = RandomRank(10, 60, /*cold=*/false, kGroupsCount);
  ChunkMap map;
  const auto reader = OpenReader(map.Add(rank), &map);
  EXPECT_THAT(reader->Read({61, 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "first_node: 61 is not in [0, 60]"));
  EXPECT_THAT(reader->Read({0, 1, 5, 5}),
              StatusIs(absl::StatusCode::kInvalidArgument, "to_ns: 5 is not after from_ns 5"));
  ASSERT_OK_AND_ASSIGN(const RankPart none, reader->Read({60, 10}));
  EXPECT_TRUE(none.position.empty());
}

TEST(RankReaderTest, SpansThatLeaveRowsOutOrOverlapAreRefused) {
  const RankTrace rank = RandomRank(11, 2 * kWindowRows, /*cold=*/false, kGroupsCount);
  ChunkMap map;
  const RankIndex good = map.Add(rank);
  const auto refused = [&](const char* part, void (*spoil)(RankIndex&)) {
    RankIndex bad = good;
    spoil(bad);
    EXPECT_THAT(RankReader::Open(bad, map.Source(), {kGroupsCount}),
                StatusIs(absl::StatusCode::kInvalidArgument, part));
  };
  refused("count: 0 is not in [1, 65536]", [](RankIndex& i) { i.hot[0].span.count = 0; });
  refused("count: 65537", [](RankIndex& i) { i.hot[0].span.count = 65537; });
  refused("first: 65536 does not follow 65535", [](RankIndex& i) { --i.hot[0].span.count; });
  refused("first: 5 does not follow 0", [](RankIndex& i) { i.hot[0].span.first = 5; });
  refused("first_item:", [](RankIndex& i) { i.hot[1].span.first_item = UINT32_MAX; });
  refused("first of a kind", [](RankIndex& i) { i.hot[0].span.first_item = 1; });
  refused("is no hot one", [](RankIndex& i) { i.hot[0].span.kind = ChunkKind::kColdBytes; });
  refused("is no hot one", [](RankIndex& i) { i.hot[0].span.kind = static_cast<ChunkKind>(99); });
  refused("spans hold 65536 of 131072 nodes", [](RankIndex& i) { i.hot.erase(i.hot.begin() + 1); });
  refused("spans hold", [](RankIndex& i) { ++i.header.edges_count; });
  EXPECT_EQ(map.reads_count(), 0);
}

TEST(RankReaderTest, AChunkThatIsNotWhatItsSpanSaysIsDataLoss) {
  const RankTrace rank = RandomRank(12, 3 * kWindowRows, /*cold=*/false, kGroupsCount);
  ChunkMap map;
  const RankIndex good = map.Add(rank);
  RankIndex swapped = good;
  std::swap(swapped.hot[0].hash, swapped.hot[1].hash);
  EXPECT_THAT(OpenReader(swapped, &map)->Read({0, 1}),
              StatusIs(absl::StatusCode::kDataLoss, "chunk 0: chunk: nodes are out of order"));
  RankIndex other_times = good;
  ++other_times.hot[0].span.max_end_ns;
  EXPECT_THAT(OpenReader(other_times, &map)->Read({0, 1}),
              StatusIs(absl::StatusCode::kDataLoss, "is not what its span says"));
  RankIndex missing = good;
  missing.hot[1].hash = std::string(32, 'x');
  const auto reader = OpenReader(missing, &map);
  EXPECT_THAT(reader->Read({0, kWindowRows}), IsOk());  // The others are still there.
  EXPECT_THAT(reader->Read({kWindowRows, 1}), StatusIs(absl::StatusCode::kDataLoss, "missing"));
  EXPECT_THAT(RankReader::Open(WithoutSpans(missing), map.Source(), {kGroupsCount}),
              StatusIs(absl::StatusCode::kDataLoss, "missing"));
}

// As a store decodes what a client encoded.
absl::Status DecodeWithSpans(const RankIndex& index, ChunkMap* map) {
  RankDecoder decoder(index.header);
  for (const std::vector<ChunkRef>* refs : {&index.hot, &index.cold}) {
    for (const ChunkRef& ref : *refs) {
      const absl::Status added = decoder.Add(*map->Source()(ref.hash), ref.span);
      if (!added.ok()) return added;
    }
  }
  return decoder.Finish(/*with_cold=*/true, kGroupsCount).status();
}

TEST(RankReaderTest, ADecoderRefusesEverySpanThatIsNotWhatItsChunkHolds) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    RankTrace rank = RandomRank(seed, seed * 9 % 200, seed % 2 == 0, kGroupsCount);
    if (seed % 3 == 0) rank.strings.Append(std::string(2 << 20, 'x'));  // In the other way.
    ChunkMap map;
    const RankIndex good = map.Add(rank);
    EXPECT_THAT(DecodeWithSpans(good, &map), IsOk());
    for (size_t i = 0; i < good.hot.size(); ++i) {
      for (int change = 0; change < 6; ++change) {
        RankIndex bad = good;
        ChunkSpan& span = bad.hot[i].span;
        if (change == 0) span.kind = ChunkKind::kFileCold;
        if (change == 1) ++span.first;
        if (change == 2) ++span.count;
        if (change == 3) ++span.first_item;
        if (change == 4) span.min_start_ns ^= 1;
        if (change == 5) span.max_end_ns ^= 1;
        EXPECT_THAT(DecodeWithSpans(bad, &map),
                    StatusIs(absl::StatusCode::kDataLoss, "is not what its span says"));
      }
    }
  }
}

void ChangeSpan(std::mt19937_64& random, RankIndex* index) {
  ChunkSpan& span = index->hot[random() % index->hot.size()].span;
  uint64_t* const numbers[] = {&span.first, &span.count, &span.first_item};
  const uint64_t change = random() % 2 == 0 ? random() : 1 + random() % 3;
  switch (random() % 6) {
    case 0:
      span.kind = static_cast<ChunkKind>(random() % 16);
      break;
    case 1:
      span.min_start_ns = static_cast<int64_t>(random());
      break;
    case 2:
      span.max_end_ns = static_cast<int64_t>(random());
      break;
    default:
      *numbers[random() % 3] += change;
  }
}

// Below the hash and zstd: messages and spans are changed, so that every check is
// reached. A change may yield other valid rows, never ones that do not fit.
TEST(RankReaderTest, ChangedMessagesAndSpansGiveAStatusOrRowsThatFit) {
  std::mt19937_64 random(2025);
  ChunkFramer framer;
  int refused = 0, accepted = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const RankTrace rank = RandomRank(seed, 50, /*cold=*/false, kGroupsCount);
    ChunkMap map;
    const RankIndex good = map.Add(rank);
    for (int round = 0; round < 60; ++round) {
      RankIndex changed = round % 3 == 2 ? WithoutSpans(good) : good;
      if (round % 3 == 0) {
        ChangeSpan(random, &changed);
      } else {
        ChunkRef& ref = changed.hot[random() % changed.hot.size()];
        ASSERT_OK_AND_ASSIGN(const ChunkFramer::Unpacked chunk,
                             framer.Unpack(*map.Source()(ref.hash)));
        std::string raw(chunk.raw);
        if (raw.empty()) continue;
        for (uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
          raw[random() % raw.size()] ^= static_cast<char>(1u << random() % 8);
        }
        if (random() % 4 == 0) raw.resize(random() % raw.size());
        ref.hash = map.Put(*framer.Pack(chunk.kind, raw));
      }
      absl::StatusOr<std::unique_ptr<RankReader>> reader =
          RankReader::Open(changed, map.Source(), {kGroupsCount});
      absl::Status status = reader.status();
      if (status.ok()) {
        const absl::StatusOr<RankPart> part = (*reader)->Read({0, UINT64_MAX});
        status = part.status();
        if (part.ok()) {
          EXPECT_THAT(CheckPartColumns(part->rows, kGroupsCount, 50), IsOk());
        }
      }
      status.ok() ? ++accepted : ++refused;
      EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kDataLoss ||
                  status.code() == absl::StatusCode::kInvalidArgument)
          << status;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 100);
}

// What measurements read must be a rank like any other.
TEST(RankReaderTest, LongRanksDecodeAndTheirWindowsAreTheirNodes) {
  for (const LongRankOrder order :
       {LongRankOrder::kRecorded, LongRankOrder::kBackwards, LongRankOrder::kScattered}) {
    const uint32_t nodes_count = kWindowRows + 1000;
    ChunkMap map;
    RankIndex index;
    index.header = LongRankHeader(order, nodes_count);
    index.has_spans = true;
    RankDecoder decoder(index.header);
    ASSERT_THAT(EncodeLongRank(order, nodes_count,
                               [&](const ChunkSpan& span, absl::string_view stored) {
                                 index.hot.push_back({map.Put(stored), span});
                                 return decoder.Add(stored);
                               }),
                IsOk());
    ASSERT_OK_AND_ASSIGN(const RankTrace rank, decoder.Finish(/*with_cold=*/false, 0));
    const NodeRange range{kWindowRows - 500, 1000};
    ASSERT_OK_AND_ASSIGN(const RankPart part, OpenReader(index, &map)->Read(range));
    ExpectPart(part, rank, NodesOf(rank, range));
  }
}

}  // namespace
}  // namespace chakrad
