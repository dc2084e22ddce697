import { tableIdOf, type Delivery } from '@rockpool/shared';
import { expect } from 'vitest';
import type { Role } from '../src/auth/role.ts';
import { insert } from './changeset.ts';
import { type TestConnection, TestSite } from './test-client.ts';
import { DATABASE } from './test-server.ts';

/** One instance of a server, in this process or another. */
export interface Instance {
  connect(site: TestSite): Promise<TestConnection>;
  token(role: Role, principal: string): Promise<string>;
}

export interface CommitOrderPlan {
  readonly instances: readonly Instance[];
  readonly writers: number;
  readonly readers: number;
  /** Total number of rows to insert, each once. */
  readonly rows: number;
  /** At most 30, because a reader keeps one bit per row of a changeset. */
  readonly rowsPerChangeset: number;
}

/**
 * Pushes in flight per writer. With many, an instance would combine them into a few large commits, and the test would
 * see few different orders.
 */
const PUSHES_IN_FLIGHT = 2;

/**
 * The maximum number of changesets by which a writer is ahead of the slowest one. Without a limit, a busy machine can
 * let one instance do all its work before another gets a turn, and then their commits would not interleave.
 */
const MAX_LEAD = 3;

/** Deliveries that a reader receives from one instance before it moves to the next, which may be behind. */
const DELIVERIES_PER_INSTANCE = 50;

/**
 * Writers push as fast as they get responses, each through one instance, while readers follow and move between
 * instances. Checks that every reader receives every row exactly once, in the delivery that passes the row's watermark,
 * so no row becomes visible below a cursor.
 */
export async function checkCommitOrder({
  instances,
  writers,
  readers,
  rows,
  rowsPerChangeset,
}: CommitOrderPlan): Promise<void> {
  const changesets = Math.ceil(rows / rowsPerChangeset / writers);
  const instanceOf = (number: number): Instance => instances[number % instances.length] as Instance;
  const pace = new Pace(writers);
  const writing = Array.from(
    { length: writers },
    (_, number) => new Writer(number, changesets, rowsPerChangeset, pace),
  );
  const reading = Array.from(
    { length: readers },
    (_, number) => new Reader(number, changesets * writers, rowsPerChangeset),
  );
  await Promise.all([
    ...writing.map((writer, number) => writer.writeAt(instanceOf(number))),
    ...reading.map((reader) => reader.readAt(instanceOf)),
  ]);
  const watermarks = writing.flatMap((writer) => writer.watermarks);
  expect(new Set(watermarks).size, 'each changeset has a watermark of its own').toBe(watermarks.length);
  for (const watermark of watermarks)
    if (watermark < 1 || watermark > watermarks.length)
      throw new Error(`the watermarks have gaps: one is ${watermark}`);
  for (const reader of reading) reader.checkAgainst(watermarks);
  if (instances.length > 1)
    expectTurns(watermarks, (changeset) => Math.floor(changeset / changesets) % instances.length, writers);
}

/** Checks that the commits of the instances interleaved; otherwise the test proves nothing. */
function expectTurns(watermarks: readonly number[], instanceOf: (changeset: number) => number, writers: number): void {
  const inOrder: number[] = [];
  watermarks.forEach((watermark, changeset) => (inOrder[watermark - 1] = instanceOf(changeset)));
  const turns = inOrder.filter((instance, i) => i > 0 && instance !== inOrder[i - 1]).length;
  expect(turns).toBeGreaterThan(watermarks.length / (writers * PUSHES_IN_FLIGHT));
}

/** Limits how far a writer gets ahead of the slowest one. */
class Pace {
  /** The number of admitted changesets of each writer. */
  private readonly admitted: number[];
  private waiting: (() => void)[] = [];

  constructor(writers: number) {
    this.admitted = Array<number>(writers).fill(0);
  }

  moved(writer: number, admitted: number): void {
    this.admitted[writer] = admitted;
    for (const wake of this.waiting.splice(0)) wake();
  }

