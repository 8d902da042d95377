#include "test.h"

#include "base/limits.h"
#include "schema/cri_v1.h"
#include "schema/etcd_v3.h"
#include "schema/meta_v1.h"
#include "schema/protobuf.h"

#include <string.h>

static struct str encoded(struct arena *arena, const struct type *type, const void *object)
{
    OWNED(buf_done) struct buf out = {0};

    protobuf_encode(type, object, &out);
    return arena_str(arena, buf_str(&out));
}

TEST("schema/protobuf/varints come back, and short or endless ones do not")
{
    static const uint64_t values[] = {0, 1, 127, 128, 300, 16383, 16384, UINT32_MAX, INT64_MAX, UINT64_MAX};

    for (size_t i = 0; i < COUNT_OF(values); i++) {
        OWNED(buf_done) struct buf out = {0};
        uint64_t got;

        protobuf_add_varint(&out, values[i]);
        struct str bytes = buf_str(&out), cut = str_sub(bytes, 0, bytes.n - 1);

        CHECK(!protobuf_take_varint(&cut, &got));
        CHECK_INT(cut.n, bytes.n - 1);
        CHECK(protobuf_take_varint(&bytes, &got) && got == values[i] && bytes.n == 0);
    }
    struct str endless = STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    uint64_t got;

    CHECK(!protobuf_take_varint(&endless, &got));
}

TEST("schema/protobuf/API types show zero scalars, nil bytes and pointers not")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct meta_v1_owner_reference owner = {.name = STR("a")};

    CHECK(str_eq(encoded(arena, &meta_v1_owner_reference_type, &owner), STR("\x0a\0\x1a\x01" "a" "\x22\0\x2a\0")));
}

TEST("schema/protobuf/times are seconds, and empty messages when not set")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct meta_v1_object_meta meta = {0}, back = {0};

    meta.creation_timestamp = (struct timestamp){1234567890, 987654321, true};
    struct str bytes = encoded(arena, &meta_v1_object_meta_type, &meta);

    CHECK(str_contains(bytes, STR("\x42\x08\x08\xd2\x85\xd8\xcc\x04\x10\0")));
    CHECK_OK(protobuf_decode(arena, &meta_v1_object_meta_type, bytes, &back));
    CHECK(back.creation_timestamp.is_set && back.creation_timestamp.seconds == 1234567890);
    CHECK_INT(back.creation_timestamp.nanos, 0);
    meta.creation_timestamp.is_set = false;
    CHECK(str_contains(encoded(arena, &meta_v1_object_meta_type, &meta), STR("\x42\0")));
}

TEST("schema/protobuf/proto3 leaves zeros out and reads numbers packed or not")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct etcd_v3_watch_create_request zero = {0}, request = {.key = STR("k")}, back = {0};
    int32_t filters[] = {0, 1, 300};

    CHECK_INT(encoded(arena, &etcd_v3_watch_create_request_type, &zero).n, 0);
    request.filters.items = filters;
    request.filters.len = 3;
    CHECK(str_eq(encoded(arena, &etcd_v3_watch_create_request_type, &request),
                 STR("\x0a\x01k\x2a\x04\x00\x01\xac\x02")));
    CHECK_OK(protobuf_decode(arena, &etcd_v3_watch_create_request_type, STR("\x28\x07\x2a\x02\x01\x02\x28\x09"), &back));
    CHECK_INT(back.filters.len, 4);
    CHECK(back.filters.items[0] == 7 && back.filters.items[1] == 1 && back.filters.items[2] == 2);
    CHECK_INT(back.filters.items[3], 9);
}

TEST("schema/protobuf/the last member of a proto3 union counts")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct etcd_v3_compare compare = {0};

    CHECK_OK(protobuf_decode(arena, &etcd_v3_compare_type, STR("\x10\x02\x20\x05\x30\x00"), &compare));
    CHECK(compare.version == NULL && compare.mod_revision != NULL && *compare.mod_revision == 0);
    CHECK_INT(compare.target, 2);
    CHECK(str_eq(encoded(arena, &etcd_v3_compare_type, &compare), STR("\x10\x02\x30\x00")));
}

