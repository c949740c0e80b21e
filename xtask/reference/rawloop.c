/* rawloop - the raw system-call limit for small-file and big-file phases.
 *
 * One thread, no allocation and no formatting inside a timed loop: all paths
 * are built beforehand, and the only timer reads are at the ends of a phase.
 *
 *   rawloop [-n files] [-s bytes] [-d dirs] [-p phases] [-b bigMB] [-k iosizeKB]
 *           [-f] [-l] [-y] [-t tag] DIR
 *
 *   -n  number of files (50000)       -s  bytes per file (256)
 *   -d  directories (100; 0 = files directly in DIR); file i is in dir i/(n/d)
 *   -p  phases, in order; default "mcrRsSud":
 *         m mkdir   c create(openat O_CREAT|O_WRONLY|O_EXCL, write, close)
 *         r read in creation order (open, read, close)    R the same, random order
 *         s stat in creation order   S stat, random order
 *         n stat every name before it exists (leaves negative dentries, as fio's set-up does)
 *         o open+close   u unlink in creation order   U unlink, random order
 *         d rmdir   y syncfs(DIR)   D drop caches (write 3 to drop_caches)
 *         w big file write, w/o sync  W write then fsync  b read big file  x remove it
 *         a overwrite big file at random (nbig/iosize pwrites)
 *   -f  fsync every created file      -l  also report latency percentiles of each op
 *   -y  syncfs after each timed phase (time reported on its own line)
 * Output: tag<TAB>phase<TAB>ops<TAB>seconds<TAB>ops/s<TAB>us/op[<TAB>user<TAB>sys]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static long N = 50000, S = 256, D = 100, BIG = 1500, K = 1024;
static int do_fsync, do_lat, do_sync;
static const char *tag = "raw";
#define PL 32 /* bytes per path; enough for d00000/f00000000 */
#pragma GCC diagnostic ignored "-Wformat-truncation"
static char *paths, *buf;
static uint32_t *ord;
static uint32_t *lat;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
static inline uint64_t nsnow(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}
static void die(const char *what, const char *path)
{
	fprintf(stderr, "rawloop: %s %s: %s\n", what, path, strerror(errno));
	exit(1);
}
static int cmpu(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}
static double tvd(struct timeval a, struct timeval b)
{
	return (b.tv_sec - a.tv_sec) + (b.tv_usec - a.tv_usec) * 1e-6;
}
static void report(const char *ph, long ops, double sec, struct rusage *r0)
{
	struct rusage r1;
	getrusage(RUSAGE_SELF, &r1);
	printf("%s\t%s\t%ld\t%.6f\t%.1f\t%.3f\t%.3f\t%.3f\n", tag, ph, ops, sec, ops / sec,
	       sec / ops * 1e6, tvd(r0->ru_utime, r1.ru_utime), tvd(r0->ru_stime, r1.ru_stime));
	fflush(stdout);
}
static void reportlat(const char *ph)
{
	if (!do_lat) return;
	qsort(lat, N, sizeof *lat, cmpu);
	printf("%s\t%s.lat_ns\tp1=%u\tp50=%u\tp90=%u\tp99=%u\tp99.9=%u\tmax=%u\n", tag, ph,
	       lat[N / 100], lat[N / 2], lat[N * 9 / 10],
	       lat[N * 99 / 100], lat[N * 999 / 1000], lat[N - 1]);
}
static uint64_t rs = 88172645463325252ull;
static uint64_t rnd(void)
{
	rs ^= rs << 13; rs ^= rs >> 7; rs ^= rs << 17;
	return rs;
}
#define P(i) (paths + (size_t)(i) * PL)
#define LOOP(body)                                                              \
	if (do_lat)                                                                 \
		for (long i = 0; i < N; i++) { uint64_t l0 = nsnow(); body; lat[i] = nsnow() - l0; } \
	else                                                                        \
		for (long i = 0; i < N; i++) { body; }

static inline void mkone(const char *p)
{
	int fd = openat(AT_FDCWD, p, O_CREAT | O_WRONLY | O_EXCL, 0644);
	if (fd < 0) die("create", p);
	if (S && write(fd, buf, S) != S) die("write", p);
	if (do_fsync && fsync(fd)) die("fsync", p);
	if (close(fd)) die("close", p);
}
static inline void rdone(const char *p)
{
	int fd = openat(AT_FDCWD, p, O_RDONLY);
	if (fd < 0) die("open", p);
	if (S && read(fd, buf, S) != S) die("read", p);
	if (close(fd)) die("close", p);
}
static inline void opone(const char *p)
{
	int fd = openat(AT_FDCWD, p, O_RDONLY);
	if (fd < 0) die("open", p);
	if (close(fd)) die("close", p);
}
static void syncit(const char *ph)
{
	struct rusage r0;
	getrusage(RUSAGE_SELF, &r0);
	double t0 = now();
	int fd = open(".", O_RDONLY | O_DIRECTORY);
	if (fd < 0 || syncfs(fd)) die("syncfs", ".");
	close(fd);
	char nm[64];
	snprintf(nm, sizeof nm, "%s", ph);
	report(nm, 1, now() - t0, &r0);
}

