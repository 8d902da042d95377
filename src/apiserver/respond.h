/* Answers: objects, lists, Status, plain text, in the form the client asked for. A handler answers once. */
#ifndef APISERVER_RESPOND_H
#define APISERVER_RESPOND_H

#include "apiserver/request.h"

/* Headers every answer has, with the content type. */
struct http_headers respond_headers(struct request *request, struct str content_type);
/* Takes the status and writes it as a Status object with its code. CANCELLED statuses are dropped. */
void respond_error(struct request *request, struct status *status);
/* The object as it is, its type set to `kind`; tables and partial metadata as asked for. */
MUST_USE struct status *respond_object(struct request *request, int code, const struct kind *kind, void *object);
MUST_USE struct status *respond_text(struct request *request, int code, struct str text);
MUST_USE struct status *respond_bytes(struct request *request, int code, struct str content_type, struct str bytes);

/* A Status object of an error, in the arena. */
struct meta_v1_status *status_object(struct arena *arena, const struct status *status);

#endif
