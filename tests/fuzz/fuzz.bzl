"""A fuzz target in three forms: the library, a test of seeded mutations that
every run of the tests includes, and libFuzzer's binary (tools/fuzz builds it)."""

def reader_fuzz(name, deps):
    native.cc_library(
        name = name + "_fuzz",
        testonly = True,
        srcs = [
            "fuzz_entry.cc",
            name + "_fuzz.cc",
        ],
        hdrs = ["fuzz_target.h"],
        alwayslink = True,
        deps = deps + [
            "//common:check",
            "//third_party:absl",
        ],
    )
    native.cc_test(
        name = name + "_mutations_test",
        srcs = ["mutations_test.cc"],
        deps = [
            ":" + name + "_fuzz",
            "//third_party:gtest_main",
        ],
    )
    native.cc_binary(
        name = name + "_seeds",
        testonly = True,
        srcs = ["seeds_main.cc"],
        tags = ["manual"],
        deps = [":" + name + "_fuzz"],
    )
    native.cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = [":" + name + "_fuzz"],
    )
