import {
  auditedColumnIds,
  buildSchema,
  columnIdOf,
  decodeHistoryPage,
  decodeRowAtVersion,
  decodeServerMessage,
  encodeKey,
  FIRST_LOG_HASH,
  PROTOCOL_VERSION,
  SYSTEM_TABLES,
  TableFingerprint,
  type ChangeGroup,
  type Hello,
  type ServerMessage,
} from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Subscriber } from '../fanout/subscription.ts';
import { answerHistory, type RowHistoryRequest } from '../history/answer-history.ts';
import { encodeParts } from '../pull/encode-parts.ts';
import { Snapshots } from '../snapshot/snapshots.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import {
  EVERYTHING,
  readableGroups,
  readsEverything,
  type ReadableRows,
  type ReadFilter,
} from '../store/read-filter.ts';
import { insert, toBody, toGroup, update, withAges, type Change } from '../../testing/changeset.ts';
import { TestSite } from '../../testing/test-client.ts';
import { ACCOUNTS, TEST_SCHEMA, TEST_TABLES } from '../../testing/test-schema.ts';
import { LiveDatabase } from './live-database.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const NOW_MS = 1_763_683_200_000;
const CANARY = 'canary';
const [CONFLICT_TABLE] = SYSTEM_TABLES;

/** Hides the rows of one table, its conflicts and one topic. */
const WITHOUT_ACCOUNTS: ReadFilter = {
  schema: null,
  rows: {
    groups: (groups) =>
      groups
        .filter(({ tableId }) => tableId !== ACCOUNTS.id)
        .map(withoutConflictsOfAccounts)
        .filter(({ rowCount }) => rowCount > 0),
    presence: (states) => states.filter(({ topic }) => topic !== 'accounts'),
  },
};

function withoutConflictsOfAccounts(group: ChangeGroup): ChangeGroup {
  if (group.tableId !== CONFLICT_TABLE?.id) return group;
  const tableNames = group.values[group.columnIds.indexOf(columnIdOf('table_name'))] ?? [];
  const kept = tableNames.flatMap((name, row) => (name === 'accounts' ? [] : [row]));
  const pick = <Value>(column: readonly Value[]): Value[] => kept.map((row) => column[row] as Value);
  return { ...group, rowCount: kept.length, keys: group.keys.map(pick), values: group.values.map(pick) };
}

/** Hides the rows that contain the canary, and the column `rank` of all others. Each group has one row. */
const WITHOUT_CANARY: ReadableRows = {
  groups: (groups) =>
    groups
      .filter(({ values }) => !values.flat().includes(CANARY))
      .map((group) => {
        const kept = [...group.columnIds.keys()].filter((index) => group.columnIds[index] !== columnIdOf('rank'));
        const pick = <Value>(column: readonly Value[]): Value[] => kept.map((index) => column[index] as Value);
        return { ...group, columnIds: pick(group.columnIds), values: pick(group.values) };
      }),
  presence: (states) => states,
};

/** Everything that the server has sent to one session. */
interface Client {
  readonly subscriber: Subscriber;
  readonly site: TestSite;
  readonly frames: Uint8Array[];
  readonly messages: () => ServerMessage[];
}

let live: LiveDatabase;
beforeEach(() => {
  live = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), {
    onFailure: (error) => expect.unreachable(String(error)),
  });
});
afterEach(() => live.close());

function join(filter: ReadFilter, hello: Partial<Hello> = {}, site: TestSite = new TestSite()): Client {
  const frames: Uint8Array[] = [];
  const subscriber: Subscriber = {
    site: Buffer.from(site.siteId).toString('hex'),
    hasEnded: false,
    send: (...messages) => void frames.push(...messages),
    // Ends with its database, which is closed after the test.
    fail: (error) => expect(error.code).toBe('database-unavailable'),
  };
  void live.join(
    subscriber,
    {
      type: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      token: '',
      databaseId: '',
      databaseIdentity: null,
      schemaHash: TEST_SCHEMA.hash,
      siteId: site.siteId,
      logEpoch: null,
      cursor: 0,
      cursorHash: FIRST_LOG_HASH,
      lastAckedSequence: 0,
      decidedHash: site.hashes[0] as Uint8Array,
      lastSequence: 0,
      fullResync: false,
      snapshot: 'refused',
      ...hello,
    },
    { principal: { id: 'ann' }, canWrite: true, rows: filter.rows, nowMs: NOW_MS },
  );
  return { subscriber, site, frames, messages: () => frames.map((frame) => decodeServerMessage(frame)) };
}

