#include "trace/codec/rank_codec.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/status_matchers.h"
#include "trace/codec/limits.h"
#include "trace/codec/rank_check.h"
#include "trace/codec/rank_generator.h"
#include "trace/codec/rank_matchers.h"

namespace chakrad {
namespace {

constexpr uint32_t kGroupsCount = 3;

struct Encoded {
  RankHeader header;
  std::vector<std::string> chunks;
  std::vector<ChunkKind> kinds;
};

Encoded Encode(const RankTrace& rank) {
  Encoded encoded;
  encoded.header = HeaderOf(rank);
  EXPECT_THAT(EncodeRank(rank,
                         [&](const ChunkSpan& span, absl::string_view stored) {
                           encoded.kinds.push_back(span.kind);
                           encoded.chunks.emplace_back(stored);
                           return absl::OkStatus();
                         }),
              IsOk());
  return encoded;
}

absl::StatusOr<RankTrace> Decode(const Encoded& encoded, bool cold = true) {
  RankDecoder decoder(encoded.header);
  for (size_t i = 0; i < encoded.chunks.size(); ++i) {
    if (!cold && IsCold(encoded.kinds[i])) continue;
    if (absl::Status added = decoder.Add(encoded.chunks[i]); !added.ok()) return added;
  }
  return decoder.Finish(cold, kGroupsCount);
}

TEST(TraceCodecTest, EveryColumnOfRandomRanksComesBack) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const RankTrace rank = RandomRank(seed, seed * 7 % 400, seed % 2 == 0, kGroupsCount);
    ASSERT_THAT(CheckRankColumns(rank, kGroupsCount), IsOk());
    ASSERT_OK_AND_ASSIGN(const RankTrace decoded, Decode(Encode(rank)));
    ExpectSameRank(decoded, rank);
  }
}

TEST(TraceCodecTest, ARankOfSeveralWindowsComesBack) {
  // More than two windows of nodes; edges and cold bytes take more windows still.
  const RankTrace rank = RandomRank(7, 2 * kWindowRows + 1234, /*cold=*/true, kGroupsCount);
  const Encoded encoded = Encode(rank);
  EXPECT_EQ(std::count(encoded.kinds.begin(), encoded.kinds.end(), ChunkKind::kNodes), 3);
  EXPECT_GT(std::count(encoded.kinds.begin(), encoded.kinds.end(), ChunkKind::kColdBytes), 1);
  ASSERT_OK_AND_ASSIGN(const RankTrace decoded, Decode(encoded));
  ExpectSameRank(decoded, rank);
}

// Decodes with a filter that keeps a share of the cold blocks.
absl::StatusOr<RankTrace> DecodeSome(const Encoded& encoded, const std::vector<bool>& wanted) {
  RankDecoder decoder(encoded.header);
  decoder.KeepCold([&](const RankTrace& rank) {
    EXPECT_EQ(rank.dep_node.size(), encoded.header.edges_count);
    return wanted;
  });
  for (const std::string& chunk : encoded.chunks) {
    if (absl::Status added = decoder.Add(chunk); !added.ok()) return added;
  }
  return decoder.Finish(/*with_cold=*/true, kGroupsCount);
}

TEST(TraceCodecTest, OfColdBlocksThoseThatAreWantedComeBack) {
  for (const int percent : {0, 2, 50, 100}) {
    SCOPED_TRACE(percent);
    std::mt19937_64 random(percent);
    RankTrace rank = RandomRank(8, 2 * kWindowRows + 1234, /*cold=*/true, kGroupsCount);
    rank.file_cold = "version";
    const Encoded encoded = Encode(rank);
    ASSERT_GT(std::count(encoded.kinds.begin(), encoded.kinds.end(), ChunkKind::kColdBytes), 1);
    std::vector<bool> wanted;
    RankTrace expected = rank;
    expected.cold.clear();
    expected.file_cold.clear();
    for (uint32_t node = 0; node < rank.size(); ++node) {
      wanted.push_back(random() % 100 < static_cast<uint64_t>(percent));
      if (wanted[node]) expected.cold += std::string(rank.ColdOf(node));
      expected.cold_begin[node + 1] = expected.cold.size();
    }
    ASSERT_OK_AND_ASSIGN(const RankTrace decoded, DecodeSome(encoded, wanted));
    ExpectSameRank(decoded, expected);
  }
}

