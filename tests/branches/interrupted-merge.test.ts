import { BranchMerging, type BranchMergingParts } from '#client/branch/branch-merging.ts';
import { RockpoolError, type Branch, type Client } from '#client/index.ts';
import { createDevice } from '#client/node/index.ts';
import type { BranchStart } from '#client/rpc/branch-file.ts';
import { defineSchema } from '#client/schema/index.ts';
import { integer, sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const account = sqliteTable('account', { id: text().primaryKey(), entries: integer().notNull() });
const schema = defineSchema({ account }, { merge: [{ table: account, counters: [account.entries] }] });

let client: Client;
let branch: Branch;
const problems: string[] = [];

beforeEach(async () => {
  problems.length = 0;
  client = await createDevice().createClient({ name: 'budget', schema });
  await client.execute("INSERT INTO account VALUES ('a', 1)");
  branch = await client.branch('what if');
  await branch.execute('UPDATE account SET entries = entries + 1');
});
afterEach(async () => {
  await branch.close();
  await client.close();
});

type Transact = Client['transaction'];
const asWrite = <T>(promise: Promise<T>): ReturnType<typeof client.transaction<T>> =>
  Object.assign(promise, { synced: Promise.resolve() });

/** The merge of the branch, with faults in the transactions of its origin and of its lock. */
async function mergeWith(faults: { readonly origin: Transact; readonly lock?: Transact }): Promise<unknown> {
  const [row] = await branch.query<{ json: string }>(
    "SELECT value AS json FROM rockpool_meta WHERE key = 'branch_json'",
  );
  const parts: BranchMergingParts = {
    branchName: 'what if',
    start: JSON.parse(row?.json ?? '') as BranchStart,
    origin: { query: client.query, transaction: faults.origin },
    client: { query: branch.query, transaction: faults.lock ?? branch.transaction },
    schema,
    loadDocuments: () => Promise.reject(new Error('no documents')),
    onProblem: ({ code }) => void problems.push(code),
  };
  return new BranchMerging(parts).merge({});
}

/** A lock that times out as soon as `due` resolves. */
const timesOut =
  (due: Promise<void>, onTimeout: () => void = () => undefined): Transact =>
  (body, options) =>
    asWrite(
      Promise.race([
        branch.transaction(body, options),
        due.then(() => {
          onTimeout();
          throw new RockpoolError('transaction-timeout');
        }),
      ]),
    );

const entries = (): Promise<unknown[]> => client.query('SELECT entries FROM account');

describe('a merge', () => {
  it('is not committed after its lock has timed out', async () => {
    const [written, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let writing: Promise<unknown> = Promise.resolve();
    const merged = mergeWith({
      origin(body, options) {
        const transaction = client.transaction(async (tx) => {
          const result = await body(tx);
          written.resolve();
          await released.promise;
          return result;
        }, options);
        writing = transaction;
        return transaction;
      },
      lock: timesOut(written.promise),
    });
    await expect(merged).rejects.toMatchObject({ code: 'transaction-timeout' });
    released.resolve();
    await Promise.allSettled([writing]);
    expect(await entries()).toEqual([{ entries: 1 }]);
  });

  it('succeeds if the origin has committed it when its lock times out', async () => {
    const [committed, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const merged = mergeWith({
      origin: (body, options) =>
        asWrite(
          client.transaction(body, options).then(async (result) => {
            committed.resolve();
            await late.promise;
            return result;
          }),
        ),
      lock: timesOut(committed.promise, late.resolve),
    });
    expect(await merged).toMatchObject({ rows: [{ key: ['a'], changes: [{ before: 1, after: 2 }] }], conflicts: [] });
    expect(await entries()).toEqual([{ entries: 2 }]);
    expect(problems).toEqual([]);
  });

  it('succeeds if its commit is not flushed, which is reported', async () => {
    const merged = mergeWith({
      origin: (body, options) =>
        asWrite(
          client.transaction(body, options).then(() => {
            throw new RockpoolError('storage-unflushed');
          }),
        ),
    });
    expect(await merged).toMatchObject({ rows: [{ key: ['a'] }] });
    expect(await entries()).toEqual([{ entries: 2 }]);
    expect(problems).toEqual(['storage-unflushed']);
  });
});
