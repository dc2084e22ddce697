import { ByteWriter, changesetHash, MAX_VALUE_BYTES } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { insert, remove, toBody, toChangeset, update } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite } from '../../testing/test-client.ts';
import { ENTRIES } from '../../testing/test-schema.ts';

const tested = serverUnderTest();
const account = (key: string): ReturnType<typeof insert> => insert('accounts', key, { name: key });

describe('a push', () => {
  it('takes effect once, however often it is sent', async () => {
    const a = await tested.server.open();
    a.site.write([account('x')]);
    a.site.write([update('accounts', 'x', { rank: 1n })]);
    for (let i = 0; i < 5; i++) a.push(1, 2);
    for (let i = 0; i < 3; i++) a.push(2, 2);
    a.push(1, 1);
    const { outcomes } = await a.decided(2);
    expect(outcomes.map(({ sequence }) => sequence)).toEqual([1, 2]);
    await a.roundTrip();
    expect(a.unread).toBe(0);
    expect(tested.server.query('SELECT count(*) FROM rockpool_log')).toEqual([[2n]]);
  });

  it('gets its original outcome on the next connection if the response was lost', async () => {
    const site = new TestSite();
    const a = await tested.server.open(site);
    const b = await tested.server.open();
    site.write([account('x')]);
    a.push();
    await b.delivery();
    a.cut();
    // The unique name is taken by now, so deciding the changeset again would reject it.
    const again = await tested.server.connect(site);
    const { welcome, first } = await again.open(await tested.server.token(), 'household');
    expect(welcome.lastAckedSequence).toBe(1);
    expect(welcome.decidedHash).toEqual(site.hashes[1]);
    expect(first.outcomes).toEqual([{ kind: 'admitted', sequence: 1, watermark: 1, conflictCount: 0 }]);
    again.push(1, 1);
    await again.roundTrip();
    expect(again.unread).toBe(0);
    expect(tested.server.query('SELECT count(*) FROM accounts')).toEqual([[1n]]);
  });

  it('ends the session and admits nothing if its sequences have a gap', async () => {
    const a = await tested.server.open();
    for (const key of ['x', 'y', 'z']) a.site.write([account(key)]);
    a.push(2, 3);
    expect(await a.failure()).toMatchObject({ code: 'changeset-chain-broken', fields: { expected: 1, received: 2 } });
    expect(await a.closes()).toEqual({ code: 4000, reason: 'changeset-chain-broken' });
    expect(tested.server.query('SELECT count(*) FROM rockpool_log')).toEqual([[0n]]);
    // The site is not stored either, because any client can invent one.
    expect(tested.server.query('SELECT number FROM rockpool_site')).toEqual([[0n]]);
  });

  it('is treated as a push from a copied site if it repeats decided sequences with different changesets', async () => {
    const site = new TestSite();
    const copy = new TestSite();
    Object.assign(copy, { siteId: site.siteId });
    const a = await tested.server.open(site);
    await a.commit([account('x')]);
    copy.write([account('y')]);
    const b = await tested.server.connect(copy);
    await b.open(await tested.server.token(), 'household');
    b.push(1, 1);
    expect(await b.failure()).toMatchObject({ code: 'site-copied', fields: { sequence: 1 } });
  });

  it('is treated as a push from a copied site if it continues a different history', async () => {
    const a = await tested.server.open();
    await a.commit([account('x')]);
    const foreign = toChangeset(1, 5, 0, [account('other')]);
    a.site.hashes[1] = changesetHash(new Uint8Array(16), foreign);
    a.site.write([account('y')]);
    a.push(2);
    expect(await a.failure()).toMatchObject({ code: 'site-copied', fields: { sequence: 1 } });
  });

  it('is refused as a whole if a base is above the delivered cursor', async () => {
    const a = await tested.server.open();
    a.site.write([account('x')]);
    a.site.write([account('y')], { base: 7 });
    a.push();
    expect(await a.failure()).toMatchObject({ code: 'cursor-ahead', fields: { base: 7 } });
    expect(tested.server.query('SELECT count(*) FROM rockpool_log')).toEqual([[0n]]);
  });

  it('counts once if it arrives over an older connection and again over a newer one', async () => {
    const site = new TestSite();
    const older = await tested.server.open(site);
    site.write([account('x')]);
    older.push();
    const newer = await tested.server.connect(site);
    newer.hello(await tested.server.token(), 'household');
    await newer.next('welcome');
    newer.push(1, 1);
    const { outcomes } = await newer.decided(1);
    expect(outcomes).toHaveLength(1);
    await older.closes();
    expect(older.closed?.reason).toBe('session-replaced');
    expect(tested.server.query('SELECT count(*) FROM accounts')).toEqual([[1n]]);
  });

  it('is decided changeset by changeset', async () => {
    const a = await tested.server.open();
    a.site.write([account('x')]);
    a.site.write([insert('accounts', 'y', { name: 'x' })]);
    a.site.write([account('z')]);
    a.push();
    const { outcomes, groups } = await a.decided(3);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['admitted', 'rejected', 'admitted']);
    expect(groups).toEqual([]);
    // A rejected changeset takes no watermark.
    expect(outcomes[2]).toMatchObject({ watermark: 2 });
  });
});

