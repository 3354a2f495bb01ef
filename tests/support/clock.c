/* The clocks of one process, set from outside: preloaded into a server by the tests.
 *
 * RELIABLEQ_CLOCK names a file of four 64-bit numbers of microseconds, shared with the tests: for the wall
 * clock an offset to the true time, and, when it is not 0, the time at which the clock stands still; then
 * the same two for the monotonic clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000LL /* microseconds */

static volatile int64_t *shared;

__attribute__((constructor)) static void attach(void) {
    const char *path = getenv("RELIABLEQ_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, 4 * sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED) shared = memory;
}

static int64_t read_clock(clockid_t clock, int first) {
    struct timespec now;
    syscall(SYS_clock_gettime, clock, &now);
    int64_t truth = now.tv_sec * SECOND + now.tv_nsec / 1000;
    if (!shared) return truth;
    int64_t frozen = shared[first + 1];
    return frozen ? frozen : truth + shared[first];
}

static int64_t wall(void) { return read_clock(CLOCK_REALTIME, 0); }

int clock_gettime(clockid_t clock, struct timespec *out) {
    int64_t now;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        now = wall();
    else if (clock == CLOCK_MONOTONIC && shared && (shared[2] || shared[3]))
        now = read_clock(clock, 2);
    else
        return (int)syscall(SYS_clock_gettime, clock, out);
    out->tv_sec = now / SECOND;
    out->tv_nsec = now % SECOND * 1000;
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    (void)zone;
    int64_t now = wall();
    out->tv_sec = now / SECOND;
    out->tv_usec = now % SECOND;
    return 0;
}

time_t time(time_t *out) {
    time_t now = wall() / SECOND;
    if (out) *out = now;
    return now;
}

/* Valkey 9 asks the processor for monotonic time where this file says that it can: it is not to be found. */
static FILE *open_file(const char *name, const char *path, const char *mode) {
    if (shared && strcmp(path, "/proc/cpuinfo") == 0) return NULL;
    FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, name);
    return next(path, mode);
}

FILE *fopen(const char *restrict path, const char *restrict mode) { return open_file("fopen", path, mode); }

FILE *fopen64(const char *restrict path, const char *restrict mode) { return open_file("fopen64", path, mode); }
