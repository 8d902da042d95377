#include "apiserver/registry/object_meta.h"
#include "apiserver/server.h"
#include "base/env.h"
#include "base/version.h"

struct request *request_internal(struct apiserver *server, struct arena *arena, const struct resource *resource,
                                 const char *verb)
{
    struct request *request = ARENA_NEW(arena, struct request);
    struct http_exchange *exchange = ARENA_NEW(arena, struct http_exchange);
    struct user *user = ARENA_NEW(arena, struct user);
    const struct kind *kind = resource->kind;

    exchange->arena = arena;
    http_header_add(arena, &exchange->headers, STR("user-agent"), STR("kube-apiserver/" GIT_VERSION));
    user->name = STR("system:apiserver");
    str_list_add(arena, &user->groups, STR(GROUP_MASTERS));
    str_list_add(arena, &user->groups, STR(GROUP_AUTHENTICATED));
    *request = (struct request){.server = server,
                                .exchange = exchange,
                                .arena = arena,
                                .user = user,
                                .resource = resource,
                                .audit_id = object_meta_new_uid(arena),
                                .start = env_wall()};
    request->info = (struct request_info){.is_resource = true,
                                          .verb = str_of(verb),
                                          .prefix = kind->group.n == 0 ? STR("api") : STR("apis"),
                                          .group = kind->group,
                                          .version = kind->version,
                                          .resource = kind->plural};
    return request;
}
