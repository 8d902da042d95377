#include "runtime/images/layered.h"

#include "runtime/images/rooted.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

enum found { FOUND_NOTHING, FOUND_LINK, FOUND_OTHER };

/* What one layer has at the path; for a link, where it leads. */
static enum found look(int root, const char *path, char *target)
{
    int fd = rooted_open(root, path, O_PATH | O_NOFOLLOW);
    struct stat there;
    enum found found = FOUND_OTHER;

    if (fd < 0) {
        return FOUND_NOTHING;
    }
    if (fstat(fd, &there) == 0 && S_ISLNK(there.st_mode)) {
        ssize_t n = readlinkat(fd, "", target, PATH_MAX - 1);

        target[n > 0 ? n : 0] = '\0';
        found = n > 0 ? FOUND_LINK : FOUND_OTHER;
    }
    close(fd);
    return found;
}

/* The topmost that has anything there hides what is further below. */
static bool is_link(int root, const int *lowers, size_t lower_count, const char *path, char *target)
{
    enum found found = look(root, path, target);

    for (size_t i = 0; i < lower_count && found == FOUND_NOTHING; i++) {
        found = look(lowers[i], path, target);
    }
    return found == FOUND_LINK;
}

bool layered_follow(int root, const int *lowers, size_t lower_count, const char *path, char *out)
{
    char rest[PATH_MAX], target[PATH_MAX], joined[3 * PATH_MAX];
    int links = 0;

    snprintf(rest, sizeof(rest), "%s", path);
    out[0] = '\0';
    for (char *at = rest; *at != '\0';) {
        size_t before = strlen(out), part = strcspn(at, "/");

        if (before + part + 2 > PATH_MAX) {
            return false;
        }
        snprintf(out + before, PATH_MAX - before, "%s%.*s", before > 0 ? "/" : "", (int)part, at);
        at += part + (at[part] == '/');
        if (is_link(root, lowers, lower_count, out, target)) {
            out[target[0] == '/' ? 0 : before] = '\0'; /* from the root, or from where the link lies */
            snprintf(joined, sizeof(joined), "%s/%s/%s", out, target, at);
            if (++links > LINKS_MAX || !rooted_clean(joined, rest)) {
                return false;
            }
            out[0] = '\0';
            at = rest;
        }
    }
    return true;
}
