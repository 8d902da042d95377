#include "controller/controller_manager.h"

#include "controller/controllers.h"
#include "controller/engine.h"
#include "controller/garbage_collector.h"

enum { GARBAGE_WORKERS = 10 };

void controller_manager_run(const struct component_clients *clients, const struct controller_manager_options *options)
{
    struct accounts *accounts = accounts_new(clients, options->use_accounts);
    struct engine *engine = engine_new(clients->own, accounts, &options->settings);

    for (size_t i = 0; i < controllers_all_count; i++) {
        if (controllers_is_enabled(&options->controllers, controllers_all[i].name)) {
            engine_add(engine, controllers_all[i].controller);
        }
    }
    struct garbage_collector *collector = NULL;

    if (controllers_is_enabled(&options->controllers, GARBAGE_COLLECTOR_NAME)) {
        collector = garbage_collector_new(accounts, engine_kinds(engine));
        engine_add_workers(engine, "garbage collector", garbage_collector_work, collector, GARBAGE_WORKERS);
    }
    engine_add_workers(engine, "accounts", accounts_run, accounts, 1);
    engine_run(engine);
    engine_free(engine);
    garbage_collector_free(collector);
    accounts_free(accounts);
}
