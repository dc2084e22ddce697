import {
  buildSchema,
  columnIdOf,
  decodeSchema,
  DEFAULT_MERGE_RULES,
  encodeSchema,
  RockpoolError,
  tableIdOf,
  type ErrorCode,
} from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import {
  FAILING_ONCE_SQL,
  FAKE_STATUS,
  FakeBrowser,
  settle,
  statement,
  type FakeTab,
} from '../../../testing/fake-tabs.ts';
import { STORAGE_FORMAT } from '../file/internal-tables.ts';
import { CHANNEL_PROTOCOL } from './channel-message.ts';
import { NOTICE_REPEAT_MS } from './leadership.ts';

async function openTabs(browser: FakeBrowser, count: number): Promise<FakeTab[]> {
  const tabs: FakeTab[] = [];
  for (let i = 0; i < count; i++) {
    const tab = browser.tab();
    await tab.membership.open();
    tabs.push(tab);
  }
  return tabs;
}

async function two(browser: FakeBrowser): Promise<{ leader: FakeTab; follower: FakeTab }> {
  const [leader, follower] = await openTabs(browser, 2);
  if (leader === undefined || follower === undefined) throw new Error('two tabs were asked for');
  await settle();
  return { leader, follower };
}

const touchedT = { tables: ['t'], changes: [] };

const write = (tab: FakeTab, sql: string, requestId?: string): Promise<unknown> =>
  tab.membership.write([statement(sql)], undefined, requestId);

async function codeOf(promise: Promise<unknown>): Promise<ErrorCode> {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(RockpoolError);
  return (thrown as RockpoolError).code;
}

function schemaWith(...columns: string[]): string {
  const column = (name: string) => ({
    id: columnIdOf(name),
    name,
    type: 'text' as const,
    notNull: true,
    defaultSql: null,
    generated: null,
  });
  const table = {
    id: tableIdOf('t'),
    name: 't',
    columns: ['id', ...columns].map(column),
    primaryKey: ['id'],
    uniques: [],
    foreignKeys: [],
    checks: [],
    indexes: [],
    merge: DEFAULT_MERGE_RULES,
    synced: true,
  };
  return encodeSchema(buildSchema([table]));
}

describe('tabs that share a database', () => {
  it('elect the first as leader, and the others follow', async () => {
    const tabs = await openTabs(new FakeBrowser(), 3);
    expect(tabs.map(({ role }) => role)).toEqual(['leader', 'follower', 'follower']);
  });

  it('agree on one leader if all open a fresh database at once', async () => {
    const browser = new FakeBrowser();
    const tabs = Array.from({ length: 5 }, () => browser.tab());
    await Promise.all(tabs.map(({ membership }) => membership.open()));
    expect(tabs.filter(({ role }) => role === 'leader')).toHaveLength(1);
  });

  it('can all write through the leader', async () => {
    const browser = new FakeBrowser();
    const { leader, follower } = await two(browser);
    expect(await write(follower, 'a')).toEqual([{ changes: 1 }]);
    await write(leader, 'b');
    expect(browser.file.effects).toEqual(['a', 'b']);
  });

  it('send requests other than statements to the leader, or to the next leader if it dies', async () => {
    const browser = new FakeBrowser();
    const { leader, follower } = await two(browser);
    await follower.membership.write([statement('a')], { kind: 'atomic' });
    await leader.membership.write([], { kind: 'drop-rejected', sequence: 1 });
    expect(browser.file.effects).toEqual(['a', 'atomic', 'drop-rejected']);
    const waiting = follower.membership.write([], { kind: 'retry-rejected', sequence: 2 });
    leader.kill();
    await waiting;
    expect(browser.file.effects.slice(3)).toEqual(['retry-rejected']);
  });

  it('all receive every commit once, with the tables that it touched', async () => {
    const browser = new FakeBrowser();
    const { leader, follower } = await two(browser);
    for (const tab of [leader, follower]) tab.touched.length = 0;
    await write(follower, 'a');
    await write(leader, 'b');
    await settle();
    expect(leader.touched).toEqual([touchedT, touchedT]);
    expect(follower.touched).toEqual([touchedT, touchedT]);
  });

  it('treat everything as touched, once, if a notice was lost', async () => {
    const browser = new FakeBrowser();
    const { leader, follower } = await two(browser);
    follower.touched.length = 0;
    browser.deliveries = () => 0;
    await write(leader, 'a');
    browser.deliveries = () => 1;
    await write(leader, 'b');
    await write(leader, 'c');
    await settle();
    expect(follower.touched).toEqual(['all', touchedT]);
  });

  it('treat everything as touched within two seconds if the last notice was lost, and receive no update twice', async () => {
    const browser = new FakeBrowser();
    const { leader, follower } = await two(browser);
    await browser.advance(NOTICE_REPEAT_MS);
    follower.touched.length = 0;
    browser.isLost = (message) => message.kind === 'commit';
    await write(leader, 'a');
    await browser.advance(NOTICE_REPEAT_MS);
    expect(follower.touched).toEqual(['all']);
    browser.isLost = () => false;
    await write(leader, 'b');
    await browser.advance(NOTICE_REPEAT_MS);
    expect(follower.touched).toEqual(['all', touchedT]);
  });

  it('send no notices while no tab listens, and each notice once after a tab joins', async () => {
    const browser = new FakeBrowser();
    const [alone] = await openTabs(browser, 1);
    const said: string[] = [];
    browser.isLost = ({ kind }) => {
      said.push(kind);
      return false;
    };
    for (const sql of ['a', 'b']) await write(alone as FakeTab, sql);
    expect(said).toEqual([]);
    const [follower] = await openTabs(browser, 1);
    await settle();
    said.length = 0;
    (follower as FakeTab).touched.length = 0;
    await write(alone as FakeTab, 'c');
    await settle();
    expect(said).toEqual(['commit']);
    expect(follower?.touched).toEqual([touchedT]);
  });

  it('are registered with the next leader, which sends them every commit', async () => {
    const browser = new FakeBrowser();
    const [first, second, third] = await openTabs(browser, 3);
    first?.kill();
    await settle();
    (third as FakeTab).touched.length = 0;
    await write(second as FakeTab, 'a');
    await settle();
    expect(third?.touched).toEqual([touchedT]);
  });

  it('receive a commit within two seconds if the new leader had no record of them, and later ones at once', async () => {
    const browser = new FakeBrowser();
    const [first, second, third] = await openTabs(browser, 3);
    await settle();
    browser.isLost = ({ kind }) => kind === 'hello';
    first?.kill();
    await settle();
    browser.isLost = () => false;
    (third as FakeTab).touched.length = 0;
    await write(second as FakeTab, 'a');
    await settle();
    expect(third?.touched).toEqual([]);
    await browser.advance(NOTICE_REPEAT_MS);
    expect(third?.touched).toEqual(['all']);
    await write(second as FakeTab, 'b');
    await settle();
    expect(third?.touched).toEqual(['all', touchedT]);
  });

  it('show the status of the next leader, which numbers its statuses from the beginning', async () => {
    const browser = new FakeBrowser();
    const [first, second, third] = (await openTabs(browser, 3)) as [FakeTab, FakeTab, FakeTab];
    for (const state of ['connecting', 'pushing', 'up-to-date'] as const) {
      first.publish(state);
      await browser.advance(100);
    }
    expect(third.told.slice(-3)).toEqual(['follower connecting', 'follower pushing', 'follower up-to-date']);
    first.kill();
    await settle();
    expect(third.status?.state).toBe('offline');
    second.publish('connecting');
    await browser.advance(100);
    expect(third.status?.state).toBe('connecting');
  });

  it('receive the error of a refused write with its code and fields; nothing takes effect even if the request arrives twice', async () => {
    const browser = new FakeBrowser();
    const { follower } = await two(browser);
    browser.deliveries = () => 2;
    const refused = await write(follower, FAILING_ONCE_SQL).catch((error: unknown) => error);
    expect((refused as RockpoolError).toData()).toEqual(
      new RockpoolError('constraint-unique', { table: 't' }).toData(),
    );
    await settle();
    expect(browser.file.effects).toEqual([]);
  });
});

