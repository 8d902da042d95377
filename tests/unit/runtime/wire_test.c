#include "runtime/plan.h"
#include "runtime/shim/protocol.h"
#include "test.h"

#include <string.h>

static void fill(struct container_plan *plan, struct process_plan *process, struct plan_mount *mounts,
                 struct str *args)
{
    args[0] = STR("sh");
    args[1] = STR("");
    args[2] = STR("exit 1234"); /* nine bytes: padding of seven */
    process->args.items = args;
    process->args.len = 3;
    process->has_uid = 1;
    process->groups.len = 2;
    mounts[0] = (struct plan_mount){.kind = PLAN_MOUNT_FS, .source = STR("proc"), .target = STR("/proc"), .flags = 14};
    mounts[1] = (struct plan_mount){.target = STR("/a")};
    plan->process.items = process;
    plan->process.len = 1;
    plan->mounts.items = mounts;
    plan->mounts.len = 2;
    plan->rootfs = STR("/r");
}

TEST("runtime/wire/a record comes back as it went")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf bytes = {0};
    struct container_plan plan = {0}, back;
    struct process_plan process = {0};
    struct plan_mount mounts[2];
    struct str args[3];

    fill(&plan, &process, mounts, args);
    process.groups.items = (uint64_t[]){7, 8};
    wire_encode(&container_plan_type, &plan, &bytes);
    CHECK_OK(wire_decode(&container_plan_type, buf_str(&bytes), arena, &back));
    CHECK_INT(back.process.len, 1);
    CHECK_INT(back.process.items->args.len, 3);
    CHECK_STR(back.process.items->args.items[0], "sh");
    CHECK_STR(back.process.items->args.items[1], "");
    CHECK_INT(strlen(back.process.items->args.items[2].p), 9);
    CHECK_INT(back.process.items->groups.items[1], 8);
    CHECK_INT(back.mounts.len, 2);
    CHECK_STR(back.mounts.items[0].target, "/proc");
    CHECK_INT(back.mounts.items[0].flags, 14);
    CHECK_STR(back.rootfs, "/r");
}

TEST("runtime/wire/unknown fields are left out, so old and new understand each other")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf bytes = {0};
    struct shim_request request = {.serial = 5, .verb = SHIM_START, .id = STR("abc"), .rows = 3}, back;
    static const struct wire_field fields[] = {WIRE_FIELD(shim_request, 3, WIRE_TEXT, id)};
    static const struct wire_type older = {"older", sizeof(struct shim_request), fields, 1};

    wire_encode(&shim_request_type, &request, &bytes);
    CHECK_OK(wire_decode(&older, buf_str(&bytes), arena, &back));
    CHECK_STR(back.id, "abc");
    CHECK_INT(back.serial, 0);
}

TEST("runtime/wire/damaged bytes are refused")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf bytes = {0};
    struct shim_request request = {.serial = 5, .id = STR("abc")}, back;

    wire_encode(&shim_request_type, &request, &bytes);
    for (size_t n = 1; n < bytes.n; n++) {
        struct status *status = wire_decode(&shim_request_type, str_sub(buf_str(&bytes), 0, n), arena, &back);

        if (n != 24) { /* a whole field */
            CHECK_ERROR(status, "cut short");
        } else {
            CHECK_OK(status);
        }
    }
    bytes.p[4] = 4; /* the number's size */
    CHECK_ERROR(wire_decode(&shim_request_type, buf_str(&bytes), arena, &back), "");
}
