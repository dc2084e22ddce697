// The C constants of SQLite that this binding uses. Values: https://www.sqlite.org/rescode.html and sqlite3.h.

export const SQLITE_OK = 0;
export const SQLITE_ERROR = 1;
export const SQLITE_PERM = 3;
export const SQLITE_BUSY = 5;
export const SQLITE_LOCKED = 6;
export const SQLITE_NOMEM = 7;
export const SQLITE_READONLY = 8;
export const SQLITE_IOERR = 10;
export const SQLITE_CORRUPT = 11;
/** A virtual table's index is corrupt, not the file. */
export const SQLITE_CORRUPT_VTAB = 267;
export const SQLITE_FULL = 13;
export const SQLITE_CANTOPEN = 14;
export const SQLITE_TOOBIG = 18;
export const SQLITE_CONSTRAINT = 19;
export const SQLITE_MISMATCH = 20;
export const SQLITE_AUTH = 23;
export const SQLITE_RANGE = 25;
export const SQLITE_NOTADB = 26;
export const SQLITE_ROW = 100;
export const SQLITE_DONE = 101;

export const SQLITE_IOERR_CORRUPTFS = 8458;
export const SQLITE_CONSTRAINT_CHECK = 275;
export const SQLITE_CONSTRAINT_FOREIGNKEY = 787;
export const SQLITE_CONSTRAINT_NOTNULL = 1299;
export const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;
export const SQLITE_CONSTRAINT_TRIGGER = 1811;
export const SQLITE_CONSTRAINT_UNIQUE = 2067;
export const SQLITE_CONSTRAINT_ROWID = 2579;
export const SQLITE_CONSTRAINT_DATATYPE = 3091;

export const SQLITE_OPEN_READONLY = 0x1;
export const SQLITE_OPEN_READWRITE = 0x2;
export const SQLITE_OPEN_CREATE = 0x4;

export const SQLITE_PREPARE_PERSISTENT = 0x1;

export const SQLITE_INTEGER = 1;
export const SQLITE_FLOAT = 2;
export const SQLITE_TEXT = 3;
export const SQLITE_BLOB = 4;
export const SQLITE_NULL = 5;

export const SQLITE_DBCONFIG_DEFENSIVE = 1010;

/** SQLite copies the bound bytes before the call returns. */
export const SQLITE_TRANSIENT: number = -1;