TEST(TraceCodecTest, ColdBlocksThatAreNotWantedAreCheckedAllTheSame) {
  RankTrace rank = RandomRank(8, 300, /*cold=*/true, kGroupsCount);
  rank.file_cold = "version";
  const Encoded good = Encode(rank);
  const std::vector<bool> none(rank.size(), false);
  ASSERT_THAT(DecodeSome(good, none).status(), IsOk());
  const auto refused = [&](const std::function<void(Encoded*)>& change) {
    Encoded changed = good;
    change(&changed);
    return DecodeSome(changed, none).status();
  };
  const auto is_damage = StatusIs(absl::StatusCode::kDataLoss, "");
  const auto at = [&](ChunkKind kind) {
    return std::find(good.kinds.begin(), good.kinds.end(), kind) - good.kinds.begin();
  };
  const auto lengths = at(ChunkKind::kColdLengths), bytes = at(ChunkKind::kColdBytes);
  ChunkFramer framer;
  const std::string raw(framer.Unpack(good.chunks[bytes])->raw);
  const std::string less = *framer.Pack(ChunkKind::kColdBytes, raw.substr(1));
  const std::string more = *framer.Pack(ChunkKind::kColdBytes, raw + "x");
  EXPECT_THAT(refused([&](Encoded* e) { e->chunks[bytes] = less; }), is_damage);
  EXPECT_THAT(refused([&](Encoded* e) { e->chunks[bytes] = more; }), is_damage);
  EXPECT_THAT(refused([&](Encoded* e) { e->chunks[bytes].pop_back(); }), is_damage);
  EXPECT_THAT(refused([&](Encoded* e) { std::swap(e->chunks[bytes], e->chunks[lengths]); }),
              is_damage);
  EXPECT_THAT(refused([&](Encoded* e) { e->chunks.erase(e->chunks.begin() + bytes); }), is_damage);
  EXPECT_THAT(refused([&](Encoded* e) { e->chunks.erase(e->chunks.begin() + lengths); }),
              is_damage);
  EXPECT_THAT(refused([&](Encoded* e) { e->chunks.pop_back(); }), is_damage);  // The file's.
  EXPECT_THAT(refused([&](Encoded* e) { e->header.has_cold = false; }), is_damage);
  EXPECT_THAT(refused([&](Encoded* e) { ++e->header.file_cold_bytes; }), is_damage);
}

TEST(TraceCodecTest, AnEmptyRankComesBack) {
  RankTrace rank;
  ASSERT_OK_AND_ASSIGN(RankTrace decoded, Decode(Encode(rank)));
  ExpectSameRank(decoded, rank);
  rank.cold_begin.push_back(0);  // As the builder leaves it.
  ASSERT_OK_AND_ASSIGN(decoded, Decode(Encode(rank)));
  ExpectSameRank(decoded, rank);
}

TEST(TraceCodecTest, WithoutColdOnlyTheColdBlockIsMissing) {
  RankTrace rank = RandomRank(3, 100, /*cold=*/true, kGroupsCount);
  ASSERT_FALSE(rank.cold.empty());
  rank.file_cold = "version";
  ASSERT_OK_AND_ASSIGN(const RankTrace decoded, Decode(Encode(rank), /*cold=*/false));
  rank.file_cold.clear();
  rank.cold.clear();
  rank.cold_begin.clear();
  ExpectSameRank(decoded, rank);
}

TEST(TraceCodecTest, RanksThatDifferOnlyInTheirPlaceHaveTheSameChunks) {
  RankTrace a = RandomRank(5, 300, /*cold=*/true, kGroupsCount);
  ASSERT_FALSE(a.comm.empty());
  a.rank = 4;
  for (CommOp& op : a.comm) op.peer = 5;  // The next one.
  RankTrace b = a;
  b.rank = 90;
  b.base_unix_ns = 12345;
  for (CommOp& op : b.comm) op.peer = 91;
  EXPECT_EQ(Encode(a).chunks, Encode(b).chunks);
}

std::set<std::string> RunsOfStrings(const Encoded& encoded) {
  std::set<std::string> runs;
  for (size_t i = 0; i < encoded.chunks.size(); ++i) {
    if (encoded.kinds[i] == ChunkKind::kStrings) runs.insert(encoded.chunks[i]);
  }
  return runs;
}

TEST(TraceCodecTest, TablesOfMostlyEqualNamesShareAllRunsButTheOnesThatDiffer) {
  RankTrace a, b;
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "void at::native::elementwise_kernel_" + std::to_string(i * i);
    a.strings.Append(name);
    // One more, one less, one longer.
    if (i == 1000) b.strings.Append("only here");
    if (i == 2500) continue;
    b.strings.Append(i == 4000 ? name + "_of_rank_1" : name);
  }
  const std::set<std::string> of_a = RunsOfStrings(Encode(a)), of_b = RunsOfStrings(Encode(b));
  ASSERT_GT(of_a.size(), 15);
  std::vector<std::string> only_b;
  std::set_difference(of_b.begin(), of_b.end(), of_a.begin(), of_a.end(),
                      std::back_inserter(only_b));
  // A change at a run's end joins or parts two runs.
  EXPECT_LE(only_b.size(), 6);
  ASSERT_OK_AND_ASSIGN(const RankTrace decoded, Decode(Encode(b)));
  ExpectSameRank(decoded, b);
}

