/* Leader election by a Lease, with stock's fields and times (15 s lease, 10 s renewal, 2 s retry). */
#ifndef CLIENT_LEADER_ELECTION_H
#define CLIENT_LEADER_ELECTION_H

#include "client/client.h"

struct leader_election_options {
    struct str namespace, name; /* of the Lease: kube-system, kube-controller-manager */
    struct str identity;
    int64_t lease_duration, renew_deadline, retry_period; /* ns; 0: stock's */
};

/* Parks until this identity leads, runs `lead` in a task, and renews meanwhile. When the lease is lost or the calling
 * task is cancelled, the task of `lead` is cancelled and waited for, the lease is released if still held, and the
 * call returns: NULL when cancelled, TIMEOUT when the lease was lost. */
MUST_USE struct status *leader_election_run(struct client *client, const struct leader_election_options *options,
                                            void (*lead)(void *arg), void *arg);

#endif
