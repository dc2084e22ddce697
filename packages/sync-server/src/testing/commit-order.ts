import { expect } from 'vitest';
import { insert } from './changeset.ts';
import { type TestConnection, TestSite } from './test-client.ts';
import { DATABASE, type TestServer } from './test-server.ts';
import { told } from './told.ts';

export interface CommitOrderPlan {
  /** Instances of one server. */
  readonly servers: readonly TestServer[];
  readonly writers: number;
  readonly readers: number;
  /** Rows inserted in all, each once. */
  readonly rows: number;
  /** At most 30. */
  readonly rowsPerChangeset: number;
}

/** A changeset as a reader was told of it. */
interface Heard {
  readonly from: number;
  readonly to: number;
  /** A bit for each of its rows: millions of them are kept for each reader. */
  rows: number;
}

/** Changesets of one push, and pushes on their way: commits of several writers lie beside each other all the time. */
const CHANGESETS_PER_PUSH = 4;
const PUSHES_ON_THEIR_WAY = 2;

/**
 * Writers push as fast as they are answered, each at one of the instances, while readers follow at any of them. Every reader is told of every row once, with the delivery that
 * takes it over that row's watermark: nothing becomes visible behind a cursor.
 */
export async function checkCommitOrder({ servers, writers, readers, rows, rowsPerChangeset }: CommitOrderPlan): Promise<void> {
  const serverOf = (number: number): TestServer => servers[number % servers.length] as TestServer;
  const changesets = Math.ceil(rows / rowsPerChangeset / writers);
  const total = changesets * rowsPerChangeset * writers;
  const watermarks = new Map<string, number>();
  const reading = await Promise.all(Array.from({ length: readers }, (_, number) => listen(serverOf(number))));
  const writing = await Promise.all(Array.from({ length: writers }, (_, number) => serverOf(number).open(new TestSite(), { principal: `w${number}` })));
  const [heardByReader] = await Promise.all([
    Promise.all(reading.map((connection) => read(connection, total))),
    ...writing.map((connection, number) => write(connection, `w${number}`, changesets, rowsPerChangeset, watermarks)),
  ]);
  expect(new Set(watermarks.values()).size, 'each changeset has a watermark of its own').toBe(changesets * writers);
  for (const watermark of watermarks.values()) if (watermark < 1 || watermark > changesets * writers) throw new Error(`the watermarks have gaps: one is ${watermark}`);
  for (const heard of heardByReader) {
    expect(heard.size).toBe(changesets * writers);
    for (const [name, { from, to }] of heard) {
      const watermark = watermarks.get(name) ?? 0;
      if (watermark <= from || watermark > to) throw new Error(`${name}, of watermark ${watermark}, came with the delivery from ${from} to ${to}`);
    }
  }
}

async function listen(server: TestServer): Promise<TestConnection> {
  const connection = await server.connect();
  connection.hello(await server.token('viewer'), DATABASE);
  await connection.next('welcome');
  return connection;
}

/** Notes the watermark of each changeset, by its name. */
async function write(connection: TestConnection, name: string, changesets: number, rowsPerChangeset: number, watermarks: Map<string, number>): Promise<void> {
  const { site } = connection;
  let sent = 0;
  while (site.decidedUpTo < changesets) {
    while (sent < changesets && sent - site.decidedUpTo < CHANGESETS_PER_PUSH * PUSHES_ON_THEIR_WAY) {
      const to = Math.min(sent + CHANGESETS_PER_PUSH, changesets);
      for (let number = sent + 1; number <= to; number++) site.write(Array.from({ length: rowsPerChangeset }, (_, row) => insert('entries', `${name}-${number}.${row}`, { amount: BigInt(row) })), { base: 0 });
      connection.push(sent + 1, to);
      sent = to;
    }
    const { outcomes } = await connection.delivery();
    for (const outcome of outcomes) {
      if (outcome.kind !== 'admitted') throw new Error(`changeset ${outcome.sequence} of ${name} was refused: ${outcome.code}`);
      watermarks.set(`${name}-${outcome.sequence}`, outcome.watermark);
    }
  }
  await connection.close();
}

/** The delivery that each changeset came with, whole. Throws for a row that comes twice, or in another delivery than the others of its changeset. */
async function read(connection: TestConnection, total: number): Promise<Map<string, Heard>> {
  const heardOf = new Map<string, Heard>();
  for (let count = 0; count < total; ) {
    const delivery = await connection.delivery();
    const { from, to } = delivery;
    connection.confirm();
    for (const { key } of told(delivery, 'entries')) {
      const [name = '', row] = String(key[0]).split('.');
      const heard = heardOf.get(name) ?? { from, to, rows: 0 };
      const bit = 1 << Number(row);
      if (heard.to !== to) throw new Error(`${name} came in two deliveries`);
      if ((heard.rows & bit) !== 0) throw new Error(`${name}.${row} came twice`);
      heard.rows |= bit;
      heardOf.set(name, heard);
      count++;
    }
  }
  await connection.close();
  return heardOf;
}
