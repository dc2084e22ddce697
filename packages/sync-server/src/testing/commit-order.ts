import { expect } from 'vitest';
import { insert } from './changeset.ts';
import { TestConnection, TestSite } from './test-client.ts';
import { DATABASE, type TestServer } from './test-server.ts';
import { told } from './told.ts';

export interface CommitOrderPlan {
  /** Instances of one server. */
  readonly servers: readonly TestServer[];
  readonly writers: number;
  readonly readers: number;
  /** Rows inserted in all, each once. */
  readonly rows: number;
  readonly rowsPerChangeset: number;
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
  const reading = Array.from({ length: readers }, (_, number) => read(serverOf(number), total));
  await Promise.all(Array.from({ length: writers }, (_, number) => write(serverOf(number), `w${number}`, changesets, rowsPerChangeset, watermarks)));
  expect(new Set(watermarks.values()).size, 'each changeset has a watermark of its own').toBe(changesets * writers);
  expect(Math.max(...watermarks.values())).toBe(changesets * writers);
  for (const heard of await Promise.all(reading)) {
    expect(heard.size).toBe(total);
    for (const [id, [from, to]] of heard) {
      const watermark = watermarks.get(id.slice(0, id.lastIndexOf('.'))) ?? 0;
      if (watermark <= from || watermark > to) throw new Error(`${id}, of watermark ${watermark}, came with the delivery from ${from} to ${to}`);
    }
  }
}

/** Notes the watermark of each changeset, by its name. */
async function write(server: TestServer, name: string, changesets: number, rowsPerChangeset: number, watermarks: Map<string, number>): Promise<void> {
  const connection = await server.open(new TestSite(), { principal: name });
  const { site } = connection;
  for (let number = 1; number <= changesets; number++) site.write(Array.from({ length: rowsPerChangeset }, (_, row) => insert('entries', `${name}-${number}.${row}`, { amount: BigInt(row) })), { base: 0 });
  let sent = 0;
  while (site.decidedUpTo < changesets) {
    while (sent < changesets && sent - site.decidedUpTo < CHANGESETS_PER_PUSH * PUSHES_ON_THEIR_WAY) {
      const to = Math.min(sent + CHANGESETS_PER_PUSH, changesets);
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

/** The delivery that each row came with. */
async function read(server: TestServer, total: number): Promise<Map<string, readonly [from: number, to: number]>> {
  const connection = await TestConnection.connect(`ws://${server.host}/sync`);
  connection.hello(await server.token('viewer'), DATABASE);
  await connection.next('welcome');
  const heard = new Map<string, readonly [number, number]>();
  while (heard.size < total) {
    const delivery = await connection.delivery();
    for (const { key } of told(delivery, 'entries')) {
      const id = String(key[0]);
      if (heard.has(id)) throw new Error(`${id} came twice`);
      heard.set(id, [delivery.from, delivery.to]);
    }
  }
  await connection.close();
  return heard;
}
