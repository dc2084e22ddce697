import { MAX_CHANGESET_ROWS } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { insert, remove, type Change } from '../../../testing/changeset.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { DATABASE, TestServer } from '../../../testing/test-server.ts';
import { temporaryFolder } from '../../../../../tests/kit/temporary-folder.ts';

const postgres = postgresUnderTest();

const CHILDREN = 30_000;

it('PostgreSQL commits the largest legal deletes', async () => {
  const folder = temporaryFolder();
  const { url } = await postgres.server.createDatabase();
  const server = await TestServer.start(folder, { postgres: url, limits: { silenceLimitMs: 600_000 } });
  try {
    const a = await server.open();
    const b = await server.open(undefined, { principal: 'ben' });
    const ids = Array.from({ length: MAX_CHANGESET_ROWS }, (_, i) => `k${i}`);
    const commit = async (changes: readonly Change[]): Promise<unknown> => {
      const { sequence } = a.site.write(changes);
      a.push(sequence);
      return (await a.decided(sequence)).outcomes.at(-1);
    };
    expect(await commit(ids.map((id) => insert('accounts', id, { name: id })))).toMatchObject({ kind: 'admitted' });
    expect(await commit(ids.map((id) => remove('accounts', id)))).toMatchObject({ kind: 'admitted' });
    expect(await commit([insert('accounts', 'parent', { name: 'parent' })])).toMatchObject({ kind: 'admitted' });
    for (const { site } of [b]) while (site.cursor < a.site.cursor) await b.delivery();
    await b.commit(
      Array.from({ length: CHILDREN }, (_, i) => insert('entries', `e${i}`, { account_id: 'parent', amount: 1n })),
    );
    expect(await commit([remove('accounts', 'parent')])).toMatchObject({ kind: 'admitted' });
    expect(server.query('SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM entries)', DATABASE)).toEqual([
      [0n, 0n],
    ]);
  } finally {
    await server.stop();
  }
});
