import { closeSync, fstatSync, openSync, statSync } from 'node:fs';

/*
 * Descriptors of database files, in addition to those of SQLite.
 *
 * POSIX locks belong to the process: closing any descriptor of a file drops all locks that the process has on it,
 * including SQLite's (https://sqlite.org/howtocorrupt.html, section 2.2). Another program could then delete the
 * write-ahead log of an open database, and every later commit would be lost. So a descriptor is closed only once no
 * connection of this thread uses the file. Until then it waits, and the next reader takes it.
 *
 * Connections of other threads are not seen here. Only the thread that owns a database reads its file with these
 * descriptors, and it counts the connections of the threads that it starts (`holdLocks`).
 */

interface UsedFile {
  holders: number;
  readonly waiting: number[];
}

const usedFiles = new Map<string, UsedFile>();

/** Call before a connection to the file is opened. Call the result once it is closed. */
export function holdLocks(path: string): () => void {
  const file = usedFiles.get(path) ?? { holders: 0, waiting: [] };
  usedFiles.set(path, file);
  file.holders++;
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    if (--file.holders > 0) return;
    usedFiles.delete(path);
    for (const descriptor of file.waiting) closeSync(descriptor);
  };
}

export interface BesideSqlite {
  readonly descriptor: number;
  /** Ends reading. The descriptor is closed now or later. */
  release(): void;
}

/** Opens a database file for reading, even while this thread has it open with SQLite. */
export function openBesideSqlite(path: string): BesideSqlite {
  const descriptor = takeWaiting(path) ?? openSync(path, 'r');
  let isReleased = false;
  return {
    descriptor,
    release: () => {
      if (isReleased) return;
      isReleased = true;
      const file = usedFiles.get(path);
      if (file === undefined) closeSync(descriptor);
      else file.waiting.push(descriptor);
    },
  };
}

/** A waiting descriptor may belong to a file that has been replaced since. */
function takeWaiting(path: string): number | undefined {
  const waiting = usedFiles.get(path)?.waiting ?? [];
  if (waiting.length === 0) return undefined;
  const { ino } = statSync(path);
  const index = waiting.findIndex((descriptor) => fstatSync(descriptor).ino === ino);
  return index === -1 ? undefined : waiting.splice(index, 1)[0];
}
