// Stores a trace, an upload and a job in the folder named, says so on stdout, and
// goes on writing chunks until it is killed. For open_test.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "storage/open.h"
#include "trace/codec/rank_generator.h"

namespace chakrad {
namespace {

// Never returns.
void WriteUntilKilled(const std::string& data_dir) {
  auto stores = OpenRocksStores({.data_dir = data_dir, .reserve_bytes = 0});
  CHECK(stores.ok()) << stores.status();
  TraceInfo info;
  info.id = "t";
  absl::Status status = stores->traces->Put(RandomTrace(1, 3, 500), info);
  CHECK(status.ok()) << status;
  UploadRecord upload;
  upload.id = "u";
  CHECK(stores->uploads->Create(upload).ok());
  CHECK(stores->uploads->Append("u", "a.json", 0, "committed").ok());
  CHECK(stores->uploads->Commit("u").ok());
  CHECK(stores->uploads->Append("u", "a.json", 9, " and not").ok());
  JobRecord job;
  job.id = "j";
  job.spec = "spec";
  CHECK(stores->jobs->Create(job).ok());
  std::puts("stored");
  std::fflush(stdout);
  for (uint64_t i = 2;; ++i) {
    info.id = absl::StrCat("t-", i);
    status = stores->traces->Put(RandomTrace(i, 3, 500), info);
    CHECK(status.ok()) << status;
  }
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  CHECK(argc == 2);
  chakrad::WriteUntilKilled(argv[1]);
}
