#include "trace/writers/dot_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_matchers.h"
#include "trace/model/rank_trace_builder.h"
#include "trace/writers/graphviz.h"

namespace chakrad {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Names that mean something to graphviz, to XML, or to nobody.
constexpr char kEvilName[] = "f<T>({\"a|b\"}) \\N \\ &amp; <b>x</b> --> [0]; \xc3\xa9 \xff\x01 end";

RankTrace Rank() {
  RankTraceBuilder builder;
  builder.header().rank = 3;
  NodeSpec spec;
  spec.id = 17;
  spec.type = NodeType::kComp;
  spec.name = kEvilName;
  spec.queue = {Queue::Kind::kDeviceStream, 0, 7};
  spec.start_ns = 5;
  spec.work_ns = 12345;
  builder.AddNode(spec);
  const CommOp comm{.collective = CollectiveType::kAllGather, .bytes = 4096};
  spec.id = 18446744073709551615u;
  spec.name = "gather";
  spec.type = NodeType::kCommColl;
  spec.comm = &comm;
  builder.AddNode(spec);
  spec.comm = nullptr;
  spec.id = 3;
  spec.type = NodeType::kMetadata;
  const std::string long_name(100000, 'x');
  spec.name = long_name;
  builder.AddNode(spec);
  builder.AddEdge(1, 0, EdgeKind::kData);
  builder.AddEdge(1, 0, EdgeKind::kStreamOrder);
  builder.AddEdge(2, 1, EdgeKind::kControl);
  return *builder.Build(nullptr);
}

template <typename Writer>
std::string Text(Writer writer, const GraphOptions& options) {
  std::string text;
  EXPECT_THAT(writer(Rank(), options,
                     [&text](absl::string_view piece) {
                       text.append(piece.data(), piece.size());
                       return absl::OkStatus();
                     }),
              IsOk());
  return text;
}

std::string TestPath(const std::string& name) { return absl::StrCat(testing::TempDir(), name); }

std::string WriteFile(const std::string& name, const std::string& text) {
  std::ofstream(TestPath(name)) << text;
  return TestPath(name);
}

std::string ReadFile(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(DotWriterTest, NodesAndEdgesAreLines) {
  const std::string dot = Text(WriteDot, {});
  EXPECT_THAT(dot, HasSubstr("label=\"rank 3: 2 of 3 nodes; not shown: 1 metadata"));
  EXPECT_THAT(dot, HasSubstr("n18446744073709551615 [label=\"gather\\nnode 18446744073709551615: "
                             "COMM_COLL_NODE ALL_GATHER, 4096 bytes, 12.345 us\""));
  EXPECT_THAT(dot, HasSubstr("n17 -> n18446744073709551615 [color=\"#000000\" tooltip=\"data\"]"));
  EXPECT_THAT(dot, HasSubstr("style=bold tooltip=\"stream_order\"]"));
  EXPECT_THAT(dot, Not(HasSubstr("n3 ")));
  const std::string full = Text(WriteDot, {.full = true});
  EXPECT_THAT(full, HasSubstr("n18446744073709551615 -> n3 ["));
  EXPECT_LT(full.size(), 3000u);  // The long name is cut.
}

TEST(DotWriterTest, GraphvizDrawsAnyNameAsItIs) {
  const std::string out = TestPath("evil.svg");
  ASSERT_THAT(LayOutDot(WriteFile("evil.dot", Text(WriteDot, {.full = true})), "svg", out), IsOk());
  const std::string svg = ReadFile(out);
  // As XML spells it; bytes that are not UTF-8 and controls are '?' and ' '.
  EXPECT_THAT(svg,
              HasSubstr("f&lt;T&gt;({&quot;a|b&quot;}) \\N \\ &amp;amp; &lt;b&gt;x&lt;/b&gt;"));
  EXPECT_THAT(svg, HasSubstr("\xc3\xa9"));
  EXPECT_THAT(svg, HasSubstr("data"));
  const std::string pdf = TestPath("evil.pdf");
  ASSERT_THAT(LayOutDot(TestPath("evil.dot"), "pdf", pdf), IsOk());
  EXPECT_TRUE(absl::StartsWith(ReadFile(pdf), "%PDF"));
}

TEST(DotWriterTest, GraphMlKeepsEveryEdgeAndNumber) {
  const std::string xml = Text(WriteGraphMl, {.full = true});
  EXPECT_THAT(xml, HasSubstr("<data key=\"name\">f&lt;T&gt;({&quot;a|b&quot;}) \\N \\ &amp;amp; "
                             "&lt;b&gt;x&lt;/b&gt; --&gt; [0]; \xc3\xa9 ?  end</data>"));
  EXPECT_THAT(xml, HasSubstr("<edge source=\"n17\" target=\"n18446744073709551615\"><data "
                             "key=\"kind\">data</data></edge>"));
  EXPECT_THAT(xml, HasSubstr("<data key=\"kind\">stream_order</data>"));
  EXPECT_THAT(xml, HasSubstr("<data key=\"work_ns\">12345</data>"));
  EXPECT_THAT(xml, HasSubstr("<data key=\"bytes\">4096</data>"));
  EXPECT_THAT(xml, HasSubstr("device 0 stream 7"));
  EXPECT_THAT(xml, Not(HasSubstr("dur_ns\">-1")));
}

TEST(DotWriterTest, WritingEndsWithTheSinksError) {
  const auto full_disk = [](absl::string_view) {
    return absl::ResourceExhaustedError("disk full");
  };
  EXPECT_THAT(WriteDot(Rank(), {}, full_disk),
              StatusIs(absl::StatusCode::kResourceExhausted, "disk full"));
  EXPECT_THAT(WriteGraphMl(Rank(), {}, full_disk),
              StatusIs(absl::StatusCode::kResourceExhausted, "disk full"));
}

TEST(GraphvizTest, WhatIsMissingIsNamed) {
  const std::string dot = WriteFile("ok.dot", "digraph { a -> b; }");
  EXPECT_THAT(LayOutDot(dot, "svg", TestPath("none.svg"), {.program = "no-such-dot"}),
              StatusIs(absl::StatusCode::kFailedPrecondition, "install the package graphviz"));
  EXPECT_THAT(LayOutDot(dot, "png", TestPath("none.png")),
              StatusIs(absl::StatusCode::kInvalidArgument, "\"png\" is not svg or pdf"));
  EXPECT_THAT(LayOutDot(TestPath("absent.dot"), "svg", TestPath("none.svg")),
              StatusIs(absl::StatusCode::kInternal, "absent.dot"));
  EXPECT_THAT(LayOutDot(WriteFile("bad.dot", "digraph { a -> "), "svg", TestPath("none.svg")),
              StatusIs(absl::StatusCode::kInternal, "syntax error"));
  EXPECT_NE(access(TestPath("none.svg").c_str(), F_OK), 0);
}

// A stand-in for a layout that never ends, with a child of its own, and more to
// say than a pipe holds.
TEST(GraphvizTest, ALayoutThatDoesNotEndIsStopped) {
  const std::string program =
      WriteFile("endless",
                "#!/bin/sh\nhead -c 300000 /dev/zero >&2\nfor a in \"$@\"; do case $a in -o*) echo "
                "begun > \"${a#-o}\";; esac; done\nsleep 60 &\n"
                "wait\n");
  chmod(program.c_str(), 0700);
  const std::string out = TestPath("endless.svg");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(LayOutDot("-x.dot", "svg", out, {.timeout_seconds = 1, .program = program}),
              StatusIs(absl::StatusCode::kResourceExhausted, "in 1 s and was stopped"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_NE(access(out.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace chakrad
