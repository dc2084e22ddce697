import {
  buildSchema,
  CONFLICT_TABLE,
  keyColumns,
  quoteName,
  syncedTables,
  tableToDdl,
  type Schema,
} from '#shared/index.ts';
import { pastRows } from '#sync-server/history/past-rows.ts';
import { SqliteFile } from '#sync-server/sqlite/sqlite-file.ts';
import type { StoredTable } from '#sync-server/sqlite/stored-table.ts';
import type { DatabaseFile } from '#sync-server/store/database-file.ts';
import { contentOf } from './checks.ts';
import { householdSchema } from './household-schema.ts';
import { linesOf, type TableTexts } from './oracle/tables.ts';
import type { Random } from './random.ts';
import { textsOnServer } from './read-server.ts';
import type { Variant } from './variant.ts';

/**
 * Whether the server keeps versions of rows in this history. It does in every third history on one instance, so that
 * the other histories keep their speed and the meaning of their seeds.
 */
export function keepsHistory(seed: number, { instances = 1 }: Variant): boolean {
  return instances === 1 && seed % 3 === 0;
}

/** The schema with a history of every synced table. It has the same hash. */
export function withHistory(schema: Schema): Schema {
  return buildSchema(
    schema.tables.map((table) => (table.synced ? { ...table, history: { retainedDays: null } } : table)),
  );
}

/** The number of commits between two reads of a past state. The last states are read at the end. */
const EVERY = 25;
const AT_THE_END = 8;

interface Recorded {
  readonly watermark: number;
  readonly logHash: string;
  readonly content: TableTexts;
}

/** How many of the newest commits users look back at: most often they look at what was written shortly before. */
const NEWEST = 30;

/**
 * Records what the server's tables held after each commit. Later, the kept versions must yield each of these states,
 * even if the server has pruned, compacted or lost data in between.
 */
export class PastCheck {
  private readonly recorded: Recorded[] = [];
  private readonly onFault: (fault: string) => void;
  private readonly count: () => void;
  private commits = 0;

  constructor(onFault: (fault: string) => void, count: () => void) {
    this.onFault = onFault;
    this.count = count;
  }

  onCommit(file: DatabaseFile, logHash: string, content: TableTexts): void {
    this.recorded.push({ watermark: file.log.watermark, logHash, content });
    // Checks an older state every `EVERY` commits.
    if (++this.commits % EVERY === 0) this.check(file, this.recorded[(this.commits * 7) % this.recorded.length]);
  }

  /** The watermark of one of the last transactions that changed one of the tables. Null if there is none. */
  pickVersion(file: DatabaseFile, random: Random, tables: Iterable<string>): number | null {
    const names = [...tables];
    const versions = this.recorded.slice(-NEWEST).flatMap(({ watermark }) => {
      const around = this.around(file, watermark);
      const isOne = names.some((name) => around?.before.get(name) !== around?.after.get(name));
      return isOne ? [watermark] : [];
    });
    return versions.length === 0 ? null : random.pick(versions);
  }

  /** The rows before and after a transaction that was committed alone, in the current log. */
  around(file: DatabaseFile, version: number): { readonly before: TableTexts; readonly after: TableTexts } | null {
    const at = this.recorded.findLastIndex(({ watermark }) => watermark === version);
    const [before, after] = [this.recorded[at - 1], this.recorded[at]];
    if (before?.watermark !== version - 1 || after === undefined) return null;
    const isPast = (one: Recorded): boolean =>
      one.watermark <= file.log.watermark && hex(file.log.hashAt(one.watermark)) === one.logHash;
    return isPast(before) && isPast(after) ? { before: before.content, after: after.content } : null;
  }

  atTheEnd(file: DatabaseFile): void {
    const step = Math.max(1, Math.floor(this.recorded.length / AT_THE_END));
    for (let at = 0; at < this.recorded.length; at += step) this.check(file, this.recorded[at]);
  }

  private check(file: DatabaseFile, recorded: Recorded | undefined): void {
    if (recorded === undefined) return;
    const { watermark, logHash, content } = recorded;
    // A server that was restored, or lost power, has a different log from some watermark on.
    if (watermark > file.log.watermark || hex(file.log.hashAt(watermark)) !== logHash) return;
    const past = pastContent(file, watermark);
    for (const [name, expected] of content) {
      const found = past.get(name) ?? '';
      if (name === CONFLICT_TABLE.name || found === expected) continue;
      const lines = (from: string, without: string): string =>
        linesOf(from)
          .filter((line) => !linesOf(without).includes(line))
          .slice(0, 3)
          .join(' | ');
      this.onFault(
        `the past at ${watermark} differs in ${name}: it has ${lines(found, expected) || '(nothing)'} instead of ${lines(expected, found) || '(nothing)'}`,
      );
    }
    this.count();
  }
}

/** The rows as contentOf writes them. */
function pastContent(file: DatabaseFile, watermark: number): Map<string, string> {
  const sql = new SqliteFile(':memory:');
  try {
    sql.exec(
      'CREATE TABLE rockpool_conflict (id, table_name, row_key, column_name, rule, lost_value, won_value, lost_by, won_by, lost_site, won_site, lost_at_ms, won_at_ms, watermark, path)',
    );
    for (const schema of syncedTables(householdSchema)) {
      const table = file.tableByName.get(schema.name) as StoredTable;
      const [create = ''] = tableToDdl(schema);
      sql.exec(create);
      const columns = [...keyColumns(schema), ...table.values].map(({ name }) => quoteName(name));
      for (const row of pastRows(file, table, { watermark, receivedMs: 0 }, 0))
        sql.run(
          `INSERT INTO ${quoteName(schema.name)} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
          ...row,
        );
    }
    return contentOf(textsOnServer(sql));
  } finally {
    sql.close();
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
