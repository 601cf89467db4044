// What a scrape costs: as many jobs as --metric_keys allows, each with the samples of a real
// trace, over HTTP. Prints time, size and memory.
//   bazel run -c opt //tests/bench:metrics_bench -- [KEYS] [SCRAPES]
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/check.h"
#include "server/http_server.h"
#include "server/series/latest_series.h"

namespace chakrad {
namespace {

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

// Of /proc/self/status, in MiB.
double MemoryMib(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    int64_t kib = 0;
    if (line.rfind(field, 0) != 0) continue;
    const size_t begin = line.find_first_of("0123456789"), end = line.find(" kB");
    if (absl::SimpleAtoi(line.substr(begin, end - begin), &kib)) {
      return static_cast<double>(kib) / 1024;
    }
  }
  return 0;
}

// 37 samples: 21 of one value, and four collectives with four each.
std::vector<MetricSample> SamplesOf(double seed) {
  std::vector<MetricSample> samples;
  for (int id = 0; id <= static_cast<int>(MetricId::kEndTimestampSeconds); ++id) {
    const MetricFamily& family = FamilyOf(static_cast<MetricId>(id));
    const double value = seed / (id + 3);
    if (family.labels.empty()) {
      samples.push_back({family.id, {}, value});
    } else if (family.labels.size() == 2) {
      for (const char* type : {"ALL_REDUCE", "ALL_GATHER", "REDUCE_SCATTER", "ALL_TO_ALL"}) {
        samples.push_back({family.id, {type, "le_16MiB"}, value});
      }
    } else if (family.id == MetricId::kIdleSeconds) {
      for (const char* cause : {"host_bound", "kernel_wait", "sync", "other"}) {
        samples.push_back({family.id, {cause}, value});
      }
    }
  }
  return samples;
}

// Reads the whole answer and throws it away; returns its bytes.
int64_t Scrape(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0);
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  CHECK(write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size()));
  std::vector<char> buffer(1 << 20);
  int64_t bytes = 0;
  for (ssize_t n; (n = read(fd, buffer.data(), buffer.size())) > 0;) bytes += n;
  close(fd);
  return bytes;
}

void Run(int keys_count, int scrapes_count) {
  LatestSeries latest(static_cast<size_t>(keys_count), int64_t{1} << 50);
  const double before_mib = MemoryMib("VmRSS:");
  auto begun = std::chrono::steady_clock::now();
  size_t samples_count = 0;
  for (int i = 0; i < keys_count; ++i) {
    SeriesRecord record;
    record.key = {absl::StrCat("cluster-", i % 10), absl::StrCat("pretrain-llama-70b-run-", i),
                  "llama-70b", "all"};
    const std::vector<MetricSample> samples = SamplesOf(i * 1.234567890123);
    samples_count = samples.size();
    CHECK(latest.Put(record, samples, 0));
  }
  std::printf("%d keys with %zu samples each: put in %.3f s, %.1f MiB\n", keys_count, samples_count,
              Seconds(begun), MemoryMib("VmRSS:") - before_mib);
  auto server = StartHttpServer("127.0.0.1:0", {{"/metrics", [&](const HttpRequest&) {
                                                   HttpResponse response;
                                                   response.stream = [&](const auto& write) {
                                                     latest.WriteText(0, write);
                                                   };
                                                   return response;
                                                 }}});
  CHECK(server.ok()) << server.status();
  std::vector<double> seconds;
  int64_t bytes = 0;
  for (int i = 0; i < scrapes_count; ++i) {
    begun = std::chrono::steady_clock::now();
    bytes = Scrape((*server)->port());
    seconds.push_back(Seconds(begun));
  }
  std::sort(seconds.begin(), seconds.end());
  std::printf("scrape: %.1f MiB, median %.3f s, worst %.3f s of %d; RSS %.1f MiB, peak %.1f MiB\n",
              static_cast<double>(bytes) / (1 << 20), seconds[seconds.size() / 2], seconds.back(),
              scrapes_count, MemoryMib("VmRSS:"), MemoryMib("VmHWM:"));
}

}  // namespace
}  // namespace chakrad

int main(int argc, char** argv) {
  int keys_count = 10'000, scrapes_count = 20;
  CHECK(argc < 2 || absl::SimpleAtoi(argv[1], &keys_count));
  CHECK(argc < 3 || absl::SimpleAtoi(argv[2], &scrapes_count));
  CHECK(keys_count > 0 && scrapes_count > 0);
  chakrad::Run(keys_count, scrapes_count);
  return 0;
}
