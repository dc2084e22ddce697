import { buildSchema, type Schema } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { insert, remove, update } from '../../testing/changeset.ts';
import type { TestConnection } from '../../testing/test-client.ts';
import { TEST_TABLES } from '../../testing/test-schema.ts';
import { TestServer } from '../../testing/test-server.ts';

const DAY_MS = 24 * 3600 * 1000;
const WITHOUT = buildSchema(TEST_TABLES);
const WITH = buildSchema(TEST_TABLES.map((table) => ({ ...table, history: { retainedDays: null } })));

/** Runs a server on the folder with this schema at this time, and stops it. */
async function run(
  folder: string,
  { schema, nowMs }: { readonly schema: Schema; readonly nowMs: number },
  body: (connection: TestConnection, server: TestServer) => Promise<void>,
): Promise<void> {
  const server = await TestServer.start(folder, { schema, now: () => nowMs });
  try {
    await body(await server.open(), server);
  } finally {
    await server.stop();
  }
}

async function statusAt(server: TestServer, watermark: number): Promise<number> {
  const answer = await server.ask('GET', `/databases/household/past?watermark=${watermark}`, {
    token: await server.token(),
  });
  await answer.arrayBuffer();
  return answer.status;
}

it('a past state is refused for a time before a table declared its history, if a row has changed since', async () => {
  const folder = temporaryFolder();
  const nowMs = Date.now();
  await run(folder, { schema: WITHOUT, nowMs }, async (a) => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' })]);
    await a.commit([update('accounts', 'x', { name: 'Purse' })]);
  });
  await run(folder, { schema: WITH, nowMs }, async (a, server) => {
    await a.commit([update('accounts', 'x', { name: 'Bank' })]);
    expect(await statusAt(server, 1)).toBe(410);
    expect(await statusAt(server, 2)).toBe(200);
    expect(await statusAt(server, 3)).toBe(200);
  });
});

it('a table that no longer declares a history loses its versions', async () => {
  const folder = temporaryFolder();
  const nowMs = Date.now();
  const versions = (server: TestServer): unknown => server.query('SELECT count(*) FROM rockpool_history')[0]?.[0];
  await run(folder, { schema: WITH, nowMs }, async (a, server) => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' }), insert('products', 'p', { stock: 1n })]);
    await a.commit([update('accounts', 'x', { name: 'Purse' }), update('products', 'p', { stock: 1n })]);
    expect(versions(server)).toBe(2n);
  });
  await run(folder, { schema: WITHOUT, nowMs }, async (a, server) => {
    for (const name of ['Bank', 'Card']) await a.commit([update('accounts', 'x', { name })]);
    expect(versions(server)).toBe(0n);
  });
});

it('a past state is refused if a row was deleted before its table declared a history', async () => {
  const folder = temporaryFolder();
  const nowMs = Date.now();
  await run(folder, { schema: WITHOUT, nowMs }, async (a) => {
    await a.commit([insert('accounts', 'x', { name: 'Cash' }), insert('accounts', 'y', { name: 'Bank' })]);
    await a.commit([remove('accounts', 'x')]);
  });
  await run(folder, { schema: WITH, nowMs: nowMs + 31 * DAY_MS }, async (a, server) => {
    await a.commit([insert('accounts', 'z', { name: 'Card' })]);
    // This commit prunes the tombstone of x, so nothing remains of x, and raises the horizon.
    await a.commit([remove('accounts', 'y')]);
    expect(server.query('SELECT count(*) FROM rockpool_row_version WHERE image IS NOT NULL AND watermark = 2')).toEqual(
      [[0n]],
    );
    expect(await statusAt(server, 1)).toBe(410);
    expect(await statusAt(server, 2)).toBe(200);
  });
  await run(folder, { schema: WITH, nowMs: nowMs + 62 * DAY_MS }, async (a, server) => {
    // The tombstone of y is pruned, but its row has a version, so the horizon does not change.
    await a.commit([update('accounts', 'z', { name: 'Purse' })]);
    expect(await statusAt(server, 2)).toBe(200);
    expect(await statusAt(server, 1)).toBe(410);
  });
});
