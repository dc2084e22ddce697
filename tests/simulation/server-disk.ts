import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sumsPath } from '#sync-server/sqlite/page-sums.ts';
import { databasePath } from '#sync-server/store/data-directory.ts';
import type { OpenLogSync } from '#sync-server/store/sqlite-store.ts';
import type { Random } from './random.ts';

export const DATABASE_ID = 'budget';

/** The message of a failing sync. */
export const DISK_FAILURE = 'EIO';

/** What a server process leaves on its disk when it ends. */
export type EndOfServer =
  /** SIGKILL: the system keeps everything that was written. */
  | { readonly kind: 'killed' }
  /** SIGKILL within a COMMIT, after some of the writes with which SQLite appends the frames of the transaction. */
  | { readonly kind: 'killed in commit'; readonly framesBefore: number }
  /** Power cut: any unsynced sectors may be missing. */
  | { readonly kind: 'power loss' };

/**
 * How much of the write-ahead log is on the disk. The salt identifies one run of the log: SQLite starts the next run
 * when all frames are in the database file.
 */
interface SyncedLog {
  readonly salt: string;
  readonly frames: number;
}

const SECTOR_BYTES = 512;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * The disk of the server's machine. Server processes follow each other on it, each with a directory that starts with
 * what its predecessor left. SQLite runs on the real file system, in memory, so the effect of a power cut is computed
 * from the write-ahead log: a sync keeps the frames that existed when it began. SQLite syncs the log before it moves it
 * into the file, and the file before it restarts the log.
 */
export class ServerDisk {
  private readonly random: Random;
  private readonly folder = newFolder();
  private life = 0;
  private synced: SyncedLog = { salt: '', frames: 0 };
  private syncs = 0;
  /** The number of the sync to which `synced` belongs. */
  private lastSync = 0;
  hasBackup = false;
  /** How long the next sync takes, in ms. Infinity if it fails at once. */
  syncMs: () => number = () => 0;

  constructor(random: Random) {
    this.random = random;
  }

  /** The data folder of the current process. */
  get dataDir(): string {
    return join(this.folder, `life-${this.life}`);
  }

  get path(): string {
    return databasePath(this.dataDir, DATABASE_ID);
  }

  get snapshotPath(): string {
    return join(this.folder, 'snapshot.sqlite');
  }

  private get backupPath(): string {
    return join(this.folder, 'backup.sqlite');
  }

  /**
   * Replaces the threads that sync the log. Its delays are the caller's timers, so that they end with their process.
   */
  readonly openLogSync: OpenLogSync = (path) => {
    // Whether SQLite created or recovered the file with `synchronous = FULL`.
    if (this.synced.salt === '') this.synced = logOf(path);
    return {
      sync: async () => {
        const began = logOf(path);
        const number = ++this.syncs;
        const delayMs = this.syncMs();
        if (delayMs === Infinity) throw new Error(DISK_FAILURE);
        if (delayMs > 0) await new Promise((resolve) => void setTimeout(resolve, delayMs));
        // A sync that began earlier may end later.
        if (number < this.lastSync) return;
        this.lastSync = number;
        this.synced = began;
      },
      close: () => undefined,
    };
  };

  /** Frames in the log now. */
  get frames(): number {
    return logOf(this.path).frames;
  }

  /** Ends the process. The next one finds the files of this one. */
  end(how: EndOfServer): void {
    const from = this.path;
    const { bytes, frames } = this.remaining(from, how);
    this.life++;
    for (const [old, next] of [
      [from, this.path],
      [sumsPath(from), sumsPath(this.path)],
    ] as const)
      if (existsSync(old)) copyFileSync(old, next);
    if (bytes !== null) writeFileSync(`${this.path}-wal`, bytes);
    const { salt } = logOf(from);
    this.synced = { salt, frames };
    rmSync(`${this.path}-shm`, { force: true });
  }

