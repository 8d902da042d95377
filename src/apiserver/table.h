/* Objects as rows of a table (what `kubectl get` asks for), and as their metadata alone. */
#ifndef APISERVER_TABLE_H
#define APISERVER_TABLE_H

#include "apiserver/request.h"
#include "base/buf.h"
#include "schema/meta_v1.h"

/* What of the object comes with its row (includeObject). */
enum table_include { TABLE_INCLUDE_METADATA, TABLE_INCLUDE_NONE, TABLE_INCLUDE_OBJECT };

struct table_writer {
    struct request *request;
    const struct kind *kind;
    enum table_include include;
    size_t rows;
    struct buf *out;
};

/* BAD_REQUEST when includeObject is none of those known. */
MUST_USE struct status *table_writer_begin(struct table_writer *table, struct request *request, const struct kind *kind,
                                    const struct meta_v1_list_meta *meta, bool has_columns,
                                           struct buf *out);
MUST_USE struct status *table_writer_row(struct table_writer *table, const void *object);
void table_writer_end(struct table_writer *table);

/* A table with the one row. */
MUST_USE struct status *table_of_object(struct request *request, const struct kind *kind, const void *object,
                                        struct buf *out);
/* The same for an event of a watch; only the first table of a watch has columns. */
MUST_USE struct status *table_of_event(struct request *request, const struct kind *kind, const void *object,
                                       bool has_columns, struct buf *out);
/* The object's PartialObjectMetadata, typed, in the request's item media. */
void partial_of_object(struct request *request, const void *object, struct buf *out);
/* "meta.k8s.io/v1": the version asked for. */
struct str table_api_version(const struct request *request);

#endif
