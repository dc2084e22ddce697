import type { ErrorCode, RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { FAILING_ONCE_SQL, FakeBrowser, settle, statement, type FakeTab } from '../../../testing/fake-tabs.ts';
import { OwnTransactions } from '../../tab/own-transactions.ts';
import { runTransaction, type TransactionBody } from '../../tab/transaction.ts';
import { REQUEST_DEADLINE_MS } from './leader-link.ts';

async function openTabs(browser: FakeBrowser, count: number): Promise<[FakeTab, FakeTab, FakeTab]> {
  const tabs: FakeTab[] = [];
  for (let i = 0; i < count; i++) {
    const tab = browser.tab();
    await tab.membership.open();
    tabs.push(tab);
  }
  await settle();
  return tabs as unknown as [FakeTab, FakeTab, FakeTab];
}

const begin = (tab: FakeTab, id: string, timeoutMs = 5_000): Promise<unknown> =>
  tab.membership.transact(id, { kind: 'begin', atomic: false, timeoutMs });
const run = (tab: FakeTab, id: string, sql: string): Promise<unknown> =>
  tab.membership.transact(id, { kind: 'execute', statement: statement(sql) });
const write = (tab: FakeTab, sql: string): Promise<unknown> => tab.membership.write([statement(sql)]);

async function codeOf(promise: Promise<unknown>): Promise<ErrorCode | 'resolved'> {
  return promise.then(
    () => 'resolved' as const,
    (error: unknown) => (error as RockpoolError).code,
  );
}

describe.each(['leader', 'follower'] as const)('a transaction of the %s', (role) => {
  const ofRole = ([leader, follower]: FakeTab[]): FakeTab => (role === 'leader' ? leader : follower) as FakeTab;

  it('takes effect as a whole when it is committed', async () => {
    const browser = new FakeBrowser();
    const tab = ofRole(await openTabs(browser, 2));
    await begin(tab, 'tx');
    await run(tab, 'tx', 'a');
    await run(tab, 'tx', 'b');
    expect(browser.file.effects).toEqual([]);
    await tab.membership.commit('tx');
    expect(browser.file.effects).toEqual(['a', 'b']);
  });

  it('leaves nothing when it is rolled back', async () => {
    const browser = new FakeBrowser();
    const tab = ofRole(await openTabs(browser, 2));
    await begin(tab, 'tx');
    await run(tab, 'tx', 'a');
    await tab.membership.transact('tx', { kind: 'rollback' });
    await write(tab, 'b');
    expect(browser.file.effects).toEqual(['b']);
    expect(await codeOf(tab.membership.commit('tx'))).toBe('transaction-ended');
  });

  it('can run again under the same id after its commit was refused', async () => {
    const browser = new FakeBrowser();
    const tab = ofRole(await openTabs(browser, 2));
    await begin(tab, 'tx');
    await run(tab, 'tx', FAILING_ONCE_SQL);
    expect(await codeOf(tab.membership.commit('tx'))).toBe('constraint-foreign-key');
    await begin(tab, 'tx');
    await run(tab, 'tx', 'a');
    expect(await codeOf(tab.membership.commit('tx'))).toBe('resolved');
    expect(browser.file.effects).toEqual(['a']);
  });

  it('makes the writes of all tabs wait; afterwards they run in order', async () => {
    const browser = new FakeBrowser();
    const tabs = await openTabs(browser, 3);
    const tab = ofRole(tabs);
    await begin(tab, 'tx');
    const writes = [write(tabs[0], 'leader'), write(tabs[1], 'follower'), write(tabs[2], 'third')];
    await settle();
    await run(tab, 'tx', 'a');
    await tab.membership.commit('tx');
    await Promise.all(writes);
    expect(browser.file.effects.slice(0, 2)).toEqual(['a', 'leader']);
    expect(browser.file.effects.slice(2).sort()).toEqual(['follower', 'third']);
  });

  it('is rolled back when its time limit is reached, and reports that', async () => {
    const browser = new FakeBrowser();
    const [leader, follower] = await openTabs(browser, 2);
    const tab = ofRole([leader, follower]);
    await begin(tab, 'tx', 3_000);
    await run(tab, 'tx', 'a');
    const waiting = write(leader, 'b');
    await browser.advance(3_000);
    await waiting;
    expect(browser.file.effects).toEqual(['b']);
    expect(await codeOf(run(tab, 'tx', 'c'))).toBe('transaction-timeout');
    expect(await codeOf(tab.membership.commit('tx'))).toBe('transaction-timeout');
  });
});

it.each([0, 1])(
  'an attempt under the id of a transaction that failed begins after its rollback: tab %i',
  async (tab) => {
    const browser = new FakeBrowser();
    const { membership } = (await openTabs(browser, 2))[tab] as FakeTab;
    const attempt = (body: TransactionBody<unknown>): Promise<unknown> =>
      runTransaction(membership, 'tx', body, { requestId: 'tx' }, new OwnTransactions());
    const refused = new Error('refused');
    for (let time = 0; time < 2; time++) await expect(attempt(() => Promise.reject(refused))).rejects.toBe(refused);
    await attempt((tx) => tx.execute('a'));
    expect(browser.file.effects).toEqual(['a']);
  },
);

describe('transactions of several tabs', () => {
  it('run one after the other', async () => {
    const browser = new FakeBrowser();
    const [leader, follower] = await openTabs(browser, 2);
    await begin(leader, 'one');
    let hasBegun = false;
    const second = begin(follower, 'two').then(() => (hasBegun = true));
    await settle();
    expect(hasBegun).toBe(false);
    await run(leader, 'one', 'a');
    await leader.membership.commit('one');
    await second;
    await run(follower, 'two', 'b');
    await follower.membership.commit('two');
    expect(browser.file.effects).toEqual(['a', 'b']);
  });

  it('fail if they could not begin in time', async () => {
    const browser = new FakeBrowser();
    const [leader, follower] = await openTabs(browser, 2);
    await begin(leader, 'one', 60_000);
    const second = codeOf(begin(follower, 'two'));
    await browser.advance(REQUEST_DEADLINE_MS);
    expect(await second).toBe('leader-unreachable');
    await leader.membership.commit('one');
    await settle();
    await write(leader, 'continues');
    expect(browser.file.effects).toEqual(['continues']);
  });
});

describe('when a tab dies or is suspended', () => {
  it('its transaction ends at once, and the other tabs continue', async () => {
    const browser = new FakeBrowser();
    const [leader, follower] = await openTabs(browser, 2);
    await begin(follower, 'tx');
    await run(follower, 'tx', 'a');
    const waiting = write(leader, 'b');
    follower.kill();
    await waiting;
    expect(browser.file.effects).toEqual(['b']);
  });

  it('a transaction is lost with its leader, and can be run again', async () => {
    const browser = new FakeBrowser();
    const [leader, follower] = await openTabs(browser, 2);
    await begin(follower, 'tx');
    await run(follower, 'tx', 'a');
    leader.kill();
    await settle();
    expect(follower.role).toBe('leader');
    expect(await codeOf(run(follower, 'tx', 'b'))).toBe('transaction-lost');
    expect(await codeOf(follower.membership.commit('tx'))).toBe('transaction-lost');
    await begin(follower, 'again');
    await run(follower, 'again', 'a');
    await follower.membership.commit('again');
    expect(browser.file.effects).toEqual(['a']);
  });

  it('a tab that is not the new leader receives the error that its transaction is lost', async () => {
    const browser = new FakeBrowser();
    const [leader, , third] = await openTabs(browser, 3);
    await begin(third, 'tx');
    leader.kill();
    await settle();
    expect(await codeOf(run(third, 'tx', 'a'))).toBe('transaction-lost');
    expect(await codeOf(third.membership.commit('tx'))).toBe('transaction-lost');
    expect(browser.file.effects).toEqual([]);
  });

  it('a commit runs once even if its leader died before it could report it', async () => {
    const browser = new FakeBrowser();
    const dying = browser.tab({ dieAfter: 'a' });
    await dying.membership.open();
    const follower = browser.tab();
    await follower.membership.open();
    await settle();
    await begin(follower, 'tx');
    await run(follower, 'tx', 'a');
    await follower.membership.commit('tx');
    expect(dying.isAlive).toBe(false);
    expect(browser.file.effects).toEqual(['a']);
  });

  it('writes that waited for a transaction of the suspended leader run, and the transaction does not', async () => {
    const browser = new FakeBrowser();
    const [leader, follower] = await openTabs(browser, 2);
    await begin(leader, 'tx');
    await run(leader, 'tx', 'a');
    const waiting = [write(leader, 'b'), write(follower, 'c')];
    await settle();
    await leader.membership.suspend();
    await Promise.all(waiting);
    expect(browser.file.effects).toEqual(['b', 'c']);
  });

  it('a waiting write does not keep its tab from committing its open transaction', async () => {
    const browser = new FakeBrowser();
    const [, follower] = await openTabs(browser, 2);
    await begin(follower, 'tx');
    await run(follower, 'tx', 'a');
    const beside = write(follower, 'b');
    await settle();
    await follower.membership.commit('tx');
    await beside;
    expect(browser.file.effects).toEqual(['a', 'b']);
  });
});

it('a repeated commit does not report the end of an earlier transaction with the same id', async () => {
  const browser = new FakeBrowser();
  const [, follower] = await openTabs(browser, 2);
  await begin(follower, 'tx', 3_000);
  await browser.advance(3_000);
  expect(await codeOf(run(follower, 'tx', 'a'))).toBe('transaction-timeout');
  await follower.membership.transact('tx', { kind: 'rollback' });
  await begin(follower, 'tx');
  await run(follower, 'tx', 'b');
  browser.isLost = ({ kind }) => kind === 'answer';
  const committing = codeOf(follower.membership.commit('tx'));
  await settle();
  browser.isLost = () => false;
  await browser.advance(2_000);
  expect(await committing).toBe('resolved');
  expect(browser.file.effects).toEqual(['b']);
});

it('a commit that the leader has begun does not fail, however long it takes', async () => {
  const browser = new FakeBrowser();
  const stored = Promise.withResolvers<void>();
  const leader = browser.tab({ committed: () => stored.promise });
  await leader.membership.open();
  const follower = browser.tab();
  await follower.membership.open();
  await settle();
  await begin(follower, 'tx');
  await run(follower, 'tx', 'a');
  const committing = codeOf(follower.membership.commit('tx'));
  await browser.advance(11_000);
  stored.resolve();
  expect(await committing).toBe('resolved');
  expect(browser.file.effects).toEqual(['a']);
});
