#!/usr/bin/env python3
"""Tests of tools/tidy: each rule finds what it is for, and lets its opposite be."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader(
    "tidy", str(pathlib.Path(__file__).resolve().parent / "tidy"))
tidy = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", LOADER))
LOADER.exec_module(tidy)


def findings(path, text):
    return list(tidy.check_file(path, text))


class TidyTest(unittest.TestCase):
    def assert_finds(self, path, text, part):
        found = findings(path, text)
        self.assertTrue(any(part in finding for finding in found), f"{part!r} not in {found}")

    def assert_clean(self, path, text):
        self.assertEqual(findings(path, text), [])

    def test_an_include_against_the_arrows_is_found_with_its_line(self):
        found = findings("trace/link/a.cc", '#include <map>\n#include "storage/open.h"\n')
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("trace/link/a.cc:2: storage/open.h: "), found)

    def test_arrows_point_down_only(self):
        for path, target in [("client/a.cc", "server/limits.h"), ("client/a.cc", "sim/x.h"),
                             ("sim/a.cc", "storage/x.h"), ("analysis/a.cc", "sim/x.h"),
                             ("storage/a.cc", "analysis/x.h"), ("common/a.cc", "trace/model/x.h"),
                             ("trace/model/a.cc", "trace/link/x.h"),
                             ("trace/readers/a.cc", "trace/link/x.h"), ("server/a.cc", "tests/x.h")]:
            self.assert_finds(path, f'#include "{target}"\n', "against the arrows")
        for path, target in [("client/a.cc", "common/status.h"), ("client/a.cc", "trace/import/x.h"),
                             ("server/a.cc", "sim/x.h"),
                             ("sim/workload/a.cc", "sim/engine/x.h"), ("tests/a.cc", "server/x.h"),
                             ("trace/link/a.cc", "trace/readers/x.h")]:
            self.assert_clean(path, f'#include "{target}"\n')

    def test_foreign_types_stay_in_their_places(self):
        self.assert_finds("sim/a.cc", '#include "chakrad/v1/job.pb.h"\n', "only in server/")
        self.assert_finds("storage/a.h", "#include <rocksdb/db.h>\n", "only in storage/*.cc")
        self.assert_finds("storage/a.cc", "#include <grpcpp/grpcpp.h>\n", "only in server/")
        self.assert_finds("server/rpc/a.cc", "#include <prometheus/counter.h>\n", "metrics.cc")
        self.assert_finds("analysis/a.cc", '#include "chakra/et_def.pb.h"\n', "trace/readers")
        self.assert_clean("storage/a.cc", "#include <rocksdb/db.h>\n")
        self.assert_clean("server/metrics.cc", "#include <prometheus/counter.h>\n")

    def test_a_ledger_rule_must_be_registered(self):
        self.assert_finds("trace/readers/a.cc", 'ledger->AddFlaw(\n    "made_up_rule", 1, 2, x);\n',
                          "made_up_rule: no rule")
        self.assert_clean("trace/readers/a.cc", 'ledger->Reject("duplicate_node_id", 1, 2, x);\n')

    def test_banned_calls_are_found_and_their_namesakes_are_not(self):
        for call in ["rand()", "std::rand()", "sprintf(a, b)", "atoi(s)", "std::stoi(s)",
                     "system(s)", "thread.detach()", 'printf("x")', "std::cout << 1", "std::mutex m",
                     "std::exit(1)"]:
            self.assert_finds("sim/a.cc", f"void F() {{ {call}; }}\n", "")
        for call in ["operand()", "spec.system(s)", "std::snprintf(a, b)", "absl::StrAppend(a)",
                     "node->rand(1)", "// printf(x)", 'Log("printf(x)")']:
            self.assert_clean("sim/a.cc", f"void F() {{\n  {call};\n}}\n")

    def test_only_a_main_speaks_to_the_terminal(self):
        text = "int main() {\n  std::puts(text);\n}\n"
        self.assert_clean("server/main.cc", text)
        self.assert_finds("server/log.cc", text.replace("main", "Log"), "puts")

    def test_tests_that_do_not_run_and_leftovers_are_found(self):
        self.assert_finds("sim/a_test.cc", "TEST(A, B) {\n  GTEST_SKIP();\n}\n", "GTEST_SKIP")
        self.assert_finds("sim/a_test.cc", "TEST(A, DISABLED_B) {}\n", "DISABLED_B")
        self.assert_finds("sim/a.cc", "// TO" + "DO: later\n", "finish it")

    def test_long_functions_are_found_wherever_they_are(self):
        body = "  x += 1;\n" * tidy.FUNCTION_LINES_MAX
        for heading in ["int F(int x) {", "A::A(int x) : a_(x), b_{x} {", "TEST_F(A, B) {",
                        "auto F() const -> int {", "bool A::operator==(const A& b) const {"]:
            text = f"namespace n {{\n{heading}\n{body}}}\n}}  // namespace n\n"
            self.assert_finds("sim/a.cc", text, "lines in one function")
        self.assert_finds("sim/a.cc", f"class A {{\n  int F() {{\n{body}  }}\n}};\n",
                          "lines in one function")

    def test_short_functions_and_long_tables_are_not(self):
        body = "  x += 1;\n" * (tidy.FUNCTION_LINES_MAX - 2)
        functions = f"int F(int x) {{\n{body}}}\n" * 2
        self.assert_clean("sim/a.cc", f"namespace n {{\n{functions}}}  // namespace n\n")
        table = "    {1, F(2)},\n" * 100
        self.assert_clean("sim/a.cc", f"constexpr A kTable[] = {{\n{table}}};\n")

    def test_braces_in_texts_do_not_count(self):
        text = "void F() {\n  Use(\"}{\", '{', R\"(}}\"{)\", 1'000);  // {\n}\n" + "int a;\n" * 100
        self.assertEqual([f[:2] for f in tidy.functions(tidy.strip(text))], [(1, 3)])

    def test_long_files_and_wrong_guards_are_found(self):
        self.assert_finds("sim/a.cc", "int a;\n" * 501, "501 lines")
        guarded = "#ifndef CHAKRAD_SIM_A_H_\n#define CHAKRAD_SIM_A_H_\n#endif  // CHAKRAD_SIM_A_H_\n"
        self.assert_clean("sim/a.h", "// What it is.\n" + guarded)
        self.assert_finds("sim/b.h", guarded, "wants CHAKRAD_SIM_B_H_")

    def test_a_type_is_defined_in_one_header(self):
        def header(space, body):
            return f"namespace {space} {{\n{body}\n}}  // namespace {space}\n"
        replay = header("chakrad", "struct Replay {\n  int a;\n};")
        self.assertEqual(
            list(tidy.check_names({"a/b.h": replay, "c/d.h": replay})),
            ["c/d.h:2: chakrad::Replay: a/b.h defines a type of this name as well"])
        for other in [header("chakrad", "struct Replay;"), header("client", "struct Replay {};x"),
                      header("chakrad", "enum class Replay : uint8_t;"),
                      header("chakrad", "struct Replay::Part {\n};"),
                      header("chakrad", "struct Outer {\n  struct Replay {\n  };\n};")]:
            self.assertEqual(list(tidy.check_names({"a/b.h": replay, "c/d.h": other})), [])
        self.assertEqual(list(tidy.check_names({"a/b.h": replay, "c/d.cc": replay})), [])

    def test_clang_finds_an_unguarded_access(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "common").mkdir()
            real = pathlib.Path(tidy.__file__).resolve().parent.parent / "common/mutex.h"
            (root / "common/mutex.h").write_text(real.read_text())
            template = ('#include "common/mutex.h"\nclass A {{\n  int F() {{{} return a_; }}\n'
                        "  chakrad::Mutex mutex_;\n  int a_ ABSL_GUARDED_BY(mutex_) = 0;\n}};\n")
            (root / "bad.cc").write_text(template.format(""))
            (root / "good.cc").write_text(template.format(" chakrad::MutexLock lock(&mutex_);"))
            texts = {path: (root / path).read_text() for path in tidy.source_files(root)}
            found = list(tidy.check_thread_safety(root, texts))
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("bad.cc:3: reading variable 'a_' requires"), found)


if __name__ == "__main__":
    unittest.main()
