import { statSync } from 'node:fs';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { readUnloadedMark } from './unloaded-mark.ts';
import { damageBeforeOpening, sqliteDamage, type DamageProblem } from './file-damage.ts';

/** Facts about a database that are cheap to read. */
export interface DatabaseOutline {
  /** Size, including the write-ahead log. Null in PostgreSQL. */
  readonly sizeBytes: number | null;
  /** The watermark of its log. Null if the file cannot be read. */
  readonly watermark: number | null;
  /** The time of the last admitted changeset. Null if there is none. */
  readonly lastWriteMs: number | null;
  readonly damage: DamageProblem | null;
  /**
   * When the database was unloaded, ms since 1970: then only the continuous backup has it. Null if its file is on this
   * server.
   */
  readonly unloadedMs: number | null;
}

/** Reads the outline of a database file, also while a server has it open. */
export function outlineOfFile(path: string): DatabaseOutline {
  const sizeBytes = ['', '-wal'].reduce(
    (sum, suffix) => sum + (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  const unloaded = readUnloadedMark(path);
  if (unloaded !== null) {
    const { watermark, lastWriteMs, unloadedMs } = unloaded;
    return { sizeBytes: unloaded.sizeBytes, watermark, lastWriteMs, damage: null, unloadedMs };
  }
  const damage = damageBeforeOpening(path);
  const unread = { sizeBytes, watermark: null, lastWriteMs: null, damage, unloadedMs: null };
  if (damage === 'missing' || damage === 'empty') return unread;
  try {
    return { ...unread, ...endOfLog(path) };
  } catch (error) {
    return { ...unread, damage: damage ?? problemOf(error) };
  }
}

function problemOf(error: unknown): DamageProblem | null {
  return (sqliteDamage(error)?.fields['problem'] ?? null) as DamageProblem | null;
}

function endOfLog(path: string): Pick<DatabaseOutline, 'watermark' | 'lastWriteMs'> {
  const sql = new SqliteFile(path, { readOnly: true });
  try {
    const last = sql.get('SELECT watermark, received_ms FROM rockpool_log ORDER BY watermark DESC LIMIT 1');
    return { watermark: Number(last?.[0] ?? 0), lastWriteMs: last === undefined ? null : Number(last[1]) };
  } finally {
    sql.close();
  }
}
