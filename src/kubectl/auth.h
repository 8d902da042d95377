/* kubectl auth can-i --list. */
#ifndef KUBECTL_AUTH_H
#define KUBECTL_AUTH_H

#include "kubectl/kubectl.h"

/* Prints all that the user may do in the namespace. */
MUST_USE struct status *auth_list(struct kubectl *k, bool no_headers);

#endif
