import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RockpoolError } from '@rockpool/shared';
import { syncPath, writeDurably } from './write-durably.ts';

/** The request for a restore. After an interruption, the same command continues it. */
export interface RestoreRequest {
  /** The name of the backup. */
  readonly from: string;
  /** Null: all databases and the members. */
  readonly databaseId: string | null;
  /** Null: the newest state. */
  readonly asked: number | null;
}

/** A restore that has begun. No server starts before it is complete. */
export interface RestoreState extends RestoreRequest {
  /** The restored state, ms since 1970. */
  readonly atMs: number;
  /** What is restored already. */
  readonly done: readonly string[];
}

/** Holds what a restore is fetching, and its state. It is removed at the end. */
export function restoringFolder(dataDir: string): string {
  return join(dataDir, 'restoring');
}

/**
 * Throws `database-unavailable` if a restore into the directory was interrupted: a server would create empty databases
 * in place of those that are missing.
 */
export function requireFinishedRestore(dataDir: string): void {
  if (existsSync(restoringFolder(dataDir)))
    throw new RockpoolError('database-unavailable', {
      problem: `a restore into this data directory did not finish; run it again, or remove ${restoringFolder(dataDir)}`,
    });
}

/**
 * Returns the interrupted restore of this request, or null if there is none. Throws `config-invalid` if a restore with
 * different arguments was interrupted.
 */
export function readRestore(dataDir: string, { from, databaseId, asked }: RestoreRequest): RestoreState | null {
  const path = statePath(dataDir);
  if (!existsSync(path)) return null;
  const known = JSON.parse(readFileSync(path, 'utf8')) as RestoreState;
  if (known.from === from && known.databaseId === databaseId && known.asked === asked) return known;
  throw new RockpoolError('config-invalid', {
    count: 1,
    problems: `a restore from ${known.from} did not finish; run it again with the same arguments, or remove ${restoringFolder(dataDir)} and start over`,
  });
}

/** Durable when this returns. */
export function writeRestore(dataDir: string, state: RestoreState): void {
  writeDurably(statePath(dataDir), JSON.stringify(state));
  syncPath(dataDir);
}

/** Renamed first, because a kill in the middle of the removal would leave a folder that no command continues. */
export function endRestore(dataDir: string): void {
  const ended = join(dataDir, 'incoming', 'restored');
  rmSync(ended, { recursive: true, force: true });
  mkdirSync(dirname(ended), { recursive: true });
  renameSync(restoringFolder(dataDir), ended);
  rmSync(ended, { recursive: true, force: true });
}

function statePath(dataDir: string): string {
  return join(restoringFolder(dataDir), 'restore.json');
}