describe('a changeset that cannot be read', () => {
  const push = async (body: Uint8Array): Promise<unknown> => {
    const a = await tested.server.open();
    const sequence = a.site.changelog.length + 1;
    a.site.changelog.push({ sequence, stampUs: 1, base: 0, body });
    a.push();
    const { outcomes } = await a.decided(sequence);
    expect(await a.roundTrip()).toBeUndefined();
    return outcomes[0];
  };

  it('is rejected when its bytes are not a changeset', async () => {
    expect(await push(Uint8Array.from([9, 9, 9]))).toMatchObject({ kind: 'rejected', code: 'changeset-invalid' });
  });

  it('is rejected when it names an unknown table', async () => {
    expect(await push(toBody([insert('nothing', 'x', { name: 'x' })]))).toMatchObject({ code: 'schema-unknown-table' });
  });

  it('is rejected when it names an unknown column, or a column of the key', async () => {
    expect(await push(toBody([update('accounts', 'x', { colour: 'x' })]))).toMatchObject({
      code: 'schema-unknown-column',
      fields: { table: 'accounts' },
    });
    expect(await push(toBody([update('accounts', 'x', { id: 'y' })]))).toMatchObject({ code: 'schema-unknown-column' });
  });

  it('is rejected when it writes into Rockpool’s own tables [MR-74]', async () => {
    expect(await push(toBody([insert('rockpool_conflict', 'x', { rule: 'lww' })]))).toMatchObject({
      code: 'schema-unknown-table',
    });
    expect(await push(toBody([insert('rockpool_site', 'x', {})]))).toMatchObject({ code: 'schema-unknown-table' });
  });

  it('is rejected when its key has the wrong number of parts, or a part that the column would convert', async () => {
    expect(await push(toBody([insert('accounts', ['x', 'y'], { name: 'x' })]))).toMatchObject({
      code: 'changeset-invalid',
    });
    expect(await push(toBody([insert('accounts', 7n, { name: 'x' })]))).toMatchObject({
      code: 'key-invalid',
      fields: { table: 'accounts', column: 'id' },
    });
    expect(await push(toBody([insert('labels', ['x', '7'], {})]))).toMatchObject({ code: 'key-invalid' });
    expect(await push(toBody([insert('labels', ['x', 7.5], {})]))).toMatchObject({ code: 'key-invalid' });
  });

  it('changes no row if it updates or deletes a key whose type differs from that of the stored keys', async () => {
    await push(toBody([insert('accounts', '7', { name: 'x', rank: 1n })]));
    for (const key of [7n, 7.5, Uint8Array.of(55)]) {
      for (const change of [update('accounts', key, { rank: 2n }), remove('accounts', key)])
        expect(await push(toBody([change]))).toMatchObject({ kind: 'admitted' });
    }
    expect(tested.server.query('SELECT id, rank FROM accounts')).toEqual([['7', 1n]]);
  });

  it('is rejected if a row occurs twice or a value cannot be stored, and the error contains no values', async () => {
    expect(
      await push(toBody([update('accounts', 'x', { rank: 1n }), update('accounts', 'x', { rank: 2n })])),
    ).toMatchObject({ code: 'changeset-invalid' });
    const outcome = await push(toBody([insert('accounts', 'x', { name: 'secret\u0000value' })]));
    expect(outcome).toMatchObject({
      code: 'value-invalid',
      fields: { table: 'accounts', column: 'name', problem: 'text-nul' },
    });
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });
});