int main(int ac, char **av)
{
	const char *ph = "mcrRsSud";
	int o;
	while ((o = getopt(ac, av, "n:s:d:p:b:k:flyt:")) != -1)
		switch (o) {
		case 'n': N = atol(optarg); break;
		case 's': S = atol(optarg); break;
		case 'd': D = atol(optarg); break;
		case 'p': ph = optarg; break;
		case 'b': BIG = atol(optarg); break;
		case 'k': K = atol(optarg); break;
		case 'f': do_fsync = 1; break;
		case 'l': do_lat = 1; break;
		case 'y': do_sync = 1; break;
		case 't': tag = optarg; break;
		default: return 2;
		}
	if (optind != ac - 1) { fprintf(stderr, "rawloop: one directory, please\n"); return 2; }
	if (chdir(av[optind])) die("chdir", av[optind]);
	size_t bl = S > K * 1024 ? S : K * 1024;
	buf = aligned_alloc(4096, (bl + 4095) & ~4095ul);
	for (size_t i = 0; i < bl; i += 8) { uint64_t x = rnd(); memcpy(buf + i, &x, 8); }
	paths = malloc((size_t)N * PL);
	ord = malloc(N * 4);
	lat = malloc(N * 4);
	memset(lat, 0, N * 4);
	long per = D ? (N + D - 1) / D : N;
	for (long i = 0; i < N; i++) {
		if (D) snprintf(P(i), PL, "d%05ld/f%08ld", i / per, i);
		else snprintf(P(i), PL, "f%08ld", i);
		ord[i] = i;
	}
	for (long i = N - 1; i > 0; i--) {
		long j = rnd() % (i + 1);
		uint32_t t = ord[i]; ord[i] = ord[j]; ord[j] = t;
	}
	char dn[PL];
	struct stat st;
	for (; *ph; ph++) {
		struct rusage r0;
		getrusage(RUSAGE_SELF, &r0);
		double t0 = now();
		switch (*ph) {
		case 'm':
			if (!D) break;
			for (long i = 0; i < D; i++) {
				snprintf(dn, sizeof dn, "d%05ld", i);
				if (mkdir(dn, 0755)) die("mkdir", dn);
			}
			report("mkdir", D, now() - t0, &r0);
			break;
		case 'c': LOOP(mkone(P(i))); report("create", N, now() - t0, &r0); reportlat("create"); break;
		case 'r': LOOP(rdone(P(i))); report("read", N, now() - t0, &r0); reportlat("read"); break;
		case 'R':
			LOOP(rdone(P(ord[i])));
			report("readrnd", N, now() - t0, &r0);
			reportlat("readrnd");
			break;
		case 'o': LOOP(opone(P(i))); report("open", N, now() - t0, &r0); reportlat("open"); break;
		case 's':
			LOOP(if (fstatat(AT_FDCWD, P(i), &st, 0)) die("stat", P(i)));
			report("stat", N, now() - t0, &r0);
			reportlat("stat");
			break;
		case 'S':
			LOOP(if (fstatat(AT_FDCWD, P(ord[i]), &st, 0)) die("stat", P(i)));
			report("statrnd", N, now() - t0, &r0);
			reportlat("statrnd");
			break;
		case 'u':
			LOOP(if (unlinkat(AT_FDCWD, P(i), 0)) die("unlink", P(i)));
			report("unlink", N, now() - t0, &r0);
			reportlat("unlink");
			break;
		case 'n':
			LOOP(if (!fstatat(AT_FDCWD, P(i), &st, 0) || errno != ENOENT) die("negative stat", P(i)));
			report("negstat", N, now() - t0, &r0);
			reportlat("negstat");
			break;
		case 'U':
			LOOP(if (unlinkat(AT_FDCWD, P(ord[i]), 0)) die("unlink", P(i)));
			report("unlinkrnd", N, now() - t0, &r0);
			reportlat("unlinkrnd");
			break;
		case 'd':
			if (!D) break;
			for (long i = 0; i < D; i++) {
				snprintf(dn, sizeof dn, "d%05ld", i);
				if (rmdir(dn)) die("rmdir", dn);
			}
			report("rmdir", D, now() - t0, &r0);
			break;
		case 'y': syncit("syncfs"); break;
		case 'D': {
			sync();
			int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
			if (fd < 0 || write(fd, "3\n", 2) != 2) die("drop_caches", "");
			close(fd);
			break;
		}
		case 'w': case 'W': {
			int fd = openat(AT_FDCWD, "big", O_CREAT | O_WRONLY | O_TRUNC, 0644);
			if (fd < 0) die("create", "big");
			long n = BIG * 1024 / K;
			for (long i = 0; i < n; i++)
				if (write(fd, buf, K * 1024) != K * 1024) die("write", "big");
			report("bigwrite_MBps", BIG, now() - t0, &r0);
			if (*ph == 'W') {
				double t1 = now();
				if (fsync(fd)) die("fsync", "big");
				report("bigfsync", 1, now() - t1, &r0);
				report("bigwrite+fsync_MBps", BIG, now() - t0, &r0);
			}
			close(fd);
			break;
		}
		case 'a': {
			int fd = openat(AT_FDCWD, "big", O_WRONLY);
			if (fd < 0) die("open", "big");
			long n = BIG * 1024 / K;
			for (long i = 0; i < n; i++)
				if (pwrite(fd, buf, K * 1024, (off_t)(rnd() % n) * K * 1024) != K * 1024) die("pwrite", "big");
			report("bigrndwrite_MBps", BIG, now() - t0, &r0);
			close(fd);
			break;
		}
		case 'b': {
			int fd = openat(AT_FDCWD, "big", O_RDONLY);
			if (fd < 0) die("open", "big");
			long got = 0;
			for (ssize_t r; (r = read(fd, buf, K * 1024)) > 0;) got += r;
			if (got != BIG << 20) die("short read", "big");
			report("bigread_MBps", BIG, now() - t0, &r0);
			close(fd);
			break;
		}
		case 'x': if (unlink("big")) die("unlink", "big"); report("bigunlink", 1, now() - t0, &r0); break;
		default: fprintf(stderr, "rawloop: phase '%c'?\n", *ph); return 2;
		}
		if (do_sync && strchr("cuU", *ph)) syncit(*ph == 'c' ? "create.syncfs" : "unlink.syncfs");
	}
	return 0;
}
