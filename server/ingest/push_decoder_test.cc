#include "server/ingest/push_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "common/sha256.h"
#include "common/status_matchers.h"
#include "server/limits.h"
#include "trace/check/comm_details.h"
#include "trace/codec/rank_generator.h"
#include "trace/codec/rank_matchers.h"

namespace chakrad {
namespace {

using Chunks = std::map<std::string, std::string>;  // By hash.

RankIndex Encode(const RankTrace& rank, Chunks* chunks) {
  RankIndex index{.header = HeaderOf(rank), .hot = {}, .cold = {}, .has_spans = true};
  EXPECT_THAT(EncodeRank(rank,
                         [&](const ChunkSpan& span, absl::string_view stored) {
                           const std::string hash = Sha256Of(stored);
                           (*chunks)[hash] = std::string(stored);
                           (IsCold(span.kind) ? index.cold : index.hot).push_back({hash, span});
                           return absl::OkStatus();
                         }),
              IsOk());
  return index;
}

std::vector<std::string> HashesOf(const RankIndex& index) {
  std::vector<std::string> hashes;
  std::set<std::string> seen;
  for (const auto* refs : {&index.hot, &index.cold}) {
    for (const ChunkRef& ref : *refs) {
      if (seen.insert(ref.hash).second) hashes.push_back(ref.hash);
    }
  }
  return hashes;
}

RankTrace RankOf(uint64_t seed, int32_t number, uint32_t nodes_count = 3000) {
  RankTrace rank = RandomRank(seed, nodes_count, /*cold=*/true, 2);
  rank.rank = number;
  rank.groups.clear();
  for (CommOp& op : rank.comm) op.peer = op.peer == kNoRank ? kNoRank : number + 1;
  return rank;
}

// `rank` as it comes out: with the cold blocks that the checks read.
RankTrace Decoded(const RankTrace& rank) {
  const std::vector<bool> read = NodesWithCommDetails(rank);
  RankTrace kept = rank;
  kept.cold.clear();
  kept.file_cold.clear();
  for (uint32_t node = 0; node < rank.size(); ++node) {
    if (read[node]) kept.cold.append(rank.ColdOf(node).data(), rank.ColdOf(node).size());
    kept.cold_begin[node + 1] = kept.cold.size();
  }
  EXPECT_NE(kept.cold, "");
  EXPECT_LT(kept.cold.size(), rank.cold.size());
  return kept;
}

absl::StatusOr<std::string> NothingStored(const std::string&) {
  return absl::DataLossError("nothing is stored");
}

// Gives the decoder every chunk of every rank, in the order of `hashes`.
absl::Status Feed(const std::vector<std::string>& hashes, const Chunks& chunks,
                  PushDecoder* decoder) {
  for (const std::string& hash : hashes) {
    const std::string& stored = chunks.at(hash);
    if (!decoder->WaitForRoom(static_cast<int64_t>(stored.size()))) decoder->DropCached();
    const absl::Status status = decoder->ChunkStored(hash, stored);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

TEST(PushDecoderTest, RanksComeOutAsTheyWereWhateverTheOrderOfTheirChunks) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Chunks chunks;
    std::vector<RankTrace> ranks;
    PushDecoder decoder(2, NothingStored);
    std::vector<std::string> hashes;
    std::set<std::string> asked;
    for (int32_t number = 0; number < 5; ++number) {
      ranks.push_back(RankOf(seed * 100 + random() % 3, number));  // Some are equal.
      RankIndex index = Encode(ranks.back(), &chunks);
      std::vector<std::string> missing;
      for (const std::string& hash : HashesOf(index)) {
        if (asked.insert(hash).second) missing.push_back(hash);
      }
      hashes.insert(hashes.end(), missing.begin(), missing.end());
      ASSERT_THAT(decoder.AddRank(std::move(index), missing), IsOk());
    }
    std::shuffle(hashes.begin(), hashes.end(), random);
    ASSERT_THAT(Feed(hashes, chunks, &decoder), IsOk());
    ASSERT_OK_AND_ASSIGN(const std::vector<PushedRank> got, decoder.Finish());
    ASSERT_EQ(got.size(), ranks.size());
    for (size_t i = 0; i < ranks.size(); ++i) {
      ExpectSameRank(got[i].trace, Decoded(ranks[i]));
      Chunks own;
      const RankIndex index = Encode(ranks[i], &own);
      int64_t stored_bytes = 0;
      for (const auto* refs : {&index.hot, &index.cold}) {
        for (const ChunkRef& ref : *refs) stored_bytes += own.at(ref.hash).size();
      }
      EXPECT_EQ(got[i].stored_bytes, stored_bytes);
    }
  }
}

TEST(PushDecoderTest, WhatIsStoredAlreadyIsRead) {
  Chunks chunks;
  const RankTrace rank = RankOf(7, 3);
  PushDecoder decoder(
      2, [&](const std::string& hash) -> absl::StatusOr<std::string> { return chunks.at(hash); });
  ASSERT_THAT(decoder.AddRank(Encode(rank, &chunks), {}), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::vector<PushedRank> got, decoder.Finish());
  ExpectSameRank(got[0].trace, Decoded(rank));
}

// The chunks of the second rank come first, and are more than the decoders may hold.
TEST(PushDecoderTest, ChunksFarAheadAreDroppedAndReadBack) {
  Chunks chunks;
  std::mt19937_64 random(3);
  std::vector<RankTrace> ranks = {RankOf(1, 0), RankOf(2, 1)};
  ranks[1].file_cold.resize(kPushCacheBytes * 3 / 2);
  for (char& c : ranks[1].file_cold) c = static_cast<char>(random());
  PushDecoder decoder(
      2, [&](const std::string& hash) -> absl::StatusOr<std::string> { return chunks.at(hash); });
  std::vector<std::vector<std::string>> hashes;
  for (const RankTrace& rank : ranks) {
    RankIndex index = Encode(rank, &chunks);
    hashes.push_back(HashesOf(index));
    ASSERT_THAT(decoder.AddRank(std::move(index), hashes.back()), IsOk());
  }
  std::reverse(hashes[1].begin(), hashes[1].end());
  ASSERT_THAT(Feed(hashes[1], chunks, &decoder), IsOk());
  ASSERT_THAT(Feed(hashes[0], chunks, &decoder), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::vector<PushedRank> got, decoder.Finish());
  for (size_t i = 0; i < ranks.size(); ++i) ExpectSameRank(got[i].trace, Decoded(ranks[i]));
}

// Every chunk cut at some byte, or with one byte changed.
TEST(PushDecoderTest, ChunksThatDoNotDecodeAreTheClientsFault) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Chunks chunks;
    const RankIndex index = Encode(RankOf(seed, 0, 200), &chunks);
    const std::vector<std::string> hashes = HashesOf(index);
    std::string& stored = chunks.at(hashes[random() % hashes.size()]);
    const std::string before = stored;
    if (random() % 2 == 0) {
      stored.resize(random() % stored.size());
    } else {
      stored[random() % stored.size()] ^= static_cast<char>(1 + random() % 255);
    }
    PushDecoder decoder(2, NothingStored);
    ASSERT_THAT(decoder.AddRank(index, hashes), IsOk());
    absl::Status status = Feed(hashes, chunks, &decoder);
    if (status.ok()) status = decoder.Finish().status();
    // A changed byte of a column may well give another column that fits.
    if (!status.ok()) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "rank 0: "));
    }
    EXPECT_TRUE(!status.ok() || stored.size() == before.size());
  }
}

