import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { CopiedDatabase } from '../src/backup/copied-database.ts';
import { fetchPages } from '../src/backup/fetch-pages.ts';
import { listCopies } from '../src/backup/generations.ts';
import { maintain } from '../src/backup/maintenance.ts';
import type { GenerationReason } from '../src/backup/page-copier.ts';
import { planRestore } from '../src/backup/restore-plan.ts';
import { SqliteFile } from '../src/sqlite/sqlite-file.ts';
import { MemoryDestination } from './memory-destination.ts';

export const SOURCE = 'db-a';

/** A database file that is written to, copied, closed, killed and restored, with a clock of its own. */
export class CopiedHistory {
  readonly destination: MemoryDestination = new MemoryDestination();
  readonly reasons: GenerationReason[] = [];
  /** The rows after each copy, by time. */
  readonly states: { readonly atMs: number; readonly rows: string }[] = [];
  readonly damage: unknown[] = [];
  nowMs = 1_000_000;
  storedBytes = 0;
  maxGenerationMs: number = Infinity;
  sql!: SqliteFile;
  copied!: CopiedDatabase;
  private readonly folder: string;
  private number = 0;
  private watermark = 0;
  path: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.path = join(folder, 'a.sqlite');
  }

  static async open(folder: string): Promise<CopiedHistory> {
    const history = new CopiedHistory(folder);
    const sql = new SqliteFile(history.path);
    sql.transaction(() =>
      sql.exec(`CREATE TABLE rockpool_log (watermark INTEGER PRIMARY KEY);
        CREATE TABLE item (id INTEGER PRIMARY KEY, content TEXT); CREATE INDEX item_content ON item (content)`),
    );
    sql.close();
    await history.reopen();
    return history;
  }

  async reopen(): Promise<void> {
    this.sql = new SqliteFile(this.path);
    this.copied = new CopiedDatabase(
      this.sql,
      {
        databasePath: this.path,
        source: SOURCE,
        destination: this.destination,
        now: () => this.nowMs,
        maxGenerationMs: this.maxGenerationMs,
        onGeneration: (_, reason) => this.reasons.push(reason),
        onStored: (bytes) => (this.storedBytes += bytes),
      },
      { onChange: () => undefined, onClosed: () => undefined, onDamaged: (error) => this.damage.push(error) },
    );
    await this.copied.begin(Promise.resolve());
  }

  close(): void {
    this.sql.close();
  }

  /** Continues with the files as a server that is killed now leaves them. */
  async kill(): Promise<void> {
    const left = join(this.folder, `after-kill-${++this.number}.sqlite`);
    for (const suffix of ['', '-wal', '-sums', '-copied'])
      if (existsSync(this.path + suffix)) copyFileSync(this.path + suffix, left + suffix);
    this.close();
    this.path = left;
    const sql = new SqliteFile(this.path);
    sql.checkpoint();
    sql.close();
    await this.reopen();
  }

  commit(...statements: readonly string[]): void {
    this.sql.transaction(() => {
      for (const statement of statements) this.sql.exec(statement);
      this.sql.run('INSERT INTO rockpool_log VALUES (?)', BigInt(++this.watermark));
    });
  }

  /** Copies what differs, and notes the rows if the destination has them now. */
  async copy(): Promise<boolean> {
    this.nowMs += 1_000;
    const rows = this.rows(this.sql);
    const isCopied = await this.copied.copy();
    const { facts } = this.copied;
    if (isCopied && facts !== null) {
      this.states.push({ atMs: this.nowMs, rows });
      const { generation, copies } = facts;
      if (copies % 32 === 0) await maintain(this.destination, { source: SOURCE, generation, copies });
    }
    // Makes later commits later than this moment.
    this.nowMs++;
    return isCopied;
  }

  /** Restores a moment, and returns the rows. Null if there was no database. */
  async restored(atMs: number): Promise<string | null> {
    const plan = planRestore(await listCopies(this.destination, SOURCE), atMs);
    if (plan === null) return null;
    const path = join(this.folder, `restored-${++this.number}.sqlite`);
    await fetchPages(this.destination, plan, path, { atMs });
    const sql = new SqliteFile(path, { hasChecksums: false });
    try {
      expect(sql.all('PRAGMA integrity_check')).toEqual([['ok']]);
      return this.rows(sql);
    } finally {
      sql.close();
    }
  }

  private rows(sql: SqliteFile): string {
    const all = [...sql.all('SELECT * FROM item ORDER BY id'), ...sql.all('SELECT max(watermark) FROM rockpool_log')];
    return JSON.stringify(all, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  }
}
