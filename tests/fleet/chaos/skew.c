// Preloaded into the programs of a host: its wall clock is ahead by so many seconds as a file says, at every moment.
// The kernel has one wall clock for all, and only the others (since boot) in namespaces. Absolute deadlines of waits
// are set back to the kernel's time, or they would come an hour late.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/** A deadline by another clock is far from now by this one. */
#define DAY 86400

static volatile long *ahead;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("CHAOS_SKEW");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *bytes = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
  if (bytes != MAP_FAILED) ahead = bytes;
  close(file);
}

static long skew(void) { return ahead == NULL ? 0 : *ahead; }

int clock_gettime(clockid_t clock, struct timespec *at) {
  int result = syscall(SYS_clock_gettime, clock, at);
  if (result == 0 && clock == CLOCK_REALTIME) at->tv_sec += skew();
  return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  struct timespec now;
  int result = clock_gettime(CLOCK_REALTIME, &now);
  (void)zone;
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return result;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at != NULL) *at = now.tv_sec;
  return now.tv_sec;
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
  static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  if (real == NULL) real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  struct timespec deadline = *until;
  if (labs(deadline.tv_sec - time(NULL)) < DAY) deadline.tv_sec -= skew();
  return real(condition, mutex, &deadline);
}