TEST("schema/protobuf/messages that come in parts are merged, lists appended")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_run_pod_sandbox_request request = {0};

    /* config{metadata{name: a}}, config{metadata{uid: b}, hostname: h}, an unknown group, runtime_handler */
    CHECK_OK(protobuf_decode(arena, &cri_v1_run_pod_sandbox_request_type,
                             STR("\x0a\x05\x0a\x03\x0a\x01" "a" "\x0a\x08\x0a\x03\x12\x01" "b" "\x12\x01h"
                                 "\x9b\x06\x08\x01\x0b\x0c\x9c\x06" "\x12\x01r"),
                             &request));
    CHECK_STR(request.config->metadata->name, "a");
    CHECK_STR(request.config->metadata->uid, "b");
    CHECK_STR(request.config->hostname, "h");
    CHECK_STR(request.runtime_handler, "r");
}

TEST("schema/protobuf/maps are sorted and the last value of a key counts")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct meta_v1_object_meta meta = {0};

    CHECK_OK(protobuf_decode(arena, &meta_v1_object_meta_type,
                             STR("\x5a\x06\x0a\x01" "b" "\x12\x01" "1" "\x5a\x06\x0a\x01" "a" "\x12\x01" "2"
                                 "\x5a\x06\x12\x01" "3" "\x0a\x01" "b" "\x5a\x03\x0a\x01" "c"),
                             &meta));
    CHECK_INT(meta.labels.len, 3);
    CHECK_STR(meta.labels.items[0].key, "a");
    CHECK_STR(meta.labels.items[0].value, "2");
    CHECK_STR(meta.labels.items[1].value, "3");
    CHECK_STR(meta.labels.items[2].value, "");
}

TEST("schema/protobuf/bad input is refused in gogo's words")
{
    static const struct {
        struct str bytes;
        const char *message;
    } rows[] = {
        {STR_INIT("\x0c"), "proto: ObjectMeta: wiretype end group for non-group"},
        {STR_INIT("\x02"), "proto: ObjectMeta: illegal tag 0 (wire type 2)"},
        {STR_INIT("\x08\x01"), "proto: wrong wireType = 0 for field Name"},
        {STR_INIT("\x58\x01"), "proto: wrong wireType = 0 for field Labels"},
        {STR_INIT("\x0a\x05" "abc"), "unexpected EOF"},
        {STR_INIT("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "proto: negative length found"},
        {STR_INIT("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "proto: integer overflow"},
        {STR_INIT("\x9b\x06\x08"), "unexpected EOF"},
        {STR_INIT("\x9f\x06"), "proto: illegal wireType"},
        {STR_INIT("\x42\x02\x08\xff"), "unexpected EOF"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct meta_v1_object_meta meta = {0};

        CHECK_ERROR(protobuf_decode(arena, &meta_v1_object_meta_type, rows[i].bytes, &meta), rows[i].message);
    }
}

TEST("schema/protobuf/short input cannot take memory without end")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf bytes = {0};
    struct meta_v1_object_meta meta = {0};

    for (size_t i = 0; i < LIMIT_REQUEST_BODY_BYTES / 2; i++) {
        buf_add(&bytes, "\x6a\0", 2); /* an empty owner reference */
    }
    CHECK_ERROR(protobuf_decode(arena, &meta_v1_object_meta_type, buf_str(&bytes), &meta), "too much memory");
}

TEST("schema/protobuf/envelopes and long messages")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf out = {0};
    struct meta_v1_object_meta meta = {0}, back = {0};
    struct protobuf_envelope envelope;

    for (size_t i = 0; i < 1000; i++) {
        *LIST_ADD(arena, &meta.finalizers) = arena_printf(arena, "finalizer-%zu", i);
    }
    buf_add(&out, "before", 6);
    protobuf_envelope_write(&meta_v1_object_meta_type, &meta, STR("v1"), STR("Meta"), &out);
    CHECK(str_has_prefix(buf_str(&out), STR("before" "k8s\0\x0a\x0a\x0a\x02v1\x12\x04Meta\x12")));
    struct str bytes = str_from(buf_str(&out), 6);

    CHECK_OK(protobuf_envelope_read(bytes, &envelope));
    CHECK_STR(envelope.api_version, "v1");
    CHECK_STR(envelope.kind, "Meta");
    CHECK_STR(envelope.content_type, "");
    CHECK_OK(protobuf_decode(arena, &meta_v1_object_meta_type, envelope.raw, &back));
    CHECK_INT(back.finalizers.len, 1000);
    CHECK_STR(back.finalizers.items[999], "finalizer-999");
    CHECK(str_eq(encoded(arena, &meta_v1_object_meta_type, &back), envelope.raw));
    CHECK_ERROR(protobuf_envelope_read(STR("k8s"), &envelope), "does not appear to be a protobuf message");
    CHECK_ERROR(protobuf_envelope_read(str_sub(bytes, 0, bytes.n - 1), &envelope), "unexpected EOF");
}
