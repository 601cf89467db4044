// Host threads that wait for communication of worker threads (gloo), and for
// each other. A wait leaves no operation in a trace: it shows as time in which a
// thread does nothing, or sits in the operation that communicates.
//
// Charging that time as compute would be wrong as soon as the network changes;
// so would taking for a wait what merely overlaps: most gradient buckets finish
// somewhere in backward. The rules, for a communication C that thread T
// launched at t, in order:
//  1. Blocking call: no operation of T started between the end of C's launching
//     call and the end of C. T's next operation waits for C; [t, end of C) is
//     waiting. Not for a call under AccumulateGrad: DDP's are asynchronous, and
//     a small bucket may be done before the next operation by luck.
//  2. Exposed wait: C ends while T is idle, or in the very operation from which
//     C was launched, after T has done nothing for kMinExposedNs, and T goes on
//     within a third of that time. T's next operation waits for C; from T's last
//     activity to C's end is waiting.
//  3. Consumer: otherwise, the first operation of T that starts after C's end and
//     works on C's buffer (execution traces tell which) waits for C. If it ends
//     the pause in which C ended, that pause up to C's end is waiting, however
//     late T woke up. Else the wait took no time in this run, and would on a
//     slower network.
//  4. Phase: otherwise, T's first operation after the innermost mark around the
//     call that ends after C does waits for C: marks bracket forward, backward, step.
// A recorder that stops right after the last step may lose C's end (4 of 36 recorded ranks of
// training runs). Where T's other communication ran on worker threads, the first operation after
// the call that works on C's buffer waits for C, and a pause of kMinExposedNs or more before it is
// waiting; else rule 4.
// Without any of these nothing waits for C; a notice says how many.
//
// Measured on 836 gloo communications of nine sets of runs on 1 to 4 ranks: 364 blocking,
// 298 exposed, 174 by consumer, none without a waiter. collected_test.cc checks
// the rules by their use: the graph of one run, with the communication times of
// another on a far slower network, must take as long as that one did.
#ifndef CHAKRAD_TRACE_LINK_WAITS_H_
#define CHAKRAD_TRACE_LINK_WAITS_H_

#include "trace/link/link_graph.h"

namespace chakrad {

// Python between two operations takes 10 to 50 us here, seldom 100: a
// communication that happens to end in so short a pause is not a wait.
inline constexpr int64_t kMinExposedNs = 200'000;
// A worker thread wakes the waiting one and only then notes the end of a
// communication, so T may go on before the recorded end: 26 of 836 recorded
// communications did, by up to 4.3 ms on busy machines.
inline constexpr int64_t kMaxLateNs = 5'000'000;

struct CommWaitCounts {
  int64_t comm_count = 0;  // Communication of worker threads, with times.
  int64_t blocking_count = 0;
  int64_t exposed_count = 0;
  int64_t consumer_count = 0;
  int64_t mark_count = 0;
  int64_t lost_count = 0;  // Without times; not in comm_count.
  int64_t none_count = 0;
};

// Adds kSync edges and LinkGraph::waits by the rules above.
// O(nodes log nodes + argument text of the calling threads' operations).
CommWaitCounts AddCommWaits(LinkGraph* graph);

// autograd runs backward on a thread of its own, and the thread that called it
// waits until it is done. After a pause of an autograd thread its next operation
// waits for the calling thread's last one; the calling thread's next operation
// waits for the last of a run of autograd operations that lies in its pause.
// Adds kSync edges and LinkGraph::waits. O(nodes log nodes).
void AddAutogradWaits(LinkGraph* graph);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_WAITS_H_
