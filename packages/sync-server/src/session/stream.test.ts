import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { insert, update } from '../../testing/changeset.ts';
import { TestServer } from '../../testing/test-server.ts';
import { TestSite } from '../../testing/test-client.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let folder: string;
let server: TestServer;
beforeEach(async () => {
  folder = temporaryFolder();
  server = await TestServer.start(folder);
});
afterEach(async () => {
  await server.stop();
});

describe('the stream', () => {
  it('begins with a welcome and an empty delivery', async () => {
    const connection = await server.connect();
    const { welcome, first } = await connection.open(await server.token(), 'household');
    expect(welcome).toMatchObject({ watermark: 0, lastAckedSequence: 0, canWrite: true });
    expect(first).toMatchObject({ from: 0, to: 0, lastAckedSequence: 0, outcomes: [], groups: [] });
  });

  it('delivers a write to other sessions, and only the outcome to its author', async () => {
    const a = await server.open();
    const b = await server.open();
    a.site.write([insert('accounts', 'x', { name: 'Cash', rank: 2n })]);
    a.push();
    const own = await a.delivery();
    expect(own.outcomes).toEqual([{ kind: 'admitted', sequence: 1, watermark: 1, conflictCount: 0 }]);
    expect(own.groups).toEqual([]);
    const theirs = await b.delivery();
    expect(theirs).toMatchObject({
      from: 0,
      to: 1,
      outcomes: [],
      groups: [{ kind: 'insert', keys: [['x']], values: [['Cash'], [2n]] }],
    });
    expect(server.query('SELECT id, name, rank FROM accounts')).toEqual([['x', 'Cash', 2n]]);
  });

  it('delivers state instead of history to a site that was offline', async () => {
    const a = await server.open();
    const away = new TestSite();
    const b = await server.open(away);
    await a.commit([insert('accounts', 'x', { name: 'Cash', rank: 1n })]);
    await b.delivery();
    await b.close();
    for (let rank = 2n; rank < 12n; rank++) await a.commit([update('accounts', 'x', { rank })]);
    const again = await server.connect(away);
    const { first } = await again.open(await server.token(), 'household');
    expect(first).toMatchObject({ from: 1, to: 11, groups: [{ kind: 'update', keys: [['x']], values: [[11n]] }] });
    expect(first.groups).toHaveLength(1);
  });
});
