#include "tar_maker.h"

#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void header(struct buf *tar, const struct made_entry *entry, long long size)
{
    char *at = buf_reserve(tar, 512);
    unsigned sum = 0;

    memset(at, 0, 512);
    snprintf(at, 100, "%s", entry->path);
    snprintf(at + 100, 8, "%07o", entry->mode);
    snprintf(at + 108, 8, "%07o", entry->uid);
    snprintf(at + 116, 8, "%07o", entry->gid);
    if (size < 0x200000000) {
        snprintf(at + 124, 12, "%011llo", size);
    } else { /* GNU's base 256 */
        at[124] = (char)0x80;
        for (int i = 0; i < 8; i++) {
            at[135 - i] = (char)(size >> (8 * i));
        }
    }
    snprintf(at + 136, 12, "%011o", 1767225600u);
    memset(at + 148, ' ', 8);
    at[156] = entry->type;
    snprintf(at + 157, 100, "%s", entry->link != NULL ? entry->link : "");
    memcpy(at + 257, "ustar\0" "00", 8);
    snprintf(at + 329, 8, "%07o", entry->major);
    snprintf(at + 337, 8, "%07o", entry->minor);
    for (int i = 0; i < 512; i++) {
        sum += (unsigned char)at[i];
    }
    snprintf(at + 148, 8, "%06o", sum);
    tar->n += 512;
}

static void body(struct buf *tar, const char *data, size_t size)
{
    static const char zeros[512];

    buf_add(tar, data, size);
    buf_add(tar, zeros, (512 - size % 512) % 512);
}

void tar_make_entry(struct buf *tar, const struct made_entry *entry)
{
    size_t size = entry->data != NULL ? strlen(entry->data) : 0;

    if (entry->xattr != NULL) {
        char record[300], line[310];
        int length = snprintf(record, sizeof(record), " SCHILY.xattr.%s=%s\n", entry->xattr, entry->xattr_value);

        length += 2; /* two digits of length, as all records here are that long */
        CHECK(length >= 10 && length < 100);
        snprintf(line, sizeof(line), "%d%s", length, record);
        header(tar, &(struct made_entry){.type = 'x', .path = "pax"}, length);
        body(tar, line, (size_t)length);
    }
    header(tar, entry, entry->claimed_size != 0 ? entry->claimed_size : (long long)size);
    body(tar, entry->data, size);
}

void tar_make_end(struct buf *tar)
{
    static const char zeros[1024];

    buf_add(tar, zeros, sizeof(zeros));
}

int tar_make_fd(struct str bytes)
{
    int fd = memfd_create("tar", MFD_CLOEXEC);

    CHECK(fd >= 0 && write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}