TEST(TraceCodecTest, StringsOfMegabytesComeBack) {
  RankTrace rank;
  rank.strings.Append("before");
  rank.strings.Append(std::string(3 << 20, 'y'));
  rank.strings.Append("after");
  const Encoded encoded = Encode(rank);
  EXPECT_TRUE(RunsOfStrings(encoded).empty());
  ASSERT_OK_AND_ASSIGN(const RankTrace decoded, Decode(encoded));
  ExpectSameRank(decoded, rank);
}

TEST(TraceCodecTest, ADecoderSeesMissingDoubledAndSwappedChunks) {
  const Encoded encoded = Encode(RandomRank(11, 3 * kWindowRows / 2, true, kGroupsCount));
  ASSERT_THAT(Decode(encoded), IsOk());
  for (size_t i = 0; i < encoded.chunks.size(); ++i) {
    SCOPED_TRACE(i);
    Encoded missing = encoded;
    missing.chunks.erase(missing.chunks.begin() + i);
    // Gaps and rank groups are lists of any length: the manifest vouches for them.
    if (encoded.kinds[i] != ChunkKind::kGaps && encoded.kinds[i] != ChunkKind::kGroups) {
      EXPECT_THAT(Decode(missing), StatusIs(absl::StatusCode::kDataLoss, ""));
    }
    if (encoded.kinds[i] == ChunkKind::kNodes || encoded.kinds[i] == ChunkKind::kEdges) {
      Encoded doubled = encoded;
      doubled.chunks.insert(doubled.chunks.begin() + i, encoded.chunks[i]);
      EXPECT_THAT(Decode(doubled), StatusIs(absl::StatusCode::kDataLoss, ""));
    }
  }
  Encoded swapped = encoded;
  std::swap(swapped.chunks[0], swapped.chunks[1]);
  EXPECT_THAT(Decode(swapped), StatusIs(absl::StatusCode::kDataLoss, "out of order"));
}

TEST(TraceCodecTest, TruncatedStoredBytesAreDataLossAtEveryLength) {
  const Encoded encoded = Encode(RandomRank(13, 60, true, kGroupsCount));
  for (size_t i = 0; i < encoded.chunks.size(); ++i) {
    for (size_t size = 0; size < encoded.chunks[i].size(); ++size) {
      Encoded cut = encoded;
      cut.chunks[i].resize(size);
      EXPECT_THAT(Decode(cut), StatusIs(absl::StatusCode::kDataLoss, "")) << i << " " << size;
    }
  }
}

// Below the hash and zstd: the messages themselves are changed, so that every
// check of the decoder is reached. A change may yield another valid trace; it
// must never yield one whose columns do not fit.
TEST(TraceCodecTest, ChangedMessagesGiveAStatusOrColumnsThatFit) {
  std::mt19937_64 random(2024);
  ChunkFramer framer;
  int refused = 0, accepted = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Encoded encoded = Encode(RandomRank(seed, 50, true, kGroupsCount));
    for (int round = 0; round < 100; ++round) {
      Encoded changed = encoded;
      const size_t at = random() % changed.chunks.size();
      ASSERT_OK_AND_ASSIGN(const ChunkFramer::Unpacked chunk, framer.Unpack(changed.chunks[at]));
      std::string raw(chunk.raw);
      if (raw.empty()) continue;
      const int flips = 1 + static_cast<int>(random() % 3);
      for (int i = 0; i < flips; ++i) {
        raw[random() % raw.size()] ^= static_cast<char>(1u << random() % 8);
      }
      if (random() % 4 == 0) raw.resize(random() % raw.size());
      ASSERT_OK_AND_ASSIGN(changed.chunks[at], framer.Pack(chunk.kind, raw));
      const absl::StatusOr<RankTrace> decoded = Decode(changed);
      if (decoded.ok()) {
        ++accepted;
        EXPECT_THAT(CheckRankColumns(*decoded, kGroupsCount), IsOk());
      } else {
        ++refused;
        EXPECT_THAT(decoded, StatusIs(absl::StatusCode::kDataLoss, ""));
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 100);
}

TEST(TraceCodecTest, FlippedStoredBytesNeverCrash) {
  std::mt19937_64 random(99);
  const Encoded encoded = Encode(RandomRank(17, 200, true, kGroupsCount));
  for (int round = 0; round < 3000; ++round) {
    Encoded changed = encoded;
    std::string& chunk = changed.chunks[random() % changed.chunks.size()];
    chunk[random() % chunk.size()] ^= static_cast<char>(1u << random() % 8);
    const absl::StatusOr<RankTrace> decoded = Decode(changed);
    if (!decoded.ok()) {
      EXPECT_THAT(decoded, StatusIs(absl::StatusCode::kDataLoss, ""));
    }
  }
}

TEST(TraceCodecTest, AFrameThatUnpacksToMoreThanTheLimitIsRefused) {
  const std::string zeros(kMaxChunkRawBytes + 1, '\0');
  std::string frame(ZSTD_compressBound(zeros.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), zeros.data(), zeros.size(), 3));
  RankDecoder decoder({});
  EXPECT_THAT(decoder.Add(std::string("\x01\x09", 2) + frame),
              StatusIs(absl::StatusCode::kDataLoss, "claims too much"));
}

