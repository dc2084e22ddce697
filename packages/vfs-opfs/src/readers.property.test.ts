import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { atLevel } from '../../../tests/kit/level.ts';
import { openStorage } from './open-storage.ts';
import type { Role, Storage } from './storage.ts';
import { SMALL_TUNING } from '../testing/crash-workload.ts';
import { newNodeSqlite } from '../testing/node-sqlite.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import type { SimulatedMedium } from '../testing/simulated-disk.ts';
import { TestConnection, TestSqliteError } from '../testing/test-connection.ts';
import type { TestModule, TestStatement } from '../testing/test-connection.ts';

/*
 * One writer and two readers act in any order: commit, checkpoint, read, hold a read transaction open, freeze, die.
 * Every row of the table holds the number of the last commit, so a read that mixes two commits shows two numbers, and a
 * read that misses one shows an old number. Readers also look in the middle of every write.
 */

const BUSY = 5;
const ROWS = 40;

type Step =
  | {
      readonly kind:
        | 'commit'
        | 'commit-large'
        | 'commit-and-shrink'
        | 'roll-back'
        | 'checkpoint'
        | 'pause'
        | 'replace-writer';
    }
  | {
      readonly kind: 'read' | 'begin' | 'step' | 'end' | 'freeze' | 'thaw' | 'reopen' | 'peek';
      readonly reader: 0 | 1;
    };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'commit',
        'commit-large',
        'commit-and-shrink',
        'roll-back',
        'checkpoint',
        'pause',
        'replace-writer',
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('read', 'begin', 'step', 'end', 'freeze', 'thaw', 'reopen', 'peek'),
      reader: fc.constantFrom(0, 1),
    }),
  },
);

interface Tab {
  readonly medium: SimulatedMedium;
  readonly storage: Storage;
  readonly connection: TestConnection;
}

interface ReaderTab extends Tab {
  statement: TestStatement | undefined;
  /** The commit that the open read transaction shows. */
  shows: number;
  peeks: boolean;
}

let modules: TestModule[] = [];

beforeAll(async () => {
  modules = await Promise.all([newNodeSqlite(), newNodeSqlite(), newNodeSqlite()]);
});

async function openTab(disk: SimulatedDisk, role: Role, index: number): Promise<Tab> {
  const medium = disk.medium();
  const tuning = { ...SMALL_TUNING, logLimitBytes: 48 * 1024 };
  const storage = await openStorage({ name: 'model', medium, role, pageSizeBytes: 1024, tuning });
  const connection = new TestConnection(modules[index]!, storage);
  connection.run('PRAGMA cache_size = 5');
  return { medium, storage, connection };
}

class Model {
  readonly disk = new SimulatedDisk();
  writer!: Tab;
  readers: ReaderTab[] = [];
  committed = 0;
  /** A commit that is being written. Readers may or may not see it. */
  inFlight: number | undefined;
  peekFailure: unknown;

  async start(): Promise<void> {
    this.writer = await openTab(this.disk, 'writer', 0);
    this.writer.connection.run(`CREATE TABLE t(id INTEGER PRIMARY KEY, version INTEGER, content TEXT);
      INSERT INTO t SELECT value, 0, '' FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${ROWS}) SELECT value FROM n)`);
    this.readers = [await this.openReader(0), await this.openReader(1)];
    this.disk.observer = () => {
      try {
        for (const reader of this.readers) if (reader.peeks && reader.statement === undefined) this.read(reader);
      } catch (error) {
        // An error thrown here would look like a failing disk.
        this.peekFailure ??= error;
      }
    };
  }

  async openReader(index: number): Promise<ReaderTab> {
    return { ...(await openTab(this.disk, 'reader', index + 1)), statement: undefined, shows: 0, peeks: false };
  }

  commit(contentBytes: number): void {
    this.inFlight = this.committed + 1;
    this.writer.connection.run(
      `UPDATE t SET version = ${this.inFlight}, content = printf('%.*c', ${contentBytes}, 'c')`,
    );
    this.committed = this.inFlight;
    this.inFlight = undefined;
  }

  read(reader: ReaderTab): void {
    const [smallest, largest, count] = reader.connection.run('SELECT min(version), max(version), count(*) FROM t')[0]!;
    expect(largest).toBe(smallest);
    expect(count).toBe(ROWS);
    expect([this.committed, this.inFlight]).toContain(smallest);
  }

  begin(reader: ReaderTab): void {
    if (reader.statement !== undefined) return;
    const statement = reader.connection.prepare('SELECT version FROM t ORDER BY id');
    reader.shows = Number(statement.step()![0]);
    expect(reader.shows).toBe(this.committed);
    reader.statement = statement;
  }

  /** Continues to read in the open transaction. A revoked reader fails and may then begin again. */
  next(reader: ReaderTab): void {
    try {
      const row = reader.statement?.step();
      if (row === undefined) this.end(reader);
      else expect(row[0]).toBe(reader.shows);
    } catch (error) {
      if (!(error instanceof TestSqliteError)) throw error;
      expect(error.resultCode & 0xff).toBe(BUSY);
      expect(reader.storage.lastError?.code).toBe('storage-snapshot-lost');
      this.end(reader);
    }
  }

  end(reader: ReaderTab): void {
    reader.statement?.finalize();
    reader.statement = undefined;
  }

  async take(step: Step): Promise<void> {
    const { connection, storage } = this.writer;
    switch (step.kind) {
      case 'commit':
        return this.commit(10);
      case 'commit-large':
        return this.commit(700);
      case 'commit-and-shrink':
        this.commit(0);
        connection.run('VACUUM');
        return;
      case 'roll-back':
        connection.run("BEGIN; UPDATE t SET version = -1, content = printf('%.*c', 600, 'r'); ROLLBACK");
        return;
      case 'checkpoint':
        await storage.checkpoint(1);
        return;
      case 'pause':
        await new Promise((resolve) => setTimeout(resolve, 0));
        return;
      case 'replace-writer':
        this.writer.medium.kill();
        connection.close();
        this.writer = await openTab(this.disk, 'writer', 0);
        return;
      default:
        return this.takeAsReader(step.kind, step.reader);
    }
  }

  async takeAsReader(kind: string, index: 0 | 1): Promise<void> {
    const reader = this.readers[index]!;
    if (kind === 'read' && reader.statement === undefined) this.read(reader);
    else if (kind === 'begin') this.begin(reader);
    else if (kind === 'step') this.next(reader);
    else if (kind === 'end') this.end(reader);
    else if (kind === 'freeze' || kind === 'thaw') reader.medium.freeze(kind === 'freeze');
    else if (kind === 'peek') reader.peeks = !reader.peeks;
    else if (kind === 'reopen') {
      this.end(reader);
      reader.peeks = false;
      reader.connection.close();
      await reader.storage.close();
      this.readers[index] = await this.openReader(index);
    }
  }

  async finish(): Promise<void> {
    this.disk.observer = undefined;
    if (this.peekFailure !== undefined) throw this.peekFailure;
    for (const reader of this.readers) {
      this.end(reader);
      this.read(reader);
      expect(reader.connection.value('PRAGMA integrity_check')).toBe('ok');
      reader.connection.close();
      await reader.storage.close();
    }
    expect(this.writer.storage.lastError).toBeUndefined();
    this.writer.connection.close();
    await this.writer.storage.close();
  }
}

it('readers see exactly one commit, the latest, whatever the writer and its log do', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80 }), async (steps) => {
      const model = new Model();
      await model.start();
      for (const next of steps) await model.take(next);
      await model.finish();
    }),
    { numRuns: atLevel({ test: 25, verify: 150 }) },
  );
});
