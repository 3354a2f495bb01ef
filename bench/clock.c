/* A wall clock that moves by calls, for LD_PRELOAD.
 *
 * A queue is measured at one message per millisecond without waiting for the milliseconds: each
 * reading of the wall clock moves it on by `step_ns`, which the benchmark sets from the number of
 * readings that one push takes. The state lies in the file that RELIABLEQ_CLOCK names, mapped by
 * the server and by the benchmark. The monotonic clock goes along, as queues live by it, but its
 * readings move nothing.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct clock_state {
    _Atomic int64_t now_ns;  /* the wall clock */
    _Atomic int64_t step_ns; /* what one reading adds */
    _Atomic int64_t readings;
};

static struct clock_state *state;

__attribute__((constructor)) static void open_state(void)
{
    const char *path = getenv("RELIABLEQ_CLOCK");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) state = mapped;
}

static int64_t read_wall_ns(void)
{
    atomic_fetch_add(&state->readings, 1);
    return atomic_fetch_add(&state->now_ns, atomic_load(&state->step_ns));
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int monotonic = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE;
    if (!state || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE && !monotonic))
        return (int)syscall(SYS_clock_gettime, clock, out);
    int64_t ns = monotonic ? atomic_load(&state->now_ns) : read_wall_ns();
    out->tv_sec = ns / 1000000000;
    out->tv_nsec = ns % 1000000000;
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    if (!state) return (int)syscall(SYS_gettimeofday, out, zone);
    int64_t ns = read_wall_ns();
    out->tv_sec = ns / 1000000000;
    out->tv_usec = ns % 1000000000 / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    if (state)
        now.tv_sec = atomic_load(&state->now_ns) / 1000000000;
    else
        syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