describe('tabs on a medium that lets only one tab open the file', () => {
  async function twoExclusive(
    browser: FakeBrowser,
    beforeRead?: () => Promise<void>,
  ): Promise<{ leader: FakeTab; follower: FakeTab }> {
    const [leader, follower] = [
      browser.tab({ sharesFiles: false, ...(beforeRead && { beforeRead }) }),
      browser.tab({
        sharesFiles: false,
        failToOpen: (role) => (role === 'reader' ? new RockpoolError('storage-busy') : null),
      }),
    ];
    await leader.membership.open();
    await follower.membership.open();
    await settle();
    return { leader, follower };
  }
  const read = async (tab: FakeTab): Promise<readonly string[]> =>
    (await tab.membership.reads.query(statement('SELECT'))).names;

  it('read through the leader, after their own writes', async () => {
    const browser = new FakeBrowser();
    const { follower } = await twoExclusive(browser);
    const [, names] = await Promise.all([write(follower, 'a'), read(follower)]);
    expect(names).toEqual(['a']);
    expect(await follower.membership.reads.dependencies(statement('SELECT'))).toMatchObject([{ table: 't' }]);
    expect(await follower.membership.reads.listRejected()).toEqual([]);
  });

  it('get the response from the next leader, or run the read themselves if they lead', async () => {
    const browser = new FakeBrowser();
    const { leader, follower } = await twoExclusive(browser);
    const third = browser.tab({ sharesFiles: false });
    await third.membership.open();
    await write(leader, 'a');
    const waiting = [read(follower), read(third)];
    leader.kill();
    expect(await Promise.all(waiting)).toEqual([['a'], ['a']]);
    expect([follower.role, third.role]).toEqual(['leader', 'follower']);
  });

  it('read when the page returns, if it was suspended during the request', async () => {
    const browser = new FakeBrowser();
    const { follower } = await twoExclusive(browser);
    browser.deliveries = () => 0;
    const waiting = read(follower);
    await settle();
    await follower.membership.suspend();
    browser.deliveries = () => 1;
    await follower.membership.resume();
    expect(await waiting).toEqual([]);
  });

  it('fail with leader-unreachable ten seconds after the page has returned', async () => {
    const browser = new FakeBrowser();
    const { follower } = await twoExclusive(browser);
    browser.isLost = ({ kind }) => kind === 'ask';
    const failed = codeOf(read(follower));
    await settle();
    await follower.membership.suspend();
    await browser.advance(31_000);
    await follower.membership.resume();
    await browser.advance(10_000);
    expect(await failed).toBe('leader-unreachable');
  });

  it('do not fail while the leader reads, however long that takes', async () => {
    const browser = new FakeBrowser();
    const done = Promise.withResolvers<void>();
    const { follower } = await twoExclusive(browser, () => done.promise);
    const waiting = read(follower);
    await browser.advance(31_000);
    done.resolve();
    expect(await waiting).toEqual([]);
  });

  it('fail with leader-unreachable if no tab answers', async () => {
    const browser = new FakeBrowser();
    const { follower } = await twoExclusive(browser);
    browser.deliveries = () => 0;
    const failed = codeOf(read(follower));
    await browser.advance(10_000);
    expect(await failed).toBe('leader-unreachable');
  });
});

