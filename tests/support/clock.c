/* The wall clock of one process, set from outside: preloaded into a server by the tests.
 *
 * RELIABLEQ_CLOCK names a file of two 64-bit numbers of microseconds, shared with the tests: an
 * offset to the true time, and, when it is not 0, the time at which the clock stands still.
 * The monotonic clock is left alone. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
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
    void *memory = mmap(NULL, 2 * sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED) shared = memory;
}

static int64_t wall(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    int64_t truth = now.tv_sec * SECOND + now.tv_nsec / 1000;
    if (!shared) return truth;
    int64_t frozen = shared[1];
    return frozen ? frozen : truth + shared[0];
}

int clock_gettime(clockid_t clock, struct timespec *out) {
    if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)
        return (int)syscall(SYS_clock_gettime, clock, out);
    int64_t now = wall();
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
