#include "controller/accounts.h"

#include "api/authentication_v1.h"
#include "api/core_v1.h"
#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/task.h"

#include <stdlib.h>
#include <string.h>

#define NAMESPACE "kube-system"
/* What is asked for; a server may give less. */
#define TOKEN_SECONDS 3600
#define RETRY_FIRST (100 * ENV_MS)
#define RETRY_MAX (10 * ENV_SECOND)
/* A token that was refused is not asked for anew more often. */
#define REFUSED_WAIT (5 * ENV_SECOND)

struct account {
    struct accounts *accounts;
    const char *name;
    struct client *client;
    bool has_token, is_refused;
    struct cond changed;
};

struct accounts {
    struct component_clients clients;
    bool separate;
    VEC(struct account *) items;
    struct task_group tasks;
};

struct accounts *accounts_new(const struct component_clients *clients, bool separate)
{
    struct accounts *accounts = MEM_NEW(struct accounts);

    accounts->clients = *clients;
    accounts->separate = separate;
    task_group_init(&accounts->tasks);
    return accounts;
}

static struct account *account_get(struct accounts *accounts, const char *name)
{
    for (size_t i = 0; i < accounts->items.len; i++) {
        if (strcmp(accounts->items.items[i]->name, name) == 0) {
            return accounts->items.items[i];
        }
    }
    struct account *account = MEM_NEW(struct account);

    account->accounts = accounts;
    account->name = name;
    account->client = client_new_sharing(
        accounts->clients.bare, &(struct client_options){.user_agent = STR("kube-controller-manager")});
    cond_init(&account->changed);
    *VEC_ADD(&accounts->items) = account;
    return account;
}

struct client *accounts_client(struct accounts *accounts, const char *name)
{
    return accounts->separate ? account_get(accounts, name)->client : accounts->clients.own;
}

bool accounts_wait(struct accounts *accounts, const char *name)
{
    struct account *account = accounts->separate ? account_get(accounts, name) : NULL;

    while (account != NULL && !account->has_token) {
        if (!cond_wait(&account->changed, TASK_FOREVER)) {
            return false;
        }
    }
    return true;
}

void accounts_refused(struct accounts *accounts, const char *name)
{
    if (accounts->separate) {
        struct account *account = account_get(accounts, name);

        account->is_refused = true;
        cond_broadcast(&account->changed);
    }
}

static struct status *ask(struct account *account, struct arena *arena,
                          struct authentication_v1_token_request **ret_answer)
{
    struct authentication_v1_token_request request = {0};
    int64_t seconds = TOKEN_SECONDS;

    request.spec.expiration_seconds = &seconds;
    return client_create_sub(account->accounts->clients.own, &core_v1_service_account_kind, STR(NAMESPACE),
                             str_of(account->name), STR("token"), &authentication_v1_token_request_kind, &request,
                             arena, (void **)ret_answer);
}

static struct status *make_account(struct account *account, struct arena *arena)
{
    struct core_v1_service_account object = {
        .metadata = {.namespace = STR(NAMESPACE), .name = str_of(account->name)}};
    struct status *status = client_create(account->accounts->clients.own, &core_v1_service_account_kind, &object, NULL,
                                          arena, NULL);

    return status_free_if(&status, STATUS_ALREADY_EXISTS) ? NULL : status;
}

/* *ret_next: how long the token may be used without a thought. */
static struct status *renew(struct account *account, int64_t *ret_next)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct authentication_v1_token_request *answer;
    struct status *status = ask(account, arena, &answer);

    if (status != NULL && status_free_if(&status, STATUS_NOT_FOUND)) {
        TRY(make_account(account, arena));
        status = ask(account, arena, &answer);
    }
    if (status != NULL) {
        return status;
    }
    client_set_authorization(account->client, arena_printf(arena, "Bearer %.*s", STR_ARG(answer->status.token)));
    int64_t life = answer->status.expiration_timestamp.seconds * ENV_SECOND - env_wall();

    *ret_next = MAX(life / 5 * 4, ENV_SECOND);
    return NULL;
}

static void account_run(void *arg)
{
    struct account *account = arg;
    int64_t retry = RETRY_FIRST;

    while (!task_is_cancelled()) {
        int64_t next;
        struct status *status = renew(account, &next);

        if (status != NULL) {
            if (retry > ENV_SECOND && !status_is(status, STATUS_CANCELLED)) {
                log_info("token of %s: %.*s", account->name, STR_ARG(status->message));
            }
            status_free(status);
            task_sleep(retry);
            retry = MIN(retry * 2, RETRY_MAX);
            continue;
        }
        retry = RETRY_FIRST;
        account->has_token = true;
        account->is_refused = false;
        cond_broadcast(&account->changed);
        int64_t until = env_mono() + next;

        while (!account->is_refused && env_mono() < until && !task_is_cancelled()) {
            cond_wait(&account->changed, until);
        }
        if (account->is_refused) {
            task_sleep(REFUSED_WAIT);
        }
    }
}

void accounts_run(void *arg)
{
    struct accounts *accounts = arg;

    for (size_t i = 0; i < accounts->items.len; i++) {
        task_group_spawn(&accounts->tasks, "account", account_run, accounts->items.items[i]);
    }
    while (!task_is_cancelled()) {
        task_park(TASK_FOREVER);
    }
    task_group_cancel(&accounts->tasks);
}

void accounts_free(struct accounts *accounts)
{
    if (accounts == NULL) {
        return;
    }
    for (size_t i = 0; i < accounts->items.len; i++) {
        client_free(accounts->items.items[i]->client);
        free(accounts->items.items[i]);
    }
    free(accounts->items.items);
    free(accounts);
}
