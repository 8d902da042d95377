#include "api/core_v1.h"
#include "controller/garbage_plan.h"
#include "fake_world.h"
#include "test.h"

enum { OWNERS_MAX = 2, DEPENDENTS_MAX = 2 };

#define T OWNER_THERE
#define W OWNER_WAITING
#define A OWNER_ABSENT
#define DELETED "'deletionTimestamp':'2023-01-01T00:00:00Z',"
#define META(more) "{'metadata':{" more "'name':'x','namespace':'d','uid':'x','resourceVersion':'7'"
#define OWNED_BY(list) ",'ownerReferences':[" list "]}}"
#define REF(uid) "{'apiVersion':'v1','kind':'ConfigMap','name':'" uid "','uid':'" uid "','blockOwnerDeletion':true}"
#define REF_TEXT(uid, blocks) \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"" uid "\",\"uid\":\"" uid "\",\"blockOwnerDeletion\":" blocks "}"
#define FINALIZERS(list) "'finalizers':[" list "],"
#define PATCH(name, uid, version, field) \
    "patch ConfigMap d/" name " {\"metadata\":{\"uid\":\"" uid "\",\"resourceVersion\":\"" version "\",\"" field "\":"

static const struct row {
    const char *what;
    const char *object;
    enum garbage_owner_state owners[OWNERS_MAX];
    const char *dependents[DEPENDENTS_MAX];
    const char *plan;
} rows[] = {
    {"without owners it stays", META("") "}}", {T, T}, {NULL}, ""},
    {"all owners are there", META("") OWNED_BY(REF("a") "," REF("b")), {T, T}, {NULL}, ""},
    {"no owner is left", META("") OWNED_BY(REF("a")), {A, T}, {NULL}, "delete ConfigMap d/x Background\n"},
    {"one of two owners is left",
     META("") OWNED_BY(REF("a") "," REF("b")),
     {A, T},
     {NULL},
     PATCH("x", "x", "7", "ownerReferences") "[" REF_TEXT("b", "true") "]}}\n"},
    {"an owner waits for it", META("") OWNED_BY(REF("a")), {W, T}, {NULL}, "delete ConfigMap d/x Background\n"},
    {"an owner waits, and it has dependents itself",
     META("") OWNED_BY(REF("a")),
     {W, T},
     {"{'metadata':{'name':'y','namespace':'d','uid':'y'" OWNED_BY(REF("x"))},
     "delete ConfigMap d/x Foreground\n"},
    {"an owner and a dependent wait for each other",
     META("") OWNED_BY(REF("a")),
     {W, T},
     {"{'metadata':{" DELETED FINALIZERS("'foregroundDeletion'") "'name':'y','namespace':'d','uid':'y'" OWNED_BY(REF("x"))},
     PATCH("x", "x", "7", "ownerReferences") "[" REF_TEXT("a", "false") "]}}\ndelete ConfigMap d/x Foreground\n"},
    {"one that orphans keeps to it",
     META(FINALIZERS("'orphan'")) OWNED_BY(REF("a")),
     {A, T},
     {NULL},
     "delete ConfigMap d/x Orphan\n"},
    {"being deleted already", META(DELETED) OWNED_BY(REF("a")), {A, T}, {NULL}, ""},
    {"its dependents are orphaned",
     META(DELETED FINALIZERS("'other','orphan'")) "}}",
     {T, T},
     {"{'metadata':{'name':'y','namespace':'d','uid':'y','resourceVersion':'8'" OWNED_BY(REF("x") "," REF("z"))},
     PATCH("y", "y", "8", "ownerReferences") "[" REF_TEXT("z", "true") "]}}\n"
     PATCH("x", "x", "7", "finalizers") "[\"other\"]}}\n"},
    {"it waits for a dependent that blocks it",
     META(DELETED FINALIZERS("'foregroundDeletion'")) "}}",
     {T, T},
     {"{'metadata':{'name':'y','namespace':'d','uid':'y'" OWNED_BY(REF("x"))},
     ""},
    {"no dependent blocks it any more",
     META(DELETED FINALIZERS("'foregroundDeletion'")) "}}",
     {T, T},
     {"{'metadata':{'name':'y','namespace':'d','uid':'y','ownerReferences':[{'uid':'x'}]}}"},
     PATCH("x", "x", "7", "finalizers") "[]}}\n"},
};

TEST("controller/garbage/what becomes of an object by its owners and dependents")
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fake_world fake;

        fake_world_init(&fake);
        struct garbage_item item = {.kind = &core_v1_config_map_kind, .owners = rows[i].owners};

        item.object = fake_world_decode(&fake, &core_v1_config_map_kind, rows[i].object);
        for (size_t n = 0; n < DEPENDENTS_MAX && rows[i].dependents[n] != NULL; n++) {
            *LIST_ADD(fake.arena, &item.dependents) = (struct garbage_dependent){
                &core_v1_config_map_kind,
                fake_world_decode(&fake, &core_v1_config_map_kind, rows[i].dependents[n])};
        }
        fake.plan = (struct plan){.arena = fake.arena};
        garbage_plan(&item, &fake.plan);
        struct str text = fake_world_plan_text(&fake);

        if (!str_is(text, rows[i].plan)) {
            test_fail(__FILE__, __LINE__, "%s:\ngot    %.*swanted %s", rows[i].what, STR_ARG(text), rows[i].plan);
        }
        fake_world_done(&fake);
    }
}
