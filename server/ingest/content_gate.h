// One at a time for each content hash: whoever stores a content looks for a stored
// trace first, and nobody else stores the same between the look and the store.
#ifndef CHAKRAD_SERVER_INGEST_CONTENT_GATE_H_
#define CHAKRAD_SERVER_INGEST_CONTENT_GATE_H_

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "common/mutex.h"

namespace chakrad {

// Thread-safe. Must outlive what Enter returns.
class ContentGate {
 public:
  class Hold {
   public:
    Hold(ContentGate* gate, std::string hash) : gate_(gate), hash_(std::move(hash)) {}
    ~Hold() { gate_->Leave(hash_); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    ContentGate* const gate_;
    const std::string hash_;
  };

  // Waits until nobody else holds `hash`.
  std::unique_ptr<Hold> Enter(const std::string& hash) {
    MutexLock lock(&mutex_);
    while (!held_.insert(hash).second) changed_.Wait(&mutex_);
    return std::make_unique<Hold>(this, hash);
  }

 private:
  void Leave(const std::string& hash) {
    MutexLock lock(&mutex_);
    held_.erase(hash);
    changed_.NotifyAll();
  }

  Mutex mutex_;
  CondVar changed_;
  std::set<std::string> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace chakrad

#endif  // CHAKRAD_SERVER_INGEST_CONTENT_GATE_H_
