import { describe, expect, it } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';

const DAY_MS = 24 * 3600 * 1000;
let nowMs = Date.now();
const tested = serverUnderTest({ now: () => nowMs });

const entry = (key: string): ReturnType<typeof insert> => insert('entries', key, { amount: 1n });

/**
 * Returns a site with five confirmed changesets, of which the third was rejected, and a copy of the site that was made
 * after the second changeset.
 */
async function copied(): Promise<{ original: TestConnection; copy: TestSite }> {
  nowMs = Date.now();
  const original = await tested.server.open();
  const { site } = original;
  const copy = new TestSite();
  for (const key of ['1', '2']) await original.commit([entry(key)]);
  Object.assign(copy, {
    siteId: site.siteId,
    logEpoch: site.logEpoch,
    cursor: site.cursor,
    logHashes: new Map(site.logHashes),
    lastAckedSequence: site.lastAckedSequence,
    changelog: [...site.changelog],
    hashes: [...site.hashes],
  });
  expect(await original.commit([insert('accounts', '3', {})])).toMatchObject({ kind: 'rejected' });
  for (const key of ['4', '5']) await original.commit([entry(key)]);
  original.send({ type: 'confirm', cursor: site.cursor, lastAckedSequence: site.lastAckedSequence });
  await original.roundTrip();
  await original.close();
  await tested.restart();
  return { original, copy };
}

describe('a copy of a site whose changesets are all confirmed', () => {
  it('receives the first sequence that differs, wherever its push begins [MR-49]', async () => {
    const { copy } = await copied();
    for (const key of ['a', 'b']) copy.write([entry(key)]);
    for (const from of [1, 2, 3]) {
      const connection = await tested.server.connect(copy);
      await connection.open(await tested.server.token(), 'household');
      connection.push(from, 4);
      expect(await connection.failure()).toMatchObject({ code: 'site-copied', fields: { sequence: 3 } });
    }
    expect(tested.server.query('SELECT count(*) FROM entries')).toEqual([[4n]]);
  });

  it('leaves no content of confirmed outcomes in the database', async () => {
    await copied();
    expect(
      tested.server.query('SELECT count(*), count(error_fields), count(corrected), count(hash) FROM rockpool_outcome'),
    ).toEqual([[5n, 0n, 0n, 5n]]);
  });
});

describe('hashes of decided changesets', () => {
  it('are deleted after 30 days if they are confirmed', async () => {
    const { original } = await copied();
    nowMs += 29 * DAY_MS;
    const again = await tested.server.open(original.site);
    await again.commit([entry('6')]);
    const kept = (): unknown => tested.server.query('SELECT sequence FROM rockpool_outcome').flat();
    expect(kept()).toEqual([1n, 2n, 3n, 4n, 5n, 6n]);
    await again.close();
    nowMs += 2 * DAY_MS;
    const later = await tested.server.open(original.site);
    await later.commit([entry('7')]);
    expect(kept()).toEqual([6n, 7n]);
    await later.close();
    nowMs += 40 * DAY_MS;
    const latest = await tested.server.open(original.site);
    await latest.commit([entry('8')]);
    expect(kept()).toEqual([6n, 7n, 8n]); // kept because they are not confirmed
  });

  it('are deleted although a clock that was ahead decided earlier ones, which are deleted with later ones', async () => {
    const { original } = await copied();
    const commit = async (key: string): Promise<unknown> => {
      const connection = await tested.server.open(original.site);
      await connection.commit([entry(key)]);
      connection.confirm();
      await connection.roundTrip();
      await connection.close();
      return tested.server.query('SELECT sequence FROM rockpool_outcome').flat();
    };
    const correctMs = nowMs;
    nowMs += 3650 * DAY_MS;
    await commit('6');
    nowMs = correctMs;
    expect(await commit('7')).toEqual([6n, 7n]);
    nowMs += 31 * DAY_MS;
    expect(await commit('8')).toEqual([8n]);
  });
});