describe('when the leader dies or messages are lost', () => {
  it('the next tab in the queue leads', async () => {
    const browser = new FakeBrowser();
    const [first, second, third] = await openTabs(browser, 3);
    first?.kill();
    await settle();
    expect([second?.role, third?.role]).toEqual(['leader', 'follower']);
    await write(third as FakeTab, 'a');
    expect(browser.file.effects).toEqual(['a']);
  });

  it('a follower opens the file again if a migration waited, which the next leader may have run', async () => {
    const browser = new FakeBrowser();
    let waits = true;
    const opened: string[] = [];
    const readOnly = (): RockpoolError | null => (waits ? new RockpoolError('migration-refused') : null);
    const leader = browser.tab({ readOnly });
    const next = browser.tab({ readOnly });
    const follower = browser.tab({ readOnly, failToOpen: (role) => (opened.push(role), null) });
    for (const tab of [leader, next, follower]) await tab.membership.open();
    waits = false;
    leader.kill();
    await browser.advance(0);
    expect(next.role).toBe('leader');
    expect(opened).toEqual(['reader', 'reader']);
    expect(follower.status?.readOnly).toBeNull();
    expect(follower.touched.at(-1)).toBe('all');
    await expect(follower.membership.reads.query(statement('SELECT 1'))).resolves.toBeDefined();
    // No migration waits any more.
    const last = browser.tab();
    await last.membership.open();
    next.kill();
    await browser.advance(0);
    expect(opened).toEqual(['reader', 'reader', 'writer']);
    expect([follower.problems, last.problems]).toEqual([[], []]);
  });

  it('a follower that takes over runs its waiting requests itself', async () => {
    const browser = new FakeBrowser();
    const { leader, follower } = await two(browser);
    const writes = ['a', 'b', 'c'].map((sql) => write(follower, sql));
    leader.kill();
    await Promise.all(writes);
    expect(browser.file.effects).toEqual(['a', 'b', 'c']);
  });

  it('committed but unanswered requests do not run again', async () => {
    const browser = new FakeBrowser();
    const leader = browser.tab({ dieAfter: 'b' });
    await leader.membership.open();
    const [next, author] = await openTabs(browser, 2);
    const writes = ['a', 'b', 'c'].map((sql) => write(author as FakeTab, sql));
    await Promise.all(writes);
    expect(leader.isAlive).toBe(false);
    expect(next?.role).toBe('leader');
    expect(browser.file.effects).toEqual(['a', 'b', 'c']);
  });

  it('a lost message is sent again', async () => {
    const browser = new FakeBrowser();
    const { follower } = await two(browser);
    browser.deliveries = () => 0;
    const waiting = write(follower, 'a');
    await settle();
    browser.deliveries = () => 1;
    await browser.advance(2_000);
    await waiting;
    expect(browser.file.effects).toEqual(['a']);
  });

  it('a lost response is sent again while the tab gets responses to later requests', async () => {
    const browser = new FakeBrowser();
    const { follower } = await two(browser);
    browser.isLost = (message) => message.kind === 'answer';
    const waiting = write(follower, 'a');
    await settle();
    browser.isLost = () => false;
    let hasAnswer = false;
    void waiting.then(() => (hasAnswer = true));
    for (let second = 1; second <= 4; second++) {
      await write(follower, `later ${second}`);
      await browser.advance(1_000);
    }
    expect(hasAnswer).toBe(true);
    expect(browser.file.effects).toEqual(['a', 'later 1', 'later 2', 'later 3', 'later 4']);
  });

  it.each<[string, (browser: FakeBrowser) => void]>([
    ['the device sleeps', (browser) => browser.sleep(3_600_000)],
    ['its clock is set ahead', (browser) => void (browser.clockOffsetMs = 365 * 24 * 3_600_000)],
    ['its clock is set back', (browser) => void (browser.clockOffsetMs = -365 * 24 * 3_600_000)],
  ])('a write does not fail if %s before the response arrives', async (_what, happen) => {
    const browser = new FakeBrowser();
    const { follower } = await two(browser);
    browser.isLost = (message) => message.kind === 'answer';
    const waiting = write(follower, 'a');
    await settle();
    happen(browser);
    await browser.advance(1);
    browser.isLost = () => false;
    await browser.advance(4_000);
    expect(await waiting).toEqual([{ changes: 1 }]);
    expect(browser.file.effects).toEqual(['a']);
  });

  it('a refused write stays refused even if the clock is set ahead', async () => {
    const browser = new FakeBrowser();
    const { follower } = await two(browser);
    browser.isLost = (message) => message.kind === 'refused';
    const failed = codeOf(write(follower, FAILING_ONCE_SQL));
    await settle();
    browser.clockOffsetMs = 365 * 24 * 3_600_000;
    await write(follower, 'b');
    browser.isLost = () => false;
    await browser.advance(2_000);
    expect(await failed).toBe('constraint-unique');
    expect(browser.file.effects).toEqual(['b']);
  });

  it('a write that its author repeats after a refusal, under the same id, runs', async () => {
    const browser = new FakeBrowser();
    const { follower } = await two(browser);
    expect(await codeOf(write(follower, FAILING_ONCE_SQL, 'the same id'))).toBe('constraint-unique');
    expect(await write(follower, FAILING_ONCE_SQL, 'the same id')).toEqual([{ changes: 1 }]);
    expect(browser.file.effects).toEqual([FAILING_ONCE_SQL]);
  });

  it('a write fails after its deadline if no tab answers, and reports the attempts', async () => {
    const browser = new FakeBrowser();
    const { follower } = await two(browser);
    browser.deliveries = () => 0;
    const failed = write(follower, 'a').catch((error: unknown) => error);
    await browser.advance(9_999);
    expect(await Promise.race([failed, Promise.resolve('waiting')])).toBe('waiting');
    await browser.advance(1);
    const error = (await failed) as RockpoolError;
    expect(error.code).toBe('leader-unreachable');
    expect(error.fields).toMatchObject({ waitedMs: 10_000, leadersAsked: 1, timesAsked: 5 });
  });

  describe('a write that the leader has begun', () => {
    /** A leader whose medium stores no commit before `stored` resolves, and its follower. */
    async function twoSlow(browser: FakeBrowser): Promise<{
      readonly leader: FakeTab;
      readonly follower: FakeTab;
      readonly stored: PromiseWithResolvers<void>;
    }> {
      const stored = Promise.withResolvers<void>();
      const leader = browser.tab({ committed: () => stored.promise });
      await leader.membership.open();
      const [follower] = await openTabs(browser, 1);
      await settle();
      return { leader, follower: follower as FakeTab, stored };
    }

    it('does not fail, however long it takes', async () => {
      const browser = new FakeBrowser();
      const { follower, stored } = await twoSlow(browser);
      const waiting = write(follower, 'a');
      await browser.advance(11_000);
      stored.resolve();
      expect(await waiting).toEqual([{ changes: 1 }]);
      expect(browser.file.effects).toEqual(['a']);
    });

    it('does not fail if the first message about its beginning or its response is lost', async () => {
      const browser = new FakeBrowser();
      const { follower, stored } = await twoSlow(browser);
      browser.isLost = ({ kind }) => kind === 'begun';
      const waiting = write(follower, 'a');
      await settle();
      browser.isLost = ({ kind }) => kind === 'answer';
      await browser.advance(31_000);
      stored.resolve();
      await settle();
      browser.isLost = () => false;
      await browser.advance(2_000);
      expect(await waiting).toEqual([{ changes: 1 }]);
      expect(browser.file.effects).toEqual(['a']);
    });

    it('does not fail if the page is suspended meanwhile', async () => {
      const browser = new FakeBrowser();
      const { follower, stored } = await twoSlow(browser);
      const waiting = write(follower, 'a');
      await settle();
      await follower.membership.suspend();
      await follower.membership.resume();
      await browser.advance(31_000);
      stored.resolve();
      expect(await waiting).toEqual([{ changes: 1 }]);
    });

    it('is repeated without its statements, and with them to the next leader', async () => {
      const browser = new FakeBrowser();
      const { leader } = await twoSlow(browser);
      const [author] = await openTabs(browser, 1);
      const sent: unknown[] = [];
      browser.isLost = (message) => {
        if (message.kind === 'ask' && message.request.kind === 'write') sent.push(message.request.statements);
        return false;
      };
      const waiting = write(author as FakeTab, 'a');
      await browser.advance(5_000);
      expect(sent.splice(0)).toEqual([[statement('a')], [], []]);
      leader.kill();
      expect(await waiting).toEqual([{ changes: 1 }]);
      expect(sent).toEqual([[statement('a')]]);
    });

    it('does not count as begun because of a late message of an earlier leader', async () => {
      const browser = new FakeBrowser();
      const { follower } = await two(browser);
      browser.isLost = ({ kind }) => kind === 'ask';
      const failed = codeOf(follower.membership.write([statement('a')], undefined, 'a'));
      await settle();
      const message = { kind: 'begun', leaderTerm: 'before', requestId: 'a' };
      browser.broadcastRaw({ rockpool: CHANNEL_PROTOCOL, message });
      await browser.advance(10_000);
      expect(await Promise.race([failed, Promise.resolve('waiting')])).toBe('leader-unreachable');
    });

    it('does not extend the deadline of later requests', async () => {
      const browser = new FakeBrowser();
      const { follower, stored } = await twoSlow(browser);
      const waiting = write(follower, 'a');
      await browser.advance(1_000);
      browser.isLost = (message) => message.kind === 'ask' && message.requestId === 'b';
      const failed = codeOf(follower.membership.write([statement('b')], undefined, 'b'));
      await browser.advance(10_000);
      expect(await failed).toBe('leader-unreachable');
      stored.resolve();
      await waiting;
      expect(browser.file.effects).toEqual(['a']);
    });

    it('goes to the next leader once if the leader dies', async () => {
      const browser = new FakeBrowser();
      const { leader, follower } = await twoSlow(browser);
      const [third] = await openTabs(browser, 1);
      const writes = [write(follower, 'a'), write(third as FakeTab, 'b')];
      await browser.advance(31_000);
      leader.kill();
      await Promise.all(writes);
      expect(browser.file.effects.toSorted()).toEqual(['a', 'b']);
    });

    it('fails after its deadline if the leader dies and no tab can open the database', async () => {
      const browser = new FakeBrowser();
      const leader = browser.tab({ committed: () => new Promise(() => undefined) });
      await leader.membership.open();
      const heir = browser.tab({
        failToOpen: (role) => (role === 'writer' ? new RockpoolError('storage-busy') : null),
      });
      await heir.membership.open();
      const failed = codeOf(write(heir, 'a'));
      await browser.advance(31_000);
      leader.kill();
      await browser.advance(10_000);
      expect(await Promise.race([failed, Promise.resolve('waiting')])).toBe('leader-unreachable');
    });
  });

  it('every tab treats everything as touched', async () => {
    const browser = new FakeBrowser();
    const [first, second, third] = await openTabs(browser, 3);
    await settle();
    for (const tab of [second, third]) if (tab !== undefined) tab.touched.length = 0;
    first?.kill();
    await settle();
    expect(second?.touched).toEqual(['all']);
    expect(third?.touched).toEqual(['all']);
  });
});