TEST(TraceCodecTest, ManifestsThatClaimMoreThanTheirChunksAreDataLoss) {
  Encoded encoded = Encode(RandomRank(19, 100, true, kGroupsCount));
  for (uint32_t nodes_count : {0u, 99u, 101u, UINT32_MAX}) {
    encoded.header.nodes_count = nodes_count;
    EXPECT_THAT(Decode(encoded), StatusIs(absl::StatusCode::kDataLoss, "too many")) << nodes_count;
  }
  encoded.header.nodes_count = 100;
  encoded.header.edges_count = UINT32_MAX;
  EXPECT_THAT(Decode(encoded), StatusIs(absl::StatusCode::kDataLoss, "edges"));
}

TEST(TraceCodecTest, AGroupBeyondTheGroupTableIsDataLoss) {
  RankTrace rank = RandomRank(5, 10, false, kGroupsCount);
  ASSERT_FALSE(rank.comm.empty());
  rank.comm[0].group = kGroupsCount;
  EXPECT_THAT(Decode(Encode(rank)),
              StatusIs(absl::StatusCode::kDataLoss, "comm.group[0]: 3 is not in [0, 3)"));
}

TEST(RankCheckTest, EachKindOfMisfitIsNamed) {
  const RankTrace good = RandomRank(23, 50, true, kGroupsCount);
  ASSERT_THAT(CheckRankColumns(good, kGroupsCount), IsOk());
  ASSERT_FALSE(good.dep_node.empty());
  ASSERT_GT(good.gap_node.size(), 1);
  const auto check = [&](const char* part, void (*spoil)(RankTrace&)) {
    RankTrace bad = good;
    spoil(bad);
    EXPECT_THAT(CheckRankColumns(bad, kGroupsCount),
                StatusIs(absl::StatusCode::kInvalidArgument, part));
  };
  check("type:", [](RankTrace& r) { r.type.pop_back(); });
  check("type[3]", [](RankTrace& r) { r.type[3] = static_cast<NodeType>(8); });
  check("queue[0]", [](RankTrace& r) { r.queue[0] = 4; });
  check("name[49]", [](RankTrace& r) { r.name[49] = r.strings.size(); });
  check("side[2]", [](RankTrace& r) { r.side[2] = 20; });
  check("dep_begin: spans", [](RankTrace& r) { r.dep_begin.back() += 1; });
  check("dep_begin[", [](RankTrace& r) { r.dep_begin[1] = r.dep_begin.back() + 1; });
  check("dep_begin:", [](RankTrace& r) { r.dep_begin.clear(); });
  check("dep_node[0]: 50 is not in [0, 50)", [](RankTrace& r) { r.dep_node[0] = 50; });
  check("dep_kind[0]", [](RankTrace& r) { r.dep_kind[0] = static_cast<EdgeKind>(7); });
  check("dep_kind:", [](RankTrace& r) { r.dep_kind.pop_back(); });
  check("gap_node[0]", [](RankTrace& r) { r.gap_node[0] = 50; });
  check("gap_node[1]", [](RankTrace& r) { r.gap_node[1] = r.gap_node[0]; });
  check("gap_ns:", [](RankTrace& r) { r.gap_ns.pop_back(); });
  check("queues.kind[0]", [](RankTrace& r) { r.queues[0].kind = static_cast<Queue::Kind>(2); });
  check("cold_begin: has", [](RankTrace& r) { r.cold_begin.pop_back(); });
  check("cold_begin: spans", [](RankTrace& r) { r.cold += "x"; });
  check("cold_begin: is empty", [](RankTrace& r) { r.cold_begin.clear(); });
}

}  // namespace
}  // namespace chakrad