describe('a changeset over a size limit', () => {
  it('is rejected if a value is too large', async () => {
    const a = await tested.server.open();
    const outcome = await a.commit([
      insert('entries', 'e', { amount: 1n, receipt: new Uint8Array(MAX_VALUE_BYTES + 1) }),
    ]);
    expect(outcome).toMatchObject({
      code: 'value-invalid',
      fields: { table: 'entries', column: 'receipt', problem: 'too-large' },
    });
  });

  it('is rejected if a small body encodes more cells than fit into memory', async () => {
    const rows = 50_000;
    const columns = 10_000;
    const bomb = new ByteWriter();
    for (const byte of [1, 0, 1, 1]) bomb.u8(byte); // codec version, not atomic, one group, insert
    bomb.u32(ENTRIES.id);
    for (const count of [rows, 1, columns]) bomb.varint(count);
    for (let id = 1; id <= columns; id++) bomb.u32(id);
    bomb.u8(1); // the key: integers
    for (let row = 0; row < rows; row++) bomb.int64(0n);
    for (let at = 0; at < columns; at++) bomb.u8(0); // NULL throughout
    bomb.varint(0);
    const a = await tested.server.open();
    a.site.changelog.push({ sequence: 1, stampUs: 1, base: 0, body: bomb.finish() });
    a.push();
    expect((await a.decided(1)).outcomes).toMatchObject([{ code: 'changeset-too-large' }]);
  });
});

describe('outcomes', () => {
  it('survive restarts of the server until the site has confirmed them', async () => {
    const site = new TestSite();
    const a = await tested.server.open(site);
    site.write([account('x')]);
    a.push();
    await a.decided(1);
    a.cut();
    await tested.restart();
    // Simulates a site that crashed before it stored its outcomes.
    Object.assign(site, { cursor: 0, lastAckedSequence: 0 });
    const b = await tested.server.connect(site);
    const { first } = await b.open(await tested.server.token(), 'household');
    expect(first.outcomes).toHaveLength(1);
    b.send({ type: 'confirm', cursor: site.cursor, lastAckedSequence: site.lastAckedSequence });
    await b.roundTrip();
    await b.close();
    await tested.restart();
    const c = await tested.server.connect(site);
    expect((await c.open(await tested.server.token(), 'household')).first.outcomes).toEqual([]);
    expect(tested.server.query('SELECT sequence, hash FROM rockpool_outcome')).toEqual([[1n, site.hashes[1]]]);
    expect(
      tested.server.query(
        'SELECT confirmed_cursor, confirmed_sequence, confirmed_watermark FROM rockpool_site WHERE number = 1',
      ),
    ).toEqual([[1n, 1n, 1n]]);
  });

  it('cannot be confirmed before they are sent', async () => {
    const a = await tested.server.open();
    a.send({ type: 'confirm', cursor: 0, lastAckedSequence: 3 });
    expect(await a.failure()).toMatchObject({ code: 'frame-unexpected' });
  });
});
