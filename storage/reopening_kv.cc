#include "storage/reopening_kv.h"

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/status.h"

namespace chakrad {
namespace {

// How long running calls may keep the engine open. A scan of all manifests takes seconds.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kPoll{5};

class ReopeningKv : public Kv {
 public:
  ReopeningKv(std::unique_ptr<Kv> engine,
              std::function<absl::StatusOr<std::unique_ptr<Kv>>()> open_again)
      : open_again_(std::move(open_again)), engine_(std::move(engine)) {}

  absl::StatusOr<std::string> Get(Family family, absl::string_view key) override {
    ASSIGN_OR_RETURN(const std::shared_ptr<Kv> engine, Engine());
    return engine->Get(family, key);
  }

  absl::Status Write(const KvBatch& batch, bool sync) override {
    std::shared_ptr<Kv> engine = EngineOrNull();
    if (engine != nullptr) {
      const absl::Status status = engine->Write(batch, sync);
      if (!absl::IsDataLoss(status)) return status;
      RETURN_IF_ERROR(Close(std::move(engine), status));
    }
    RETURN_IF_ERROR(OpenAgain());
    // Refused before it was tried, so nothing of it is there.
    ASSIGN_OR_RETURN(engine, Engine());
    return engine->Write(batch, sync);
  }

  absl::Status Scan(
      Family family, const KvRange& range, ScanOrder order,
      const std::function<bool(absl::string_view, absl::string_view)>& visit) override {
    ASSIGN_OR_RETURN(const std::shared_ptr<Kv> engine, Engine());
    return engine->Scan(family, range, order, visit);
  }

  absl::Status Reclaim(Family family) override {
    {
      MutexLock lock(&mutex_);
      RETURN_IF_ERROR(damage_);
    }
    ASSIGN_OR_RETURN(const std::shared_ptr<Kv> engine, Engine());
    return engine->Reclaim(family);
  }

  absl::Status Checkpoint(const std::string& folder) override {
    ASSIGN_OR_RETURN(const std::shared_ptr<Kv> engine, Engine());
    return engine->Checkpoint(folder);
  }

  KvStats Stats() override {
    const std::shared_ptr<Kv> engine = EngineOrNull();
    return engine == nullptr ? KvStats() : engine->Stats();
  }

 private:
  std::shared_ptr<Kv> EngineOrNull() {
    MutexLock lock(&mutex_);
    return engine_;
  }

  absl::StatusOr<std::shared_ptr<Kv>> Engine() {
    std::shared_ptr<Kv> engine = EngineOrNull();
    if (engine != nullptr) return engine;
    return absl::UnavailableError("the engine is being opened again after damage; try again");
  }

  // Waits until nobody uses `broken`, which is then closed. OK also when another
  // thread has done so.
  absl::Status Close(std::shared_ptr<Kv> broken, const absl::Status& damage) {
    {
      MutexLock lock(&mutex_);
      if (engine_ != broken) return absl::OkStatus();
      engine_ = nullptr;
      damage_ = damage;
      closing_ = true;
    }
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (broken.use_count() > 1 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kPoll);
    }
    const bool alone = broken.use_count() == 1;
    if (alone) broken.reset();
    MutexLock lock(&mutex_);
    closing_ = false;
    if (alone) return absl::OkStatus();
    engine_ = std::move(broken);  // The next write tries again.
    return absl::UnavailableError("damage has stopped writes, and a long read keeps the engine");
  }

  absl::Status OpenAgain() {
    MutexLock lock(&mutex_);
    if (engine_ != nullptr) return absl::OkStatus();
    if (closing_) return absl::UnavailableError("the engine is being opened again after damage");
    auto opened = open_again_();
    if (!opened.ok()) return Annotate(opened.status(), "opening the engine again after damage");
    engine_ = *std::move(opened);
    return absl::OkStatus();
  }

  const std::function<absl::StatusOr<std::unique_ptr<Kv>>()> open_again_;
  Mutex mutex_;
  std::shared_ptr<Kv> engine_ ABSL_GUARDED_BY(mutex_);  // Null while it is closed.
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status damage_ ABSL_GUARDED_BY(mutex_);  // What stopped writes; OK: nothing did.
};

}  // namespace

std::unique_ptr<Kv> NewReopeningKv(
    std::unique_ptr<Kv> engine, std::function<absl::StatusOr<std::unique_ptr<Kv>>()> open_again) {
  return std::make_unique<ReopeningKv>(std::move(engine), std::move(open_again));
}

}  // namespace chakrad
