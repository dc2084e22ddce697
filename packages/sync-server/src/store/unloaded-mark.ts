import { existsSync, readFileSync } from 'node:fs';

/**
 * `<database>-unloaded` stands for the file of a database that only the continuous backup has. It is written after the
 * copy has been compared with the file, and removed once the file is back.
 */
export interface UnloadedMark {
  /** The name of the destination. */
  readonly destination: string;
  /** The copy that the file was compared with. */
  readonly generation: string;
  readonly copies: number;
  readonly stateSum: string;
  /** The size of the file. */
  readonly sizeBytes: number;
  readonly watermark: number | null;
  readonly lastWriteMs: number | null;
  readonly unloadedMs: number;
}

export function unloadedPath(databasePath: string): string {
  return `${databasePath}-unloaded`;
}

/**
 * Null if the database is not unloaded. A mark beside an existing file does not count, because it is about to be
 * removed.
 */
export function readUnloadedMark(databasePath: string): UnloadedMark | null {
  if (!existsSync(unloadedPath(databasePath)) || existsSync(databasePath)) return null;
  return JSON.parse(readFileSync(unloadedPath(databasePath), 'utf8')) as UnloadedMark;
}
