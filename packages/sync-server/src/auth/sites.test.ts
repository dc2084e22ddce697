import { FIRST_PREVIOUS_HASH } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { insert, update } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';
import { DATABASE } from '../../testing/test-server.ts';

const tested = serverUnderTest({ quotas: { maxSitesPerPrincipal: 3 } });

/** A site of ann that has pushed, with its connection still open. */
async function pushed(): Promise<{ site: TestSite; connection: TestConnection }> {
  const site = new TestSite();
  const connection = await tested.server.open(site);
  await connection.commit([insert('products', 'x', { stock: 1n })]);
  return { site, connection };
}

async function hello(site: TestSite, principal: string, formerly: readonly string[] = []): Promise<TestConnection> {
  const connection = await tested.server.connect(site);
  connection.hello(
    await tested.server.sync.issueToken({ principal, databases: [DATABASE], formerly, ttlMs: 3_600_000 }),
    DATABASE,
  );
  return connection;
}

describe('a site', () => {
  it('is not transferred to another member who knows its id, and keeps its session', async () => {
    const { site, connection } = await pushed();
    for (const lastAckedSequence of [0, 1, 7]) {
      const thief = new TestSite(site.siteId);
      thief.lastAckedSequence = lastAckedSequence;
      const stolen = await hello(thief, 'eve');
      // The welcome contains no hash, because a hash would prove possession of the file.
      expect(await stolen.next('welcome')).toMatchObject({ lastAckedSequence: 1, decidedHash: FIRST_PREVIOUS_HASH });
      thief.write([update('products', 'x', { stock: 100n })]);
      stolen.send({ type: 'confirm', cursor: 1, lastAckedSequence: 1 });
      stolen.push(1);
      expect(await stolen.failure()).toMatchObject({ code: 'site-copied', fields: { sequence: 1 } });
    }
    const gap = new TestSite(site.siteId);
    const last = await hello(gap, 'eve');
    await last.next('welcome');
    gap.write([insert('labels', ['x', 1n], {})]);
    gap.write([update('products', 'x', { stock: 100n })]);
    last.push(2);
    expect(await last.failure()).toMatchObject({ code: 'site-copied' });
    expect(await connection.commit([update('products', 'x', { stock: 1n })])).toMatchObject({ kind: 'admitted' });
    expect(tested.server.query('SELECT stock FROM products')).toEqual([[2n]]);
  });

  it('continues after an anonymous start and a sign-in, and every change counts once', async () => {
    const site = await anonymousSite();
    const first = await tested.server.connect(site);
    await first.open(await tested.server.token('editor', 'anonymous-7'), DATABASE);
    // The response to this push is lost.
    site.write([update('products', 'x', { stock: 1n })]);
    first.push(2);
    await first.roundTrip();
    await first.close();
    const signedIn = await hello(site, 'ann');
    expect(await signedIn.next('welcome')).toMatchObject({ lastAckedSequence: 2, decidedHash: site.hashes[2] });
    expect((await signedIn.delivery()).outcomes).toMatchObject([{ kind: 'admitted', sequence: 2 }]);
    await signedIn.commit([update('products', 'x', { stock: 1n })]);
    expect(tested.server.query('SELECT stock FROM products')).toEqual([[3n]]);
    // The site now belongs to ann.
    expect(tested.server.query('SELECT principal FROM rockpool_site WHERE number > 0')).toEqual([['ann']]);
  });

  it('continues for a principal that lists its former id, even if a response was lost', async () => {
    const site = await anonymousSite();
    expect(await (await hello(site, 'ann', ['anonymous-7'])).next('welcome')).toMatchObject({
      lastAckedSequence: 1,
      decidedHash: site.hashes[1],
    });
  });

  it('continues for the holder of its file, even if a response was lost', async () => {
    const site = await anonymousSite();
    const signedIn = await hello(site, 'ann');
    expect(await signedIn.next('welcome')).toMatchObject({ decidedHash: FIRST_PREVIOUS_HASH });
    site.write([update('products', 'x', { stock: 1n })]);
    signedIn.push(1);
    expect(await signedIn.failure()).toMatchObject({ code: 'auth-site-confirmed' });
    const again = await hello(site, 'ann');
    expect(await again.next('welcome')).toMatchObject({ lastAckedSequence: 1, decidedHash: site.hashes[1] });
    expect((await again.delivery()).outcomes).toHaveLength(1);
    again.push();
    await again.decided(2);
    expect(tested.server.query('SELECT stock FROM products')).toEqual([[2n]]);
  });
});

