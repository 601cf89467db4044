// Who waits for the device: the host in synchronising calls, streams for each
// other around collectives.
#ifndef CHAKRAD_TRACE_LINK_DEVICE_WAITS_H_
#define CHAKRAD_TRACE_LINK_DEVICE_WAITS_H_

#include "trace/link/link_graph.h"

namespace chakrad {

// Walks the runtime calls in time. Edges (all kSync):
//  - After a call that synchronises (stream, event, device, or a synchronous
//    copy) the thread's next host operation waits for the last operation
//    launched before the call on the stream (device: on every stream) that had
//    ended when the call returned. The stream is what a cuda_sync event tells,
//    else that of the thread's last launch. The call's time up to the awaited
//    end becomes a HostWait.
//  - A communication kernel waits for the last other kernel its thread launched
//    before: what ProcessGroupNCCL's event between the streams does.
//  - After a recorded wait for a collective (by sequence number), or a
//    cudaStreamWaitEvent outside of any communication call (in the order in
//    which the thread's collectives were launched: DDP waits for its buckets so),
//    the next other operation that the thread launches waits for that collective.
//  - A "Stream Wait Event" of Kineto's cuda_sync events: the waiting stream's
//    next operation waits for the last one launched on the other stream.
// O((calls + device operations) log).
void AddDeviceWaits(LinkGraph* graph);

}  // namespace chakrad

#endif  // CHAKRAD_TRACE_LINK_DEVICE_WAITS_H_