const write = (...changes: Change[]): Promise<number> => live.write(toBody(changes), 'server', NOW_MS);
const readsCanary = ({ frames }: Client): boolean => frames.some((frame) => Buffer.from(frame).includes(CANARY));

/**
 * Expects that the canary does not reach a session that may not read accounts. It must reach a session that reads
 * everything; otherwise the test would prove nothing.
 */
function expectFiltered(everything: Client, filtered: Client): void {
  expect({ everything: readsCanary(everything), filtered: readsCanary(filtered) }).toEqual({
    everything: true,
    filtered: false,
  });
}

function joinBoth(hello: Partial<Hello> = {}): [everything: Client, filtered: Client] {
  return [join(EVERYTHING, hello), join(WITHOUT_ACCOUNTS, hello)];
}

describe('a read filter', () => {
  it('applies to the first delivery and to full resyncs', async () => {
    await write(insert('accounts', 'a', { name: CANARY }), insert('labels', ['x', 1n], {}));
    for (const fullResync of [false, true]) {
      const [everything, filtered] = joinBoth({ fullResync });
      expectFiltered(everything, filtered);
      expect(filtered.messages().at(-1)).toMatchObject({ type: 'delivery', to: 1, groups: [{ keys: [['x'], [1n]] }] });
    }
  });

  it('applies to the delivery after a commit, even for sessions that share an encoding', async () => {
    const both = [joinBoth(), joinBoth()];
    await write(insert('accounts', 'a', { name: CANARY }));
    for (const [everything, filtered] of both) {
      expectFiltered(everything, filtered);
      expect(filtered.messages().at(-1)).toMatchObject({ type: 'delivery', from: 0, to: 1, groups: [] });
    }
  });

  it('applies to the conflict log, and to the corrections that an author receives', async () => {
    await live.write(toBody([insert('accounts', 'a', { name: `${CANARY} 1` })]), 'server', NOW_MS - 10_000);
    const [everything] = joinBoth();
    const filtered = join(WITHOUT_ACCOUNTS);
    const { site, subscriber } = filtered;
    const changeset = site.write([update('accounts', 'a', { name: 'mine' })]);
    await write(update('accounts', 'a', { name: `${CANARY} 2` }));
    everything.frames.splice(0);
    live.push(
      subscriber,
      {
        type: 'push',
        previousHash: site.hashes[0] as Uint8Array,
        olderEpochUpTo: 0,
        changesets: withAges([{ ...changeset, base: 1, stampUs: 1 }], site.nowMs()),
      },
      { principal: 'ann', receivedMs: NOW_MS },
      () => undefined,
    );
    live.settle();
    expect(everything.messages().at(-1)).toMatchObject({ type: 'delivery', groups: [{ tableId: CONFLICT_TABLE?.id }] });
    expect(filtered.messages().at(-1)).toMatchObject({ outcomes: [{ kind: 'admitted', conflictCount: 1 }] });
    expectFiltered(everything, filtered);
  });

  it('applies to audits', async () => {
    const cursor = await write(insert('accounts', 'a', { name: CANARY }));
    const clients = joinBoth();
    const sums = [...new TableFingerprint(ACCOUNTS, 2).sums];
    expect(auditedColumnIds(ACCOUNTS)).toContain(columnIdOf('name'));
    for (const { subscriber, frames } of clients) {
      frames.splice(0);
      live.audit(subscriber, { type: 'audit', cursor, tables: [{ tableId: ACCOUNTS.id, sums }] }, () => undefined);
    }
    const [everything, filtered] = clients;
    await expect.poll(() => everything.frames.length + filtered.frames.length).toBe(2);
    expectFiltered(everything, filtered);
    expect(filtered.messages()).toMatchObject([{ type: 'audit-answer', compared: false, differing: [], groups: [] }]);
  });

  it('applies to presence, both to states present at joining and to later states', async () => {
    const tabId = new Uint8Array(16);
    const show = ({ subscriber }: Client, topic: string, stateJson: string): void =>
      live.show(
        subscriber,
        { type: 'presence', states: [{ tabId, topic, stateJson }] },
        { principal: { id: 'ann' }, nowMs: NOW_MS },
      );
    const early = joinBoth();
    for (const client of early) show(client, 'page', '1');
    show(join(EVERYTHING), 'accounts', `"${CANARY}"`);
    const late = joinBoth();
    for (const client of late) show(client, 'page', '2');
    expectFiltered(...late);
    await expect.poll(() => readsCanary(early[0])).toBe(true);
    expectFiltered(...early);
  });

  it('keeps snapshots, which contain every row, from sessions that may not read everything', async () => {
    const folder = temporaryFolder();
    const snapshots = new Snapshots({
      dataDir: folder,
      pathOf: () => expect.unreachable('reads the file'),
      requireIntact: () => Promise.resolve(),
      rules: { minFileBytes: 0, maxTailChangesets: 1 },
    });
    const log = { logEpoch: '', watermark: 1, tombstoneHorizon: 0, schemaHash: TEST_SCHEMA.hash };
    expect(await snapshots.get('household', log, WITHOUT_ACCOUNTS.rows)).toBeNull();
    await snapshots.close();
  });

  it('applies to the history of a row: to its versions and to their columns', async () => {
    const schema = buildSchema(
      TEST_TABLES.map((table) => (table.name === 'accounts' ? { ...table, history: { retainedDays: null } } : table)),
    );
    const kept = new LiveDatabase(openDatabaseFile(':memory:', schema), {
      onFailure: (error) => expect.unreachable(String(error)),
    });
    for (const change of [
      insert('accounts', 'a', { name: 'Cash', rank: 1n }),
      update('accounts', 'a', { name: CANARY }),
      update('accounts', 'a', { rank: 2n }),
      update('accounts', 'a', { name: 'Bank' }),
    ])
      await kept.write(toBody([change]), 'server', NOW_MS);
    const answer = (request: Omit<RowHistoryRequest, 'table' | 'key'>, rows: ReadableRows): Uint8Array =>
      answerHistory(
        kept.file,
        { table: 'accounts', key: encodeKey(['a']), ...request } as RowHistoryRequest,
        rows,
        NOW_MS,
      );
    const page = { kind: 'page', before: null, limit: 10, column: null, format: 2 } as const;
    const versions = (rows: ReadableRows): unknown =>
      decodeHistoryPage(answer(page, rows)).versions.map(({ watermark, changes }) => [
        watermark,
        new Set(changes.map(({ columnId }) => columnId)),
      ]);
    const [name, rank] = [columnIdOf('name'), columnIdOf('rank')];
    expect(versions('everything')).toEqual([
      [4, new Set([name])],
      [3, new Set([rank])],
      [2, new Set([name])],
      [1, new Set([name, rank])],
    ]);
    expect(versions(WITHOUT_CANARY)).toEqual([
      [3, new Set()],
      [1, new Set([name])],
    ]);
    const rowAt = (version: number): Uint8Array => answer({ kind: 'row', version } as never, WITHOUT_CANARY);
    expect(decodeRowAtVersion(rowAt(1))).toEqual(new Map([[name, 'Cash']]));
    expect(() => rowAt(2)).toThrow(
      expect.objectContaining({
        code: 'history-version-gone',
        fields: { table: 'accounts', version: 2, oldestVersion: null, oldestMs: null },
      }),
    );
    await kept.close();
  });

  it('returns the same groups without reading a row if it permits everything', () => {
    const groups = [toGroup(insert('accounts', 'a', { name: 'Cash' }))];
    expect(readableGroups(groups, EVERYTHING)).toBe(groups);
    expect(readsEverything(EVERYTHING)).toBe(true);
    expect(readsEverything(WITHOUT_ACCOUNTS)).toBe(false);
    // @ts-expect-error Rows that have not passed a filter cannot be encoded.
    expect(encodeParts(groups, 1024)).toHaveLength(1);
  });
});
