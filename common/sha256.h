// SHA-256 as the content address of stored chunks and simulation inputs.
#ifndef CHAKRAD_COMMON_SHA256_H_
#define CHAKRAD_COMMON_SHA256_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace chakrad {

// Feeds bytes piece by piece. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void Update(absl::string_view bytes);
  // The 32 raw bytes of the digest. Call once.
  std::string Digest();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// The 32 raw bytes of the digest of `bytes`.
std::string Sha256Of(absl::string_view bytes);

}  // namespace chakrad

#endif  // CHAKRAD_COMMON_SHA256_H_