describe('a leader', () => {
  it('does not follow an earlier leader whose last message arrives late', async () => {
    const browser = new FakeBrowser();
    const { leader } = await two(browser);
    browser.broadcastRaw({
      rockpool: CHANNEL_PROTOCOL,
      message: {
        kind: 'leader',
        leaderTerm: 'before',
        tabId: 'before',
        commitNumber: 9,
        schema: 'schema',
        migrationCount: 0,
        status: FAKE_STATUS,
        sharesFiles: true,
      },
    });
    await settle();
    expect(leader.role).toBe('leader');
    await write(leader, 'a');
    expect(browser.file.effects).toEqual(['a']);
  });

  it('is counted once in the error of a follower, even if it announces itself again for a new tab', async () => {
    const browser = new FakeBrowser();
    const { follower } = await two(browser);
    browser.deliveries = () => 0;
    const failed = write(follower, 'a').catch((error: unknown) => error);
    await settle();
    browser.deliveries = () => 1;
    // The leader's responses are lost, but not its announcements.
    const opening = browser.tab();
    browser.isLost = (message) => ['ask', 'answer'].includes(message.kind);
    await opening.membership.open();
    await browser.advance(10_000);
    expect(((await failed) as RockpoolError).fields['leadersAsked']).toBe(1);
  });
});

