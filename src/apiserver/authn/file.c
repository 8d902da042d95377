#include "apiserver/authn/authn.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct authn_row {
    struct str secret; /* token or password */
    struct user user;
};

struct authn_file {
    struct arena *arena;
    struct {
        struct authn_row *items;
        size_t len;
    } rows;
};

/* One CSV field off the front of *line; quotes may surround it and are doubled inside. */
static bool csv_field(struct arena *arena, struct str *line, struct str *ret)
{
    if (line->p == NULL) {
        return false;
    }
    struct str text = str_trim(*line);

    if (text.n == 0 || text.p[0] != '"') {
        return str_next(line, ',', ret) && (*ret = str_trim(*ret), true);
    }
    char *out = arena_alloc(arena, text.n + 1);
    size_t n = 0, at = 1;

    for (; at < text.n; at++) {
        if (text.p[at] == '"') {
            if (at + 1 >= text.n || text.p[at + 1] != '"') {
                break;
            }
            at++;
        }
        out[n++] = text.p[at];
    }
    if (at >= text.n) {
        return false;
    }
    struct str rest = str_trim(str_from(text, at + 1));

    if (rest.n != 0 && rest.p[0] != ',') {
        return false;
    }
    *line = rest.n == 0 ? (struct str){0} : str_from(rest, 1);
    *ret = (struct str){out, n};
    return true;
}

static struct status *row_parse(struct authn_file *file, struct str line, struct str path, size_t number)
{
    struct str fields[4] = {0}, rest = line, group;
    size_t count = 0;

    while (count < COUNT_OF(fields) && csv_field(file->arena, &rest, &fields[count])) {
        count++;
    }
    if (count < 3) {
        return status_new(STATUS_BAD_REQUEST,
                          "%.*s: line %zu: must have at least 3 columns (token or password, user name, user uid), "
                          "found %zu",
                          STR_ARG(path), number, count);
    }
    if (fields[0].n == 0) {
        return NULL; /* stock skips an empty token with a warning */
    }
    struct authn_row *row = LIST_ADD(file->arena, &file->rows);

    row->secret = arena_str(file->arena, fields[0]);
    row->user.name = arena_str(file->arena, fields[1]);
    row->user.uid = arena_str(file->arena, fields[2]);
    rest = fields[3];
    while (fields[3].n != 0 && str_next(&rest, ',', &group)) {
        str_list_add(file->arena, &row->user.groups, str_trim(group));
    }
    return NULL;
}

struct status *authn_file_parse(struct str text, struct str path, struct authn_file **ret)
{
    struct authn_file *file = MEM_NEW(struct authn_file);
    struct str rest = text, line;
    size_t number = 0;

    file->arena = arena_new();
    while (str_next(&rest, '\n', &line)) {
        number++;
        line = str_trim(line);
        if (line.n == 0 || line.p[0] == '#') {
            continue;
        }
        struct status *status = row_parse(file, line, path, number);

        if (status != NULL) {
            authn_file_free(file);
            return status;
        }
    }
    *ret = file;
    return NULL;
}

struct status *authn_file_load(struct str path, struct str what, struct authn_file **ret)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    int fd = open(arena_cstr(arena, path), O_RDONLY | O_CLOEXEC);
    struct stat about;

    if (fd < 0 || fstat(fd, &about) < 0 || about.st_size > (16 << 20)) {
        int error = fd < 0 ? errno : EFBIG;

        if (fd >= 0) {
            close(fd);
        }
        return status_errno(error, "reading the %.*s %.*s", STR_ARG(what), STR_ARG(path));
    }
    char *bytes = arena_alloc(arena, (size_t)about.st_size);
    ssize_t got = read(fd, bytes, (size_t)about.st_size);

    close(fd);
    if (got < 0) {
        return status_errno(errno, "reading the %.*s %.*s", STR_ARG(what), STR_ARG(path));
    }
    return authn_file_parse((struct str){bytes, (size_t)got}, path, ret);
}

void authn_file_free(struct authn_file *file)
{
    if (file != NULL) {
        arena_free(file->arena);
        free(file);
    }
}

/* Takes as long whatever the texts hold; only their lengths show. */
static bool equal_constant_time(struct str a, struct str b)
{
    unsigned char differ = 0;

    if (a.n != b.n) {
        return false;
    }
    for (size_t i = 0; i < a.n; i++) {
        differ |= (unsigned char)(a.p[i] ^ b.p[i]);
    }
    return differ == 0;
}

struct user *authn_file_by_token(const struct authn_file *file, struct str token, struct arena *arena)
{
    struct user *found = NULL;

    LIST_EACH(row, &file->rows) {
        if (equal_constant_time(row->secret, token)) {
            found = user_copy(arena, &row->user);
        }
    }
    return found;
}

struct user *authn_file_by_password(const struct authn_file *file, struct str name, struct str password,
                                    struct arena *arena)
{
    struct user *found = NULL;

    LIST_EACH(row, &file->rows) {
        bool same = equal_constant_time(row->secret, password);

        if (str_eq(row->user.name, name) && same) {
            found = user_copy(arena, &row->user);
        }
    }
    return found;
}
