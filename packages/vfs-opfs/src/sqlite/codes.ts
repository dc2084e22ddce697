// The result codes, operations and flags of SQLite's C interface that the VFS uses (sqlite3.h).

export const SQLITE_OK = 0;
export const SQLITE_ERROR = 1;
export const SQLITE_BUSY = 5;
export const SQLITE_IOERR = 10;
export const SQLITE_CORRUPT = 11;
export const SQLITE_NOTFOUND = 12;
export const SQLITE_FULL = 13;
export const SQLITE_CANTOPEN = 14;
export const SQLITE_IOERR_SHORT_READ = 522;

export const LOCK_NONE = 0;
export const LOCK_SHARED = 1;

export const OPEN_READONLY = 0x1;
export const OPEN_READWRITE = 0x2;
export const OPEN_CREATE = 0x4;
export const OPEN_DELETEONCLOSE = 0x8;
export const OPEN_MAIN_DB = 0x100;

export const ACCESS_READWRITE = 1;

export const FCNTL_PRAGMA = 14;
export const FCNTL_COMMIT_PHASETWO = 22;
export const FCNTL_BEGIN_ATOMIC_WRITE = 31;
export const FCNTL_COMMIT_ATOMIC_WRITE = 32;
export const FCNTL_ROLLBACK_ATOMIC_WRITE = 33;

export const IOCAP_SAFE_APPEND = 0x200;
export const IOCAP_SEQUENTIAL = 0x400;
export const IOCAP_UNDELETABLE_WHEN_OPEN = 0x800;
export const IOCAP_BATCH_ATOMIC = 0x4000;
