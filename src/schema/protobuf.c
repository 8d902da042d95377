#include "schema/protobuf.h"

#include "schema/protobuf_wire.h"

void protobuf_add_varint(struct buf *out, uint64_t value)
{
    char *p = buf_reserve(out, 10);

    out->n += wire_put_varint(p, value);
}

bool protobuf_take_varint(struct str *bytes, uint64_t *ret)
{
    struct str rest = *bytes;

    if (wire_take_varint(&rest, ret) != WIRE_OK) {
        return false;
    }
    *bytes = rest;
    return true;
}

void protobuf_add_bytes(struct buf *out, uint32_t number, struct str bytes)
{
    protobuf_add_varint(out, (uint64_t)number << 3 | WIRE_BYTES);
    protobuf_add_varint(out, bytes.n);
    buf_add_str(out, bytes);
}

struct status *wire_error(enum wire_result result)
{
    switch (result) {
    case WIRE_OVERFLOW:
        return status_new(STATUS_BAD_REQUEST, "proto: integer overflow");
    case WIRE_BAD_LENGTH:
        return status_new(STATUS_BAD_REQUEST, "proto: negative length found during unmarshaling");
    case WIRE_END_GROUP:
        return status_new(STATUS_BAD_REQUEST, "proto: unexpected end of group");
    case WIRE_BAD_TYPE:
        return status_new(STATUS_BAD_REQUEST, "proto: illegal wireType");
    case WIRE_OK:
    case WIRE_SHORT:
        break;
    }
    return status_new(STATUS_BAD_REQUEST, "unexpected EOF");
}

enum wire_result wire_take_bytes(struct str *bytes, struct str *ret)
{
    uint64_t length;
    enum wire_result result = wire_take_varint(bytes, &length);

    if (result != WIRE_OK) {
        return result;
    }
    if (length > INT64_MAX) {
        return WIRE_BAD_LENGTH;
    }
    if (length > bytes->n) {
        return WIRE_SHORT;
    }
    *ret = (struct str){bytes->p, (size_t)length};
    bytes->p += length;
    bytes->n -= (size_t)length;
    return WIRE_OK;
}

static enum wire_result skip_fixed(struct str *bytes, size_t size)
{
    if (bytes->n < size) {
        return WIRE_SHORT;
    }
    bytes->p += size;
    bytes->n -= size;
    return WIRE_OK;
}

enum wire_result wire_skip(struct str *bytes, unsigned wire_type)
{
    for (size_t groups = 0;;) {
        uint64_t varint;
        struct str ignored;
        enum wire_result result = WIRE_OK;

        switch (wire_type) {
        case WIRE_VARINT:
            result = wire_take_varint(bytes, &varint);
            break;
        case WIRE_FIXED64:
            result = skip_fixed(bytes, 8);
            break;
        case WIRE_BYTES:
            result = wire_take_bytes(bytes, &ignored);
            break;
        case WIRE_GROUP:
            groups++;
            break;
        case WIRE_GROUP_END:
            result = groups-- > 0 ? WIRE_OK : WIRE_END_GROUP;
            break;
        case WIRE_FIXED32:
            result = skip_fixed(bytes, 4);
            break;
        default:
            result = WIRE_BAD_TYPE;
        }
        if (result != WIRE_OK || groups == 0) {
            return result;
        }
        result = wire_take_varint(bytes, &varint);
        if (result != WIRE_OK) {
            return result;
        }
        wire_type = varint & 7;
    }
}

/* Calls for every field of a message of bytes fields; false from `take` is ignored, as other fields are. */
static struct status *each_bytes_field(struct str message, void (*take)(void *arg, uint64_t number, struct str bytes),
                                       void *arg)
{
    while (message.n > 0) {
        uint64_t tag = 0;
        struct str bytes;
        enum wire_result result = wire_take_varint(&message, &tag);

        if (result == WIRE_OK && (tag & 7) == WIRE_BYTES) {
            result = wire_take_bytes(&message, &bytes);
            if (result == WIRE_OK) {
                take(arg, tag >> 3, bytes);
            }
        } else if (result == WIRE_OK) {
            result = wire_skip(&message, tag & 7);
        }
        if (result != WIRE_OK) {
            return wire_error(result);
        }
    }
    return NULL;
}

struct unknown {
    struct str type_meta;
    struct protobuf_envelope envelope;
};

static void take_unknown(void *arg, uint64_t number, struct str bytes)
{
    struct unknown *unknown = arg;

    switch (number) {
    case 1:
        unknown->type_meta = bytes;
        break;
    case 2:
        unknown->envelope.raw = bytes;
        break;
    case 3:
        unknown->envelope.content_encoding = bytes;
        break;
    case 4:
        unknown->envelope.content_type = bytes;
        break;
    default:
        break;
    }
}

static void take_type_meta(void *arg, uint64_t number, struct str bytes)
{
    struct unknown *unknown = arg;

    if (number == 1) {
        unknown->envelope.api_version = bytes;
    } else if (number == 2) {
        unknown->envelope.kind = bytes;
    }
}

struct status *protobuf_envelope_read(struct str bytes, struct protobuf_envelope *ret)
{
    struct unknown unknown = {0};

    if (!str_has_prefix(bytes, PROTOBUF_MAGIC)) {
        return status_new(STATUS_BAD_REQUEST, "provided data does not appear to be a protobuf message, expected prefix "
                                              "[107 56 115 0]");
    }
    TRY(each_bytes_field(str_from(bytes, PROTOBUF_MAGIC.n), take_unknown, &unknown));
    TRY(each_bytes_field(unknown.type_meta, take_type_meta, &unknown));
    *ret = unknown.envelope;
    return NULL;
}