TEST(PushDecoderTest, AnIndexThatTellsOtherThanItsChunksIsRefused) {
  Chunks chunks;
  const RankIndex index = Encode(RankOf(5, 4), &chunks);
  const auto refused = [&](const std::function<void(RankIndex*)>& change) {
    RankIndex changed = index;
    change(&changed);
    PushDecoder decoder(
        2, [&](const std::string& hash) -> absl::StatusOr<std::string> { return chunks.at(hash); });
    EXPECT_THAT(decoder.AddRank(std::move(changed), {}), IsOk());
    return decoder.Finish().status();
  };
  const auto is_invalid = StatusIs(absl::StatusCode::kInvalidArgument, "rank 4: ");
  EXPECT_THAT(refused([](RankIndex* i) { ++i->header.nodes_count; }), is_invalid);
  EXPECT_THAT(refused([](RankIndex* i) { i->header.nodes_count = UINT32_MAX; }), is_invalid);
  EXPECT_THAT(refused([](RankIndex* i) { --i->header.edges_count; }), is_invalid);
  EXPECT_THAT(refused([](RankIndex* i) { ++i->header.file_cold_bytes; }), is_invalid);
  EXPECT_THAT(refused([](RankIndex* i) { ++i->hot[0].span.count; }), is_invalid);
  EXPECT_THAT(refused([](RankIndex* i) { ++i->hot[0].span.first_item; }), is_invalid);
  EXPECT_THAT(refused([](RankIndex* i) { ++i->hot[0].span.min_start_ns; }), is_invalid);
  EXPECT_THAT(refused([](RankIndex* i) { --i->hot[0].span.max_end_ns; }), is_invalid);
  EXPECT_THAT(refused([](RankIndex* i) { i->hot[0].span.kind = ChunkKind::kEdges; }), is_invalid);
  EXPECT_THAT(refused([](RankIndex* i) { i->hot.erase(i->hot.begin()); }), is_invalid);
  EXPECT_THAT(refused([](RankIndex* i) { i->cold.pop_back(); }), is_invalid);
  EXPECT_THAT(refused([](RankIndex* i) { std::swap(i->hot, i->cold); }), is_invalid);
}

TEST(PushDecoderTest, AGroupOutOfRangeIsNamed) {
  Chunks chunks;
  RankTrace rank = RankOf(5, 4);
  for (CommOp& op : rank.comm) op.group = 2;
  PushDecoder decoder(
      2, [&](const std::string& hash) -> absl::StatusOr<std::string> { return chunks.at(hash); });
  ASSERT_THAT(decoder.AddRank(Encode(rank, &chunks), {}), IsOk());
  EXPECT_THAT(decoder.Finish(), StatusIs(absl::StatusCode::kInvalidArgument, "2 is not in [0, 2)"));
}

TEST(PushDecoderTest, DestroyedWhileChunksAreAwaitedItStops) {
  Chunks chunks;
  RankIndex index = Encode(RankOf(5, 4), &chunks);
  const std::vector<std::string> hashes = HashesOf(index);
  PushDecoder decoder(2, NothingStored);
  ASSERT_THAT(decoder.AddRank(std::move(index), hashes), IsOk());
  ASSERT_THAT(decoder.ChunkStored(hashes[0], chunks.at(hashes[0])), IsOk());
}

}  // namespace
}  // namespace chakrad
