#include "server/rpc/retention_service.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chakrad/v1/retention.grpc.pb.h"
#include "common/status.h"
#include "common/utf8.h"
#include "server/rpc/convert_card.h"
#include "server/rpc/serve.h"

namespace chakrad {
namespace {

using DecisionStream = grpc::ServerWriter<v1::RetentionDecision>;

void ToProto(const RetentionPolicies& policies, v1::RetentionPolicies* proto) {
  for (const RetentionPolicy& policy : policies.policies) {
    v1::RetentionPolicy* const out = proto->add_policies();
    out->set_name(policy.name);
    out->set_filter(ValidUtf8(policy.filter.ToString()));
    for (const std::string& label : policy.group_by) out->add_group_by(ValidUtf8(label));
    out->set_keep_newest(static_cast<int32_t>(std::min<int64_t>(policy.keep_newest, INT32_MAX)));
    out->set_keep_for_seconds(policy.keep_for_ns / 1'000'000'000);
    out->set_keep_one_a_day(policy.keep_one_a_day);
    out->set_keep_representative(static_cast<int32_t>(policy.keep_representative));
    out->set_max_bytes(policy.max_bytes);
  }
  proto->set_yaml(ValidUtf8(policies.yaml));
}

void ToProto(const RetentionDecision& decision, bool deleted, const std::string& reason,
             v1::RetentionDecision* proto) {
  ToSummaryProto(*decision.card, proto->mutable_trace());
  proto->set_deleted(deleted);
  proto->set_held(decision.held);
  proto->set_reason(ValidUtf8(reason));
  if (deleted) proto->set_freed_bytes(decision.card->stored_bytes);
}

absl::Status StreamPlan(RetentionManager* retention, const v1::PlanRetentionRequest& request,
                        DecisionStream* stream) {
  std::optional<std::string> yaml;
  if (!request.yaml().empty()) yaml = request.yaml();
  ASSIGN_OR_RETURN(const RetentionPlan plan, retention->Plan(yaml));
  for (const RetentionDecision& decision : plan.decisions) {
    if (!decision.goes && !decision.held && !request.with_kept()) continue;
    v1::RetentionDecision response;
    ToProto(decision, decision.goes, decision.reason, &response);
    if (!stream->Write(response)) return absl::CancelledError("the caller went away");
  }
  return absl::OkStatus();
}

absl::Status StreamRun(RetentionManager* retention, const v1::RunRetentionRequest& request,
                       grpc::ServerContext* context, DecisionStream* stream) {
  // Told when all is done: a caller that does not read must not hold the run up.
  std::vector<RetentionOutcome> outcomes;
  const absl::Status status =
      retention->Run(request.trust_clock(), [&](const RetentionOutcome& outcome) {
        outcomes.push_back(outcome);
        return !context->IsCancelled();
      });
  for (const RetentionOutcome& outcome : outcomes) {
    v1::RetentionDecision response;
    ToProto(outcome.decision, outcome.deleted, outcome.reason, &response);
    if (!stream->Write(response)) return absl::CancelledError("the caller went away");
  }
  return status;
}

class RetentionService : public v1::RetentionService::Service {
 public:
  RetentionService(RetentionManager* retention, Metrics* metrics)
      : retention_(retention), metrics_(metrics) {}

  grpc::Status GetRetention(grpc::ServerContext*, const v1::GetRetentionRequest*,
                            v1::RetentionPolicies* response) override {
    return Serve(metrics_, "GetRetention", [&]() -> absl::Status {
      ASSIGN_OR_RETURN(const auto policies, retention_->Get());
      ToProto(*policies, response);
      return absl::OkStatus();
    });
  }
  grpc::Status SetRetention(grpc::ServerContext*, const v1::SetRetentionRequest* request,
                            v1::RetentionPolicies* response) override {
    return Serve(metrics_, "SetRetention", [&]() -> absl::Status {
      ASSIGN_OR_RETURN(const auto policies, retention_->Set(request->yaml()));
      ToProto(*policies, response);
      return absl::OkStatus();
    });
  }
  grpc::Status PlanRetention(grpc::ServerContext*, const v1::PlanRetentionRequest* request,
                             DecisionStream* stream) override {
    return Serve(metrics_, "PlanRetention",
                 [&] { return StreamPlan(retention_, *request, stream); });
  }
  grpc::Status RunRetention(grpc::ServerContext* context, const v1::RunRetentionRequest* request,
                            DecisionStream* stream) override {
    return Serve(metrics_, "RunRetention",
                 [&] { return StreamRun(retention_, *request, context, stream); });
  }

 private:
  RetentionManager* const retention_;
  Metrics* const metrics_;
};

}  // namespace

std::unique_ptr<grpc::Service> NewRetentionService(RetentionManager* retention, Metrics* metrics) {
  return std::make_unique<RetentionService>(retention, metrics);
}

}  // namespace chakrad
