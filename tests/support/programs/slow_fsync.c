/* Makes each fsync of valkey-server slow, as on a disk that is busy, and notes what it has synced.
 *
 * The server is started with LD_PRELOAD=this library. FSYNC_DIRECTORY names a directory. Its file
 * `delay` holds the delay in seconds; it is read at each call. After each fsync, a line with the
 * inode of the file and the size that it had when the fsync began is added to the file `synced`.
 * In other programs the library does nothing: a service passes its environment on to its server.
 * Linux only.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void delay(const char *directory)
{
    char path[4096];
    FILE *file;
    double seconds = 0;
    struct timespec left;

    snprintf(path, sizeof path, "%s/delay", directory);
    file = fopen(path, "r");
    if (file == NULL)
        return;
    if (fscanf(file, "%lf", &seconds) != 1)
        seconds = 0;
    fclose(file);
    left.tv_sec = (time_t)seconds;
    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) == -1 && errno == EINTR)
        ;
}

static void note(const char *directory, const struct stat *status)
{
    char path[4096], line[64];
    int file, length;

    snprintf(path, sizeof path, "%s/synced", directory);
    length = snprintf(line, sizeof line, "%llu %llu\n", (unsigned long long)status->st_ino,
                      (unsigned long long)status->st_size);
    file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file == -1)
        return;
    if (write(file, line, (size_t)length) != length)
        abort();
    close(file);
}

static int slow(long call, int fd)
{
    const char *directory = getenv("FSYNC_DIRECTORY");
    struct stat status;
    int result;

    if (directory == NULL || strcmp(program_invocation_short_name, "valkey-server") != 0)
        return (int)syscall(call, fd);
    /* What is written later is not sure to be synced. */
    if (fstat(fd, &status) == -1)
        return -1;
    delay(directory);
    result = (int)syscall(call, fd);
    if (result == 0)
        note(directory, &status);
    return result;
}

int fsync(int fd)
{
    return slow(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return slow(SYS_fdatasync, fd);
}
