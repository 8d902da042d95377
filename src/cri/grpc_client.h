/* A gRPC client over an HTTP/2 client made elsewhere: simulation, tests, TCP. */
#ifndef CRI_GRPC_CLIENT_H
#define CRI_GRPC_CLIENT_H

#include "cri/grpc.h"

/* Takes the HTTP client. */
struct grpc_client *grpc_client_over(struct http_client *http);

#endif
