/* Answers: objects, lists, Status, plain text, in the form the client asked for. A handler answers once. */
#ifndef APISERVER_RESPOND_H
#define APISERVER_RESPOND_H

#include "apiserver/request.h"
#include "base/buf.h"

struct meta_v1_status;

/* Headers every answer has, with the content type. */
struct http_headers respond_headers(struct request *request, struct str content_type);
/* Takes the status and writes it as a Status object with its code. CANCELLED statuses are dropped. */
void respond_error(struct request *request, struct status *status);
/* The object as it is, its type that of `kind`; as table or partial metadata when the client asked for that. */
MUST_USE struct status *respond_object(struct request *request, int code, const struct kind *kind, const void *object);
/* The object in no other form, such as a Status. */
MUST_USE struct status *respond_plain(struct request *request, int code, const struct kind *kind, const void *object);
/* 201 with a Status that says Success and nothing else: subresources that only do something. */
MUST_USE struct status *respond_created(struct request *request);
/* JSON text, or a protobuf body that is whole, made for request->accepted; `body` is used up. */
MUST_USE struct status *respond_encoded(struct request *request, int code, struct buf *body);
MUST_USE struct status *respond_text(struct request *request, int code, struct str text);
MUST_USE struct status *respond_bytes(struct request *request, int code, struct str content_type, struct str bytes);

/* The media type that items are made in for this request: JSON (for YAML too) or protobuf. */
enum media respond_item_media(const struct request *request);
bool respond_is_pretty(const struct request *request);

/* A Status object of an error, in the arena. */
struct meta_v1_status *status_object(struct arena *arena, const struct status *status);

#endif
