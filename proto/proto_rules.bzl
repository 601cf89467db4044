"""C++ code from .proto files with the system's protoc.

protoc, its plugin and the runtime all come from Debian's packages, so they
cannot differ in version; nothing generated is committed.
"""

def chakrad_proto_library(
        name,
        src,
        deps = [],
        grpc = False,
        import_root = "proto",
        visibility = None):
    """A cc_library of the messages (and, with grpc, the stubs) of one .proto file.

    Args:
      name: of the library.
      src: one .proto file of this package.
      deps: other chakrad_proto_library targets that src imports.
      grpc: whether src declares a service.
      import_root: the folder that import paths, and the #include of the header, are
        relative to; "" for the repository.
      visibility: as everywhere.
    """
    stem = src[:-len(".proto")]
    package = native.package_name()
    outs = [stem + ".pb.h", stem + ".pb.cc"]
    command = "protoc -I{0} --cpp_out=$(GENDIR)/{0} ".format(import_root or ".")
    if grpc:
        outs += [stem + ".grpc.pb.h", stem + ".grpc.pb.cc"]
        command += "--grpc_out=$(GENDIR)/{0} --plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin ".format(
            import_root or ".",
        )
    native.filegroup(
        name = name + "_proto_src",
        srcs = [src] + [dep + "_proto_src" for dep in deps],
        visibility = ["//visibility:public"],
    )
    native.genrule(
        name = name + "_gen",
        srcs = [name + "_proto_src"],
        outs = outs,
        cmd = command + package + "/" + src,
    )
    native.cc_library(
        name = name,
        srcs = [out for out in outs if out.endswith(".cc")],
        hdrs = [out for out in outs if out.endswith(".h")],
        copts = ["-Wno-unused-parameter"],
        # As in the .proto files themselves: with "proto" the header is
        # "chakrad/v1/trace.pb.h".
        strip_include_prefix = "/" + import_root if import_root else None,
        deps = deps + ["//third_party:protobuf"] + (["//third_party:grpc"] if grpc else []),
        visibility = visibility,
    )
