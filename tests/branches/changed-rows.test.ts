import * as branchDocuments from '#client/branch/branch-documents.ts';
import { BranchMerging, type BranchMergingParts } from '#client/branch/branch-merging.ts';
import type { Branch, Client } from '#client/index.ts';
import { createDevice } from '#client/node/index.ts';
import type { BranchStart } from '#client/rpc/branch-file.ts';
import { defineSchema } from '#client/schema/index.ts';
import { sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const entry = sqliteTable('entry', { id: text().primaryKey(), note: text(), tag: text() });
const schema = defineSchema({ entry });

let client: Client;
let branch: Branch;
beforeEach(async () => {
  client = await createDevice().createClient({ name: 'budget', schema });
  await client.execute("INSERT INTO entry (id, note) VALUES ('e', 'market')");
  branch = await client.branch('what if');
  await branch.execute("UPDATE entry SET note = 'one'");
});
afterEach(async () => {
  await branch.close();
  await client.close();
});

/** Reads the branch's changed rows, while a tab writes in the branch after each of the first reads of its changelog. */
async function changedRows(writes: number): Promise<unknown[]> {
  const [meta] = await branch.query<{ json: string }>(
    "SELECT value AS json FROM rockpool_meta WHERE key = 'branch_json'",
  );
  let written = 0;
  const query: Client['query'] = async (statement: never, ...params: never[]) => {
    const rows = await branch.query(statement, ...params);
    if (JSON.stringify(statement).includes('SELECT body, before') && written < writes)
      await branch.execute('UPDATE entry SET tag = ?', [`written ${++written}`]);
    return rows as never;
  };
  const parts: BranchMergingParts = {
    branchName: branch.branchName,
    start: JSON.parse(meta?.json ?? '') as BranchStart,
    origin: client,
    client: { query, transaction: branch.transaction },
    schema,
    loadDocuments: async () => branchDocuments,
    onProblem: () => undefined,
  };
  const rows = await new BranchMerging(parts).changedRows();
  return rows.map(({ key, base, ours }) => [key, base && Object.fromEntries(base), ours && Object.fromEntries(ours)]);
}

describe('the changed rows of a branch', () => {
  it.each([1, 4, 5])('are those of one state, even if %i writes happen while they are read', async (writes) => {
    expect(await changedRows(writes)).toEqual([
      [['e'], { note: 'market', tag: null }, { note: 'one', tag: `written ${writes}` }],
    ]);
  });
});