it('distinguishes two people who use copies of one file at once, and counts each change once', async () => {
  const site = await anonymousSite();
  site.write([update('products', 'x', { stock: 1n })]);
  const ann = await hello(site, 'ann');
  await ann.next('welcome');
  ann.push(1);
  expect(await ann.failure()).toMatchObject({ code: 'auth-site-confirmed' });
  // The other copy proves the same history before ann reconnects.
  const ben = await hello(site, 'ben');
  await ben.next('welcome');
  ben.push(1);
  expect(await ben.failure()).toMatchObject({ code: 'site-copied' });
  const again = await hello(site, 'ann');
  expect(await again.next('welcome')).toMatchObject({ lastAckedSequence: 1, decidedHash: site.hashes[1] });
  again.push();
  await again.decided(2);
  expect(tested.server.query('SELECT stock FROM products')).toEqual([[2n]]);
});

describe('a site that has not written yet', () => {
  it('becomes the site of the first writer if two people use copies of its file at once', async () => {
    const site = new TestSite();
    const ann = await hello(site, 'ann');
    await ann.next('welcome');
    const ben = await hello(site, 'ben');
    await ben.next('welcome');
    await ben.next('delivery');
    site.write([insert('accounts', 'x', { name: 'x' })]);
    ann.push();
    await ann.decided(1);
    expect(await ben.next('delivery')).toMatchObject({ to: 1, outcomes: [] });
    // Ben's copy continues the same history. If his own row were a changeset of this site, it would never reach ann.
    site.write([insert('accounts', 'y', { name: 'y' })]);
    ben.push();
    expect(await ben.failure()).toMatchObject({ code: 'site-copied', fields: { sequence: 1 } });
    await ann.roundTrip();
    expect(ann.closed).toBeNull();
    expect(tested.server.query('SELECT id FROM accounts')).toEqual([['x']]);
  });

  it('keeps its session and its outcomes when another member uses its id', async () => {
    const site = new TestSite();
    const anns = await tested.server.open(site);
    const eve = new TestSite(site.siteId);
    const eves = await tested.server.connect(eve);
    await eves.open(await tested.server.token('viewer', 'eve'), DATABASE);
    expect(await anns.commit([insert('accounts', 'x', { name: 'x' })])).toMatchObject({ kind: 'admitted' });
    expect(await eves.delivery()).toMatchObject({ outcomes: [], lastAckedSequence: 0, to: 1 });
    eves.confirm();
    await eves.roundTrip();
    expect(tested.server.query('SELECT confirmed_cursor FROM rockpool_site WHERE number > 0')).toEqual([[0n]]);
    const again = await tested.server.open(site);
    expect(await anns.failure()).toMatchObject({ code: 'session-replaced' });
    // The site now belongs to ann, so her new session ends its other sessions.
    expect(await eves.failure()).toMatchObject({ code: 'session-replaced' });
    await again.roundTrip();
    expect(again.closed).toBeNull();
  });
});

describe('the sites of one principal', () => {
  it('are limited in each database, without affecting the sites of other members', async () => {
    const push = async (principal: string, site: TestSite): Promise<TestConnection> => {
      const connection = await tested.server.open(site, { principal });
      site.write([insert('accounts', site.siteId.join(''), { name: 'x' })]);
      connection.push();
      return connection;
    };
    const first = new TestSite();
    for (const site of [first, new TestSite(), new TestSite()]) {
      const connection = await push('eve', site);
      await connection.decided(1);
      await connection.close();
    }
    expect(await (await push('eve', new TestSite())).failure()).toMatchObject({
      code: 'quota-exceeded',
      fields: { quota: 'sites', limit: 3 },
    });
    const again = await push('eve', first);
    await again.decided(2);
    await (await push('ben', new TestSite())).decided(1);
  });
});

/** A site that pushed as anonymous-7 and lost its connection before the response. */
async function anonymousSite(): Promise<TestSite> {
  const site = new TestSite();
  const connection = await tested.server.connect(site);
  await connection.open(await tested.server.token('editor', 'anonymous-7'), DATABASE);
  site.write([insert('products', 'x', { stock: 1n })]);
  connection.push();
  await connection.roundTrip();
  await connection.close();
  return site;
}
