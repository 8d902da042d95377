/* /healthz, /livez, /readyz and /version. */
#ifndef APISERVER_HEALTH_H
#define APISERVER_HEALTH_H

struct apiserver;

void health_open(struct apiserver *server);

#endif
