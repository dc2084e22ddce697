import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { expect, it } from 'vitest';
import { atLevel } from '../../../tests/kit/level.ts';
import { createClient, sql } from './index.ts';
import { defineSchema } from './schema/index.ts';
import { freshName } from '../testing/browser-tabs.ts';

const note = sqliteTable('note', { id: text().primaryKey(), body: text() });
const schema = defineSchema({ note });

// What branches do is tested in Node, in `tests/branches/`.
it.each(atLevel({ test: ['opfs'], verify: ['opfs', 'indexeddb'] } as const))(
  'a branch in a worker is merged, and holds back the writes of its tab, on %s',
  async (persistence) => {
    const client = await createClient({ name: freshName(), schema, persistence });
    await client.execute(sql`INSERT INTO note VALUES ('a', 'origin')`);
    const branch = await client.branch('what if');
    await branch.execute(sql`UPDATE note SET body = 'branch'`);
    await client.execute(sql`UPDATE note SET body = 'origin again'`);
    const failing = branch.merge().catch((error: unknown) => error);
    await Promise.resolve();
    const write = branch.execute(sql`UPDATE note SET body = 'late'`);
    expect(await failing).toMatchObject({ code: 'branch-conflicts' });
    await write;
    const merged = branch.merge({ conflicts: 'branch' });
    await Promise.resolve();
    const lost = branch.execute(sql`UPDATE note SET body = 'too late'`).catch((error: unknown) => error);
    expect(await merged).toMatchObject({ rows: [{ key: ['a'] }] });
    expect(await lost).toMatchObject({ code: 'branch-ended' });
    expect(await client.query('SELECT body FROM note')).toEqual([{ body: 'late' }]);
    expect(await client.listBranches()).toEqual([]);
    await client.close();
  },
);
