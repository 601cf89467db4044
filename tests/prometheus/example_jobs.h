// A daemon with something of everything that dashboards show: jobs with several traces, what-ifs,
// refused and broken uploads, requests that fail, analyses.
#ifndef CHAKRAD_TESTS_PROMETHEUS_EXAMPLE_JOBS_H_
#define CHAKRAD_TESTS_PROMETHEUS_EXAMPLE_JOBS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/e2e/run_chakra.h"
#include "tests/e2e/test_server.h"

namespace chakrad {

struct ExampleJob {
  std::map<std::string, std::string> labels;  // Of its traces and its series.
  std::vector<std::string> traces;            // "traces/{id}", oldest recording first.
};

struct ExampleJobs {
  ExampleJob pretrain;   // Cluster a: a Transformer, data and tensor parallel; five traces.
  ExampleJob recommend;  // Cluster b: DLRM; two traces.
  ExampleJob nameless;   // No labels but rank_group; one trace.
};

// The bundled run as if it had begun at that time: the files as they are, but with an epoch.
std::map<std::string, std::string> RunAt(const std::string& folder, int64_t unix_ms);

// Uploads them, an hour apart, the newest an hour before `now_unix_ms`; simulates the newest of
// each, as recorded and with a what-if. CHECKs that all succeeds.
ExampleJobs UploadExampleJobs(TestServer* server, int64_t now_unix_ms);

// Every kind of request, among them ones that fail, so that what counts them moves.
void MakeTraffic(TestServer* server, const ExampleJobs& jobs);

// What `chakra analyze` says of it.
client::Json Analysis(const TestServer& server, const std::string& trace);

}  // namespace chakrad

#endif  // CHAKRAD_TESTS_PROMETHEUS_EXAMPLE_JOBS_H_
