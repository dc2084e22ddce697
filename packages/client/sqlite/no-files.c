// The default VFS of this build: it has time and randomness, but no files. The VFS of a database's files calls this VFS for everything else.
// ':memory:' needs no other VFS, because temporary data stays in memory too (SQLITE_TEMP_STORE=2).
#include <sqlite3.h>
#include <time.h>
#include <unistd.h>

// The most bytes that one call of getentropy() returns.
#define MOST_ENTROPY_BYTES 256

static int openNothing(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *outFlags) {
  file->pMethods = 0;
  return SQLITE_CANTOPEN;
}

static int deleteNothing(sqlite3_vfs *vfs, const char *name, int syncDirectory) {
  return SQLITE_IOERR_DELETE_NOENT;
}

static int accessNothing(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  *result = 0;
  return SQLITE_OK;
}

static int fullPathname(sqlite3_vfs *vfs, const char *name, int outBytes, char *out) {
  sqlite3_snprintf(outBytes, out, "%s", name);
  return SQLITE_OK;
}

static int randomness(sqlite3_vfs *vfs, int countBytes, char *out) {
  for (int done = 0; done < countBytes; done += MOST_ENTROPY_BYTES) {
    int step = countBytes - done < MOST_ENTROPY_BYTES ? countBytes - done : MOST_ENTROPY_BYTES;
    if (getentropy(out + done, step) != 0) return done;
  }
  return countBytes;
}

static int sleepNot(sqlite3_vfs *vfs, int microseconds) {
  return 0;
}

static int lastError(sqlite3_vfs *vfs, int outBytes, char *out) {
  return 0;
}

// SQLite counts milliseconds from noon in Greenwich on November 24, 4714 B.C.
#define JULIAN_MS_AT_UNIX_EPOCH 210866760000000LL
#define DAY_MS 86400000.0

static int currentTimeMs(sqlite3_vfs *vfs, sqlite3_int64 *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *out = JULIAN_MS_AT_UNIX_EPOCH + (sqlite3_int64)now.tv_sec * 1000 + now.tv_nsec / 1000000;
  return SQLITE_OK;
}

static int currentTime(sqlite3_vfs *vfs, double *out) {
  sqlite3_int64 ms;
  currentTimeMs(vfs, &ms);
  *out = ms / DAY_MS;
  return SQLITE_OK;
}

static sqlite3_vfs noFiles = {
  .iVersion = 2,
  .szOsFile = sizeof(sqlite3_file),
  .mxPathname = 512,
  .zName = "no-files",
  .xOpen = openNothing,
  .xDelete = deleteNothing,
  .xAccess = accessNothing,
  .xFullPathname = fullPathname,
  .xRandomness = randomness,
  .xSleep = sleepNot,
  .xCurrentTime = currentTime,
  .xGetLastError = lastError,
  .xCurrentTimeInt64 = currentTimeMs,
};

int sqlite3_os_init(void) {
  return sqlite3_vfs_register(&noFiles, 1);
}

int sqlite3_os_end(void) {
  return SQLITE_OK;
}