  /** Waits while the writer is too far ahead. The slowest one never waits. */
  async keepTo(writer: number): Promise<void> {
    while ((this.admitted[writer] ?? 0) >= Math.min(...this.admitted) + MAX_LEAD)
      await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

/** Writes changesets with numbers that are unique across all writers. */
class Writer {
  /** The numbers of its changesets, in order. */
  readonly watermarks: number[] = [];
  private readonly site = new TestSite();
  private readonly number: number;
  private readonly changesets: number;
  private readonly rowsPerChangeset: number;
  private readonly pace: Pace;

  constructor(number: number, changesets: number, rowsPerChangeset: number, pace: Pace) {
    this.number = number;
    this.changesets = changesets;
    this.rowsPerChangeset = rowsPerChangeset;
    this.pace = pace;
  }

  async writeAt(instance: Instance): Promise<void> {
    const connection = await instance.connect(this.site);
    await connection.open(await instance.token('editor', `w${this.number}`), DATABASE);
    while (this.watermarks.length < this.changesets) {
      await this.pace.keepTo(this.number);
      this.push(connection);
      const { outcomes } = await connection.delivery();
      this.site.logHashes.clear();
      for (const outcome of outcomes) {
        if (outcome.kind !== 'admitted')
          throw new Error(`changeset ${outcome.sequence} of writer ${this.number} was refused: ${outcome.code}`);
        this.watermarks[outcome.sequence - 1] = outcome.watermark;
      }
      this.pace.moved(this.number, this.watermarks.length);
    }
    await connection.close();
  }

  private push(connection: TestConnection): void {
    const { site, changesets } = this;
    while (site.changelog.length < Math.min(changesets, site.lastAckedSequence + PUSHES_IN_FLIGHT)) {
      const changeset = this.number * changesets + site.changelog.length;
      const { sequence } = site.write(
        Array.from({ length: this.rowsPerChangeset }, (_, row) =>
          insert('entries', `${changeset}.${row}`, { amount: BigInt(row) }),
        ),
        { base: 0 },
      );
      connection.push(sequence);
    }
  }
}

/** Keeps little state per changeset, because there are millions of rows and many readers. */
class Reader {
  private readonly site = new TestSite();
  private readonly number: number;
  /** One bit for each row that has not arrived yet. */
  private readonly missing: Int32Array;
  /** For each changeset, the delivery that contained it. */
  private readonly from: Int32Array;
  private readonly to: Int32Array;
  private readonly changesets: number;

  constructor(number: number, changesets: number, rowsPerChangeset: number) {
    this.number = number;
    this.missing = new Int32Array(changesets).fill(2 ** rowsPerChangeset - 1);
    this.from = new Int32Array(changesets);
    this.to = new Int32Array(changesets);
    this.changesets = changesets;
  }

  async readAt(instanceOf: (number: number) => Instance): Promise<void> {
    for (let stay = this.number; this.site.cursor < this.changesets; stay++) {
      const instance = instanceOf(stay);
      const connection = await instance.connect(this.site);
      this.take((await connection.open(await instance.token('viewer', 'reader'), DATABASE)).first);
      for (let count = 1; count < DELIVERIES_PER_INSTANCE && this.site.cursor < this.changesets; count++) {
        this.site.logHashes.clear();
        this.take(await connection.delivery());
        connection.confirm();
      }
      await connection.close();
    }
  }

  /** Throws if a row arrives twice, or in a different delivery from the other rows of its changeset. */
  private take({ from, to, groups }: Delivery): void {
    const entries = tableIdOf('entries');
    for (const { tableId, keys } of groups) {
      if (tableId !== entries) continue;
      for (const key of keys[0] ?? []) {
        const [changeset = 0, row = 0] = String(key).split('.').map(Number);
        const missing = this.missing[changeset] ?? 0;
        if ((missing & (1 << row)) === 0) throw new Error(`row ${row} of changeset ${changeset} arrived twice`);
        if (this.to[changeset] !== 0 && this.to[changeset] !== to)
          throw new Error(`changeset ${changeset} arrived in two deliveries`);
        this.missing[changeset] = missing & ~(1 << row);
        this.from[changeset] = from;
        this.to[changeset] = to;
      }
    }
  }

  checkAgainst(watermarks: readonly number[]): void {
    watermarks.forEach((watermark, changeset) => {
      if (this.missing[changeset] !== 0)
        throw new Error(`rows of changeset ${changeset}, of watermark ${watermark}, never arrived`);
      const [from, to] = [this.from[changeset] ?? 0, this.to[changeset] ?? 0];
      if (watermark <= from || watermark > to)
        throw new Error(
          `changeset ${changeset}, of watermark ${watermark}, arrived with the delivery from ${from} to ${to}`,
        );
    });
  }
}
