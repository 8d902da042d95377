#include "apiserver/table.h"

#include "api/apps_v1.h"
#include "api/custom_columns.h"
#include "apiserver/encode.h"
#include "apiserver/errors.h"
#include "apiserver/resource.h"
#include "apiserver/respond.h"
#include "schema/json.h"
#include "schema/json_lexer.h"
#include "schema/map_of.h"
#include "schema/object.h"
#include "schema/timestamp.h"

struct str table_api_version(const struct request *request)
{
    struct str version = request->accepted.transform_version;

    return arena_printf(request->arena, "meta.k8s.io/%.*s", STR_ARG(version.n != 0 ? version : STR("v1")));
}

static struct status *included(struct request *request, enum table_include *ret)
{
    struct str text = {0};

    *ret = TABLE_INCLUDE_METADATA;
    http_query_find(request->arena, request->exchange->query, STR("includeObject"), &text);
    if (str_is(text, "None")) {
        *ret = TABLE_INCLUDE_NONE;
    } else if (str_is(text, "Object")) {
        *ret = TABLE_INCLUDE_OBJECT;
    } else if (text.n != 0 && !str_is(text, "Metadata")) {
        return error_bad_request("unrecognized includeObject value: \"%.*s\"", STR_ARG(text));
    }
    return NULL;
}

static void add_columns(struct arena *arena, const struct kind *kind, struct buf *out)
{
    struct table_columns columns = kind->custom != NULL ? custom_columns(arena, kind) : table_columns(kind);

    for (size_t i = 0; i < columns.len; i++) {
        const struct table_column *from = &columns.items[i];
        struct meta_v1_table_column_definition column = {.name = from->name,
                                                         .type = from->type,
                                                         .format = from->format,
                                                         .description = from->description,
                                                         .priority = from->priority};

        if (i != 0) {
            buf_add_char(out, ',');
        }
        json_encode(&meta_v1_table_column_definition_type, &column, out);
    }
}

struct status *table_writer_begin(struct table_writer *table, struct request *request, const struct kind *kind,
                           const struct meta_v1_list_meta *meta, bool has_columns, struct buf *out)
{
    *table = (struct table_writer){.request = request, .kind = kind, .out = out};
    TRY(included(request, &table->include));
    buf_add_str(out, STR("{\"kind\":\"Table\",\"apiVersion\":"));
    json_add_string(out, table_api_version(request));
    buf_add_str(out, STR(",\"metadata\":"));
    json_encode(&meta_v1_list_meta_type, meta, out);
    buf_add_str(out, has_columns ? STR(",\"columnDefinitions\":[") : STR(",\"columnDefinitions\":null"));
    if (has_columns) {
        add_columns(request->arena, kind, out);
        buf_add_char(out, ']');
    }
    buf_add_str(out, STR(",\"rows\":["));
    return NULL;
}

static void row_object(struct table_writer *table, const void *object)
{
    const struct kind *kind = table->kind;
    OWNED(buf_done) struct buf item = {0};

    switch (table->include) {
    case TABLE_INCLUDE_NONE:
        buf_add_str(table->out, STR("null"));
        break;
    case TABLE_INCLUDE_METADATA:
        partial_of_object(table->request, object, table->out);
        break;
    case TABLE_INCLUDE_OBJECT:
        json_encode(kind->type, object, &item);
        encode_typed(MEDIA_JSON, kind->api_version, kind->kind, buf_str(&item), table->out);
        break;
    }
}

/* What stock says about a pod that has ended, so that clients may leave it out. */
static void row_condition(const struct table_row *row, struct buf *out)
{
    struct meta_v1_table_row_condition condition = {.type = STR("Completed"),
                                                    .status = STR("True"),
                                                    .reason = row->completed,
                                                    .message = row->completed_message};

    if (row->completed.n != 0) {
        buf_add_str(out, STR(",\"conditions\":["));
        json_encode(&meta_v1_table_row_condition_type, &condition, out);
        buf_add_char(out, ']');
    }
}

struct status *table_writer_row(struct table_writer *table, const void *object)
{
    struct table_row row = table_row(table->request->arena, table->kind, object, timestamp_now());

    buf_add_str(table->out, table->rows++ == 0 ? STR("{\"cells\":") : STR(",{\"cells\":"));
    value_write_json(table->out, row.cells, 0);
    row_condition(&row, table->out);
    buf_add_str(table->out, STR(",\"object\":"));
    row_object(table, object);
    buf_add_char(table->out, '}');
    return NULL;
}

void table_writer_end(struct table_writer *table)
{
    buf_add_str(table->out, STR("]}"));
}

struct status *table_of_event(struct request *request, const struct kind *kind, const void *object, bool has_columns,
                              struct buf *out)
{
    struct table_writer table;
    struct meta_v1_list_meta meta = {0};

    if ((kind->type->flags & TYPE_OBJECT) == 0) {
        return status_new(STATUS_NOT_ACCEPTABLE, "the server could not convert %.*s to a table", STR_ARG(kind->kind));
    }
    meta.resource_version = ((const struct object *)object)->metadata.resource_version;
    TRY(table_writer_begin(&table, request, kind, &meta, has_columns, out));
    TRY(table_writer_row(&table, object));
    table_writer_end(&table);
    return NULL;
}

struct status *table_of_object(struct request *request, const struct kind *kind, const void *object, struct buf *out)
{
    return table_of_event(request, kind, object, true, out);
}

void partial_of_object(struct request *request, const void *object, struct buf *out)
{
    enum media media = respond_item_media(request);
    struct meta_v1_partial_object_metadata partial = {.metadata = ((const struct object *)object)->metadata};

    if (request->resource != NULL && request->resource->kind == &apps_v1_daemon_set_kind) {
        /* it is a field of the object, which its versions show as an annotation */
        partial.metadata.annotations = str_map_copy(request->arena, &partial.metadata.annotations);
        str_map_remove(&partial.metadata.annotations, STR("deprecated.daemonset.template.generation"));
    }
    OWNED(buf_done) struct buf item = {0};

    encode_item(media, &meta_v1_partial_object_metadata_type, &partial, &item);
    encode_typed(media, table_api_version(request), STR("PartialObjectMetadata"), buf_str(&item), out);
}