describe('a tab that closes', () => {
  it('waits for the end of its pending write', async () => {
    const browser = new FakeBrowser();
    const { follower } = await two(browser);
    const waiting = write(follower, 'a');
    await follower.membership.close();
    await waiting;
    expect(browser.file.effects).toEqual(['a']);
  });

  it('hands over to the next tab if it is the leader', async () => {
    const browser = new FakeBrowser();
    const { leader, follower } = await two(browser);
    await leader.membership.close();
    await settle();
    expect(follower.role).toBe('leader');
  });

  it('rejects every call with client-closed', async () => {
    const { leader } = await two(new FakeBrowser());
    await leader.membership.close();
    expect(await codeOf(write(leader, 'a'))).toBe('client-closed');
    expect(await codeOf(leader.membership.reads.listRejected())).toBe('client-closed');
  });
});

describe('a page that is hidden', () => {
  it('hands over the leadership, and follows when it is visible again', async () => {
    const browser = new FakeBrowser();
    const { leader, follower } = await two(browser);
    await leader.membership.suspend();
    await settle();
    expect(follower.role).toBe('leader');
    await leader.membership.resume();
    await settle();
    expect(leader.role).toBe('follower');
    await write(leader, 'a');
    expect(browser.file.effects).toEqual(['a']);
  });

  it('keeps requests until it is visible again, however long that takes', async () => {
    const browser = new FakeBrowser();
    const { follower } = await two(browser);
    browser.deliveries = () => 0;
    const sent = write(follower, 'a');
    await settle();
    await follower.membership.suspend();
    const asked = write(follower, 'b');
    browser.deliveries = () => 1;
    await browser.advance(3_600_000);
    await follower.membership.resume();
    await Promise.all([sent, asked]);
    expect(browser.file.effects).toEqual(['a', 'b']);
  });

  it.each([
    'database-mismatch',
    'database-newer',
    'migration-failed',
    'other-principal',
    'schema-incompatible',
  ] as const)(
    'ends with %s if its file can no longer be opened when it is visible again, and fails its waiting calls',
    async (code) => {
      const browser = new FakeBrowser();
      let isTaken = false;
      const tab = browser.tab({ failToOpen: () => (isTaken ? new RockpoolError(code) : null) });
      await tab.membership.open();
      await tab.membership.suspend();
      isTaken = true;
      const waiting = codeOf(write(tab, 'a'));
      await tab.membership.resume();
      await browser.advance(60_000);
      expect(tab.ended).toMatchObject([{ code }]);
      expect(await waiting).toBe(code);
      expect(await codeOf(write(tab, 'b'))).toBe(code);
    },
  );

  it('ends if a migration that waited fails when this tab takes over', async () => {
    const browser = new FakeBrowser();
    const leader = browser.tab();
    await leader.membership.open();
    const follower = browser.tab({
      failToOpen: (role) => (role === 'writer' ? new RockpoolError('migration-failed') : null),
    });
    await follower.membership.open();
    leader.kill();
    await browser.advance(60_000);
    expect(follower.ended).toMatchObject([{ code: 'migration-failed' }]);
    expect(await codeOf(write(follower, 'a'))).toBe('migration-failed');
  });

  it('leads once if it gets the lock while it is leaving and already visible again', async () => {
    const browser = new FakeBrowser();
    const { leader, follower } = await two(browser);
    const closed = Promise.withResolvers<void>();
    const going = follower.membership.suspend(closed.promise);
    const coming = follower.membership.resume();
    leader.kill();
    await settle();
    closed.resolve();
    await browser.advance(0);
    const written = write(follower, 'a');
    await browser.advance(0);
    expect([follower.role, follower.problems, browser.file.effects]).toEqual(['leader', [], ['a']]);
    await Promise.all([going, coming, written]);
  });

  it('ends if the new leader has different options', async () => {
    const browser = new FakeBrowser();
    const mine = browser.tab();
    await mine.membership.open();
    await mine.membership.suspend();
    const theirs = browser.tab({ tabOptions: { sync: null, durability: 'strict' } });
    await theirs.membership.open();
    await mine.membership.resume();
    await settle();
    expect(await codeOf(write(mine, 'a'))).toBe('tab-options-differ');
    await write(theirs, 'b');
  });

  it('treats everything as touched when it is visible again', async () => {
    const { follower } = await two(new FakeBrowser());
    await follower.membership.suspend();
    follower.touched.length = 0;
    await follower.membership.resume();
    expect(follower.touched).toContain('all');
  });

  it('reports why its database could not be closed properly, and still hands over the leadership', async () => {
    const browser = new FakeBrowser();
    const leader = browser.tab({ failToClose: () => new RockpoolError('storage-unflushed') });
    await leader.membership.open();
    const follower = browser.tab();
    await follower.membership.open();
    expect(await codeOf(leader.membership.suspend())).toBe('storage-unflushed');
    await write(follower, 'a');
    expect([follower.role, browser.file.effects]).toEqual(['leader', ['a']]);
    await leader.membership.resume();
    expect(leader.role).toBe('follower');
  });

  it('continues even if it is visible again before its database has closed', async () => {
    const browser = new FakeBrowser();
    const { leader } = await two(browser);
    const going = leader.membership.suspend();
    const coming = leader.membership.resume();
    await Promise.all([going, coming]);
    await write(leader, 'a');
    expect(browser.file.effects).toEqual(['a']);
  });
});

