import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from './client.ts';
import type { ClientOptions } from './interface/client-options.ts';
import { createClient, sql } from './index.ts';
import { defineSchema } from './schema/index.ts';
import { freshName } from '../testing/browser-tabs.ts';

const point = sqliteTable('point', { id: text().primaryKey(), n: integer(), label: text() });
const schema = defineSchema({ point });

const open: Client[] = [];
async function openClient(options: Partial<ClientOptions> = {}): Promise<Client> {
  const client = await createClient({ name: freshName(), schema, ...options });
  open.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

/** Rows for three chunks, which have up to 8,192. */
const FILL = `WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < 19999) INSERT INTO point SELECT 'p' || n, n, 'point ' || n FROM i`;

describe('a result by column', () => {
  it('returns numbers as a typed array with NULL as NaN, and other columns as values', async () => {
    const client = await openClient({ persistence: 'memory' });
    await client.execute(sql`INSERT INTO point VALUES ('a', 1, 'x'), ('b', ${null}, ${null}), ('c', 3, 'z')`);
    const { rowCount, columns } = await client.columns('SELECT id, n, label FROM point ORDER BY id');
    expect(rowCount).toBe(3);
    expect(columns['n']).toEqual(new Float64Array([1, Number.NaN, 3]));
    expect(columns['label']).toEqual(['x', null, 'z']);
  });
});

describe.each(['leader', 'follower', 'indexeddb'] as const)('a stream, %s', (kind) => {
  async function openKind(): Promise<Client> {
    const name = freshName();
    if (kind === 'indexeddb') return openClient({ name, persistence: 'indexeddb' });
    const leader = await openClient({ name });
    return kind === 'leader' ? leader : openClient({ name });
  }

  it('yields all rows in order, in chunks', async () => {
    const client = await openKind();
    await client.execute(FILL);
    const sizes: number[] = [];
    let next = 0;
    for await (const rows of client.stream<{ n: number }>('SELECT n FROM point ORDER BY n')) {
      sizes.push(rows.length);
      for (const { n } of rows) expect(n).toBe(next++);
    }
    expect(next).toBe(20_000);
    if (kind !== 'indexeddb') expect(sizes.length).toBeGreaterThan(2);
  });

  it('reads one snapshot while writes and reads continue', async () => {
    const client = await openKind();
    await client.execute(FILL);
    let count = 0;
    for await (const rows of client.stream('SELECT id FROM point')) {
      if (count === 0) {
        await client.execute('DELETE FROM point');
        expect(await client.query('SELECT count(*) AS n FROM point')).toEqual([{ n: 0 }]);
      }
      count += rows.length;
    }
    expect(count).toBe(20_000);
  });

  it('ends with its loop, and rejects with the errors of a query', async () => {
    const client = await openKind();
    await client.execute(FILL);
    for await (const rows of client.stream('SELECT id FROM point')) {
      expect(rows.length).toBeGreaterThan(0);
      break;
    }
    await client.execute('DELETE FROM point');
    const broken = async (): Promise<void> => {
      for await (const _ of client.stream('SELECT nothing FROM nowhere'));
    };
    await expect(broken()).rejects.toMatchObject({ code: 'query-invalid' });
  });
});