  /** Copies the file between two commits. */
  backUp(): void {
    copyDatabase(this.path, this.backupPath);
    this.hasBackup = true;
  }

  /** After `end`: replaces the file with the backup. */
  restore(): void {
    copyDatabase(this.backupPath, this.path);
    this.synced = { salt: saltOf(`${this.path}-wal`), frames: Infinity };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The rest of the log, and how many of its frames are certainly on the disk. */
  private remaining(path: string, how: EndOfServer): { readonly bytes: Uint8Array | null; readonly frames: number } {
    const log = `${path}-wal`;
    if (!existsSync(log)) return { bytes: null, frames: 0 };
    const bytes = readFileSync(log);
    const now = logOf(path);
    const frames = Math.max(now.salt === this.synced.salt ? this.synced.frames : 0, now.moved);
    const sizeOf = (count: number): number => LOG_HEADER_BYTES + count * now.frameBytes;
    if (how.kind === 'killed') return { bytes, frames };
    if (how.kind === 'killed in commit') {
      // If this COMMIT restarted the log or moved it into the file, the end of the log is on the disk.
      if (how.framesBefore >= now.frames || now.moved > how.framesBefore) return { bytes, frames };
      return {
        bytes: bytes.subarray(
          0,
          sizeOf(how.framesBefore) + this.random.below(sizeOf(now.frames) - sizeOf(how.framesBefore)),
        ),
        frames: Math.min(frames, how.framesBefore),
      };
    }
    this.loseSectors(bytes, Math.min(bytes.length, sizeOf(frames)));
    return { bytes, frames };
  }

  private loseSectors(bytes: Uint8Array, from: number): void {
    const { random } = this;
    const share = random.pick([1, 1, 0.5, 0.05]);
    const whole = random.chance(0.3) ? from + random.below(bytes.length - from + 1) : from;
    // Synced bytes stay, even if they share a sector with unsynced ones.
    for (let at = whole; at < bytes.length;) {
      const next = Math.min(bytes.length, (Math.floor(at / SECTOR_BYTES) + 1) * SECTOR_BYTES);
      if (random.chance(share)) bytes.fill(0, at, next);
      at = next;
    }
  }
}

interface LogState extends SyncedLog {
  /** Frames that are already in the database file. */
  readonly moved: number;
  readonly frameBytes: number;
}

/** From SQLite's shared index of the log (https://www.sqlite.org/walformat.html). */
function logOf(path: string): LogState {
  const index = readStart(`${path}-shm`, 136);
  const salt = saltOf(`${path}-wal`);
  if (index === null) return { salt, frames: 0, moved: 0, frameBytes: FRAME_HEADER_BYTES };
  const pageBytes = index.readUInt16LE(14);
  return {
    salt,
    frames: index.readUInt32LE(16),
    moved: index.readUInt32LE(96),
    frameBytes: FRAME_HEADER_BYTES + (pageBytes === 1 ? 65_536 : pageBytes),
  };
}

function saltOf(log: string): string {
  return readStart(log, LOG_HEADER_BYTES)?.toString('hex', 16, 24) ?? 'none';
}

/** Null if the file is missing or shorter. */
function readStart(path: string, length: number): Buffer | null {
  if (!existsSync(path)) return null;
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return readSync(descriptor, bytes, 0, length, 0) === length ? bytes : null;
  } finally {
    closeSync(descriptor);
  }
}

function copyDatabase(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  for (const [old, next] of [
    [from, to],
    [`${from}-wal`, `${to}-wal`],
    [sumsPath(from), sumsPath(to)],
  ] as const) {
    rmSync(next, { force: true });
    if (existsSync(old)) copyFileSync(old, next);
  }
}

/** The folder is in memory if the system offers that. */
function newFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return mkdtempSync('/dev/shm/rockpool-simulation-');
  } catch {
    return mkdtempSync(join(tmpdir(), 'rockpool-simulation-'));
  }
}