describe('a tab that cannot open', () => {
  it('fails with the reason if it is the first, and the next tab opens', async () => {
    const browser = new FakeBrowser();
    const first = browser.tab({ failToOpen: () => new RockpoolError('storage-full') });
    const second = browser.tab();
    const [failure] = await Promise.all([codeOf(first.membership.open()), second.membership.open()]);
    expect(failure).toBe('storage-full');
    expect(second.role).toBe('leader');
  });

  it('fails with storage-busy if a leader holds the lock and never announces itself', async () => {
    const browser = new FakeBrowser();
    const { follower, leader } = await two(browser);
    await follower.membership.close();
    browser.deliveries = () => 0;
    const third = browser.tab();
    const opening = codeOf(third.membership.open());
    await browser.advance(10_000);
    expect(third.problems.map(({ code, fields }) => ({ code, ...fields }))).toEqual([
      { code: 'storage-busy', waitedMs: 10_000, waitedFor: 'the leader tab' },
    ]);
    expect([third.role, third.status?.reason?.code]).toEqual(['none', 'storage-busy']);
    await browser.advance(64_999);
    expect(third.ended).toEqual([]);
    await browser.advance(1);
    expect(await opening).toBe('storage-busy');
    browser.deliveries = () => 1;
    await write(leader, 'a');
    expect(browser.file.effects).toEqual(['a']);
  });

  it('asks again after ten seconds, in case a message was lost', async () => {
    const browser = new FakeBrowser();
    await two(browser);
    browser.deliveries = () => 0;
    const third = browser.tab();
    const opening = third.membership.open();
    await browser.advance(9_999);
    browser.deliveries = () => 1;
    await browser.advance(1);
    await opening;
    expect(third.role).toBe('follower');
  });

  it('leads if the page of a leader that never announces itself replaces its worker', async () => {
    const browser = new FakeBrowser();
    const stuck = browser.tab({ beforeOpen: () => new Promise(() => undefined) });
    void stuck.membership.open();
    const second = browser.tab();
    const opening = second.membership.open();
    await browser.advance(65_000);
    stuck.kill();
    await opening;
    expect([second.role, second.status?.reason]).toEqual(['leader', null]);
  });

  it.each([
    ['asks for the lock', 3],
    ['waits for the leader', 100],
  ])('leaves the queue at once if its page is suspended while it %s', async (_, turns) => {
    const browser = new FakeBrowser();
    const { follower, leader } = await two(browser);
    await follower.membership.suspend();
    browser.deliveries = () => 0;
    void follower.membership.resume();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await follower.membership.suspend();
    expect([follower.role, follower.problems]).toEqual(['none', []]);
    browser.deliveries = () => 1;
    const third = browser.tab();
    await third.membership.open();
    leader.kill();
    await settle();
    expect(third.role).toBe('leader');
    await follower.membership.resume();
    expect(follower.role).toBe('follower');
  });

  it('waits as long as the tab that opens the database makes progress', async () => {
    const browser = new FakeBrowser();
    const migrated = Promise.withResolvers<void>();
    const first = browser.tab({ beforeOpen: () => migrated.promise });
    const second = browser.tab();
    const opening = Promise.all([first.membership.open(), second.membership.open()]);
    for (let statement = 1; statement <= 30; statement++) {
      await browser.advance(9_000);
      first.membership.tellOpening();
    }
    await settle();
    expect([second.problems, second.firstSync]).toEqual([[], []]);
    for (let statement = 1; statement <= 3; statement++) {
      await browser.advance(74_000);
      first.membership.tellOpening();
    }
    expect(second.problems.map(({ code }) => code)).toEqual(['storage-busy']);
    migrated.resolve();
    await opening;
    expect([first.role, second.role, second.status?.reason]).toEqual(['leader', 'follower', null]);
  });

  it('waits as long as the leader’s first sync makes progress, and reports that progress', async () => {
    const browser = new FakeBrowser();
    const filled = Promise.withResolvers<void>();
    const first = browser.tab({ beforeOpen: () => filled.promise });
    const second = browser.tab();
    const opening = Promise.all([first.membership.open(), second.membership.open()]);
    for (const receivedBytes of [1, 2, 3]) {
      await browser.advance(9_000);
      first.membership.tellFirstSync({ receivedBytes, totalBytes: 3 });
    }
    await settle();
    expect(second.firstSync).toEqual([1, 2, 3].map((receivedBytes) => ({ receivedBytes, totalBytes: 3 })));
    filled.resolve();
    await opening;
    expect([first.role, second.role, first.firstSync]).toEqual(['leader', 'follower', []]);
  });

  it('fails with storage-busy if the leader’s first sync makes no progress', async () => {
    const browser = new FakeBrowser();
    const first = browser.tab({ beforeOpen: () => new Promise(() => undefined) });
    void first.membership.open();
    const opening = codeOf(browser.tab().membership.open());
    await browser.advance(9_000);
    first.membership.tellFirstSync({ receivedBytes: 1, totalBytes: 3 });
    await browser.advance(75_000);
    expect(await opening).toBe('storage-busy');
  });

  it('tries again later when it should lead, and keeps its own waiting writes', async () => {
    const browser = new FakeBrowser();
    const leader = browser.tab();
    await leader.membership.open();
    let isBroken = true;
    const heir = browser.tab({
      failToOpen: (role) => (isBroken && role === 'writer' ? new RockpoolError('storage-busy') : null),
    });
    await heir.membership.open();
    leader.kill();
    const waiting = write(heir, 'a');
    await settle();
    expect(heir.problems.map(({ code }) => code)).toEqual(['storage-busy']);
    isBroken = false;
    await browser.advance(1_000);
    await waiting;
    expect(heir.role).toBe('leader');
    expect(browser.file.effects).toEqual(['a']);
  });
});

