#include "schema/image_reference.h"

#include "test.h"

TEST("schema/image_reference/takes names apart and says what is wrong")
{
    static const struct {
        const char *image, *domain, *path, *tag, *digest, *error;
    } rows[] = {
        {"nginx", "docker.io", "library/nginx", "", "", NULL},
        {"nginx:1.25", "docker.io", "library/nginx", "1.25", "", NULL},
        {"me/app", "docker.io", "me/app", "", "", NULL},
        {"localhost/app", "localhost", "app", "", "", NULL},
        {"localhost:5000/a/b:t", "localhost:5000", "a/b", "t", "", NULL},
        {"registry.k8s.io/pause:3.10", "registry.k8s.io", "pause", "3.10", "", NULL},
        {"nginx@sha256:0123456789012345678901234567890123456789012345678901234567890123", "docker.io", "library/nginx",
         "", "sha256:0123456789012345678901234567890123456789012345678901234567890123", NULL},
        {"Nginx", NULL, NULL, NULL, NULL, "must be lowercase"},
        {"", NULL, NULL, NULL, NULL, "invalid reference format"},
        {"a b", NULL, NULL, NULL, NULL, "invalid reference format"},
        {"nginx:", NULL, NULL, NULL, NULL, "invalid reference format"},
        {"nginx:-x", NULL, NULL, NULL, NULL, "invalid reference format"},
        {"nginx@sha256:12", NULL, NULL, NULL, NULL, "invalid reference format"},
        {"-nginx", NULL, NULL, NULL, NULL, "invalid reference format"},
        {"[::1]:5000/a", "[::1]:5000", "a", "", "", NULL},
        {"index.docker.io/nginx", "docker.io", "library/nginx", "", "", NULL},
        {"Registry/a", "Registry", "a", "", "", NULL},
        {"[::g]/a", NULL, NULL, NULL, NULL, "invalid reference format"},
        {"[::1]x/a", NULL, NULL, NULL, NULL, "invalid reference format"},
        {"host.name:x/a", NULL, NULL, NULL, NULL, "invalid reference format"},
        {"a//b", NULL, NULL, NULL, NULL, "invalid reference format"},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct image_reference name;

        if (rows[i].error != NULL) {
            CHECK_ERROR(image_reference_parse(arena, str_of(rows[i].image), &name), rows[i].error);
            continue;
        }
        CHECK_OK(image_reference_parse(arena, str_of(rows[i].image), &name));
        CHECK_STR(name.domain, rows[i].domain);
        CHECK_STR(name.path, rows[i].path);
        CHECK_STR(name.tag, rows[i].tag);
        CHECK_STR(name.digest, rows[i].digest);
    }
    struct str image;

    CHECK_OK(image_reference_with_tag(arena, STR("nginx"), &image));
    CHECK_STR(image, "nginx:latest");
    CHECK_OK(image_reference_with_tag(arena, STR("localhost:5000/nginx"), &image));
    CHECK_STR(image, "localhost:5000/nginx:latest");
    CHECK_ERROR(image_reference_with_tag(arena, STR("A"), &image), "couldn't parse image name \"A\": invalid reference format");
}

TEST("schema/image_reference/is written out whole")
{
    static const struct {
        const char *image, *text;
    } rows[] = {
        {"nginx", "docker.io/library/nginx:latest"},
        {"nginx:1.25", "docker.io/library/nginx:1.25"},
        {"localhost:5000/a/b", "localhost:5000/a/b:latest"},
        {"me/app:t@sha256:0123456789012345678901234567890123456789012345678901234567890123",
         "docker.io/me/app@sha256:0123456789012345678901234567890123456789012345678901234567890123"},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct image_reference reference;

        CHECK_OK(image_reference_parse(arena, str_of(rows[i].image), &reference));
        CHECK_STR(image_reference_text(arena, &reference), rows[i].text);
    }
}