describe('a tab that cannot close its database properly', () => {
  it('tries again to lead after it failed to open the database, and reports both failures', async () => {
    const browser = new FakeBrowser();
    const leader = browser.tab();
    await leader.membership.open();
    let isBroken = true;
    const heir = browser.tab({
      failToOpen: (role) => (isBroken && role === 'writer' ? new RockpoolError('storage-busy') : null),
      failToClose: () => (isBroken ? new RockpoolError('storage-lost') : null),
    });
    await heir.membership.open();
    leader.kill();
    await settle();
    expect(heir.problems.map(({ code }) => code)).toEqual(['storage-busy', 'storage-lost']);
    isBroken = false;
    await browser.advance(1_000);
    expect(heir.role).toBe('leader');
  });

  it('reports that it closes for a newer bundle, and closes, if it is outdated', async () => {
    const browser = new FakeBrowser();
    const older = browser.tab({ schema: schemaWith('a'), failToClose: () => new RockpoolError('storage-lost') });
    await older.membership.open();
    const newer = browser.tab({ schema: schemaWith('a', 'b') });
    await newer.membership.open();
    expect(newer.role).toBe('leader');
    expect([older.ended, older.problems].map((told) => told.map(({ code }) => code))).toEqual([
      ['tab-outdated'],
      ['storage-lost'],
    ]);
  });
});

describe('tabs of different bundles', () => {
  it('end as outdated if a tab has a newer protocol', async () => {
    const browser = new FakeBrowser();
    const { leader, follower } = await two(browser);
    browser.broadcastRaw({ rockpool: CHANNEL_PROTOCOL + 1, message: { kind: 'something new' } });
    await settle();
    for (const tab of [leader, follower]) {
      expect(tab.ended.map(({ code }) => code)).toEqual(['tab-outdated']);
      expect(await codeOf(write(tab, 'a'))).toBe('tab-outdated');
    }
    expect(browser.file.writers).toBe(0);
  });

  it('have a new protocol for each storage format, because readers of an older format could not open the files', () => {
    expect(CHANNEL_PROTOCOL - STORAGE_FORMAT).toBe(3);
  });

  it('ignore messages of an older protocol and of other programs', async () => {
    const browser = new FakeBrowser();
    const { leader } = await two(browser);
    for (const data of [{ rockpool: CHANNEL_PROTOCOL - 1, message: {} }, 'hello', null, { message: { kind: 'hello' } }])
      browser.broadcastRaw(data);
    await settle();
    expect(leader.ended).toEqual([]);
  });

  it('let a tab whose schema has more columns lead, and end the older leader', async () => {
    const browser = new FakeBrowser();
    const older = browser.tab({ schema: schemaWith('a') });
    await older.membership.open();
    const newer = browser.tab({ schema: schemaWith('a', 'b') });
    await newer.membership.open();
    expect(newer.role).toBe('leader');
    expect(older.ended.map(({ code }) => code)).toEqual(['tab-outdated']);
    // What the older tab reports while it is being stopped is not final.
    expect(older.told.at(-1)).toBe('leader offline');
    expect(older.told).toHaveLength(1);
  });

  it('a suspended tab reports that it has no role until it has joined again', async () => {
    const browser = new FakeBrowser();
    const { leader, follower } = await two(browser);
    await leader.membership.suspend();
    await settle();
    expect([leader.told, follower.told.at(-1)]).toEqual([['leader offline', 'none opening'], 'leader offline']);
    await leader.membership.resume();
    expect(leader.told.at(-1)).toBe('follower offline');
  });

  it('a tab that cannot take over reports why, and when it tries again', async () => {
    const browser = new FakeBrowser();
    let isBroken = false;
    const leader = browser.tab();
    await leader.membership.open();
    const heir = browser.tab({
      failToOpen: (role) => (isBroken && role === 'writer' ? new RockpoolError('storage-lost') : null),
    });
    await heir.membership.open();
    isBroken = true;
    leader.kill();
    await settle();
    expect(heir.told.at(-1)).toBe('none opening');
    expect(heir.status?.reason).toMatchObject({
      code: 'storage-lost',
      fields: { nextAttemptMs: expect.any(Number) as number },
    });
    isBroken = false;
    await browser.advance(1_000);
    expect(heir.told.at(-1)).toBe('leader offline');
    expect(heir.status?.reason).toBeNull();
  });

  it('a tab whose schema has fewer columns fails to open as outdated', async () => {
    const browser = new FakeBrowser();
    const newer = browser.tab({ schema: schemaWith('a', 'b') });
    await newer.membership.open();
    expect(await codeOf(browser.tab({ schema: schemaWith('a') }).membership.open())).toBe('tab-outdated');
    expect(newer.ended).toEqual([]);
  });

  it('let a tab with newer merge rules lead, end the older leader, and let a tab with older rules follow', async () => {
    const browser = new FakeBrowser();
    const withRule = (deleteRule: 'delete-wins' | 'update-wins'): string =>
      encodeSchema(
        buildSchema(
          decodeSchema(schemaWith('a')).tables.map((table) => ({ ...table, merge: { ...table.merge, deleteRule } })),
        ),
      );
    const newerSchema = withRule('update-wins');
    const older = {
      schema: withRule('delete-wins'),
      hasOlderRulesThan: (schema: string): boolean => schema === newerSchema,
    };
    const leader = browser.tab(older);
    await leader.membership.open();
    const newer = browser.tab({ schema: newerSchema });
    await newer.membership.open();
    expect(leader.ended.map(({ code }) => code)).toEqual(['tab-outdated']);
    expect(newer.role).toBe('leader');
    const follower = browser.tab(older);
    await follower.membership.open();
    const other = browser.tab({ schema: newerSchema });
    await other.membership.open();
    expect([newer.role, follower.role, other.role]).toEqual(['leader', 'follower', 'follower']);
    expect(follower.ended).toEqual([]);
  });

  it('a tab whose schema has different columns fails to open with schema-incompatible', async () => {
    const browser = new FakeBrowser();
    const first = browser.tab({ schema: schemaWith('a') });
    await first.membership.open();
    await expect(browser.tab({ schema: schemaWith('b') }).membership.open()).rejects.toMatchObject({
      code: 'schema-incompatible',
      fields: { table: 't', column: 'b', problem: 'the leader tab does not have this column' },
    });
    await write(first, 'a');
  });
});

describe('tabs with migrations', () => {
  it('end with an error if another tab has more migrations, which then leads', async () => {
    const browser = new FakeBrowser();
    const older = browser.tab({ migrationCount: 1 });
    await older.membership.open();
    const newer = browser.tab({ migrationCount: 2 });
    await newer.membership.open();
    expect(older.ended.map(({ code }) => code)).toEqual(['tab-outdated']);
    expect(newer.role).toBe('leader');
    expect(await codeOf(browser.tab({ migrationCount: 1 }).membership.open())).toBe('tab-outdated');
  });
});
