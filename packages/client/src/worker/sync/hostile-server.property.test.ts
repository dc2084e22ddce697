import {
  buildSchema,
  columnIdOf,
  DEFAULT_DOCUMENT_RULE,
  DEFAULT_MERGE_RULES,
  encodeMessage,
  messageToFrames,
  PROTOCOL_VERSION,
  tableIdOf,
  type CellValue,
  type ChangeGroup,
  type Delivery,
  type Outcome,
  type ServerMessage,
  type Welcome,
} from '@rockpool/shared';
import { cellValue, serverMessage } from '@rockpool/shared/testing';
import { encodeDocumentCell } from '@rockpool/shared/document';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { account, draft, entry, openInMemory, priced } from '../../../testing/worker/test-database.ts';
import { testDelivery, testEpoch, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { createSyncEngine, type SyncDatabase } from './sync-engine.ts';
import type { SyncReport } from './sync-status.ts';
import { connectOver } from './server-connection.ts';
import { webSocketTransport } from './web-socket-transport.ts';

/*
 * A server that sends anything: noise, damaged frames, messages out of place, and ordered deliveries with invalid rows.
 */

const page = testTable(
  'page',
  { id: 'text not null', content: 'text' },
  { merge: { ...DEFAULT_MERGE_RULES, documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'content' }] } },
);
const schema = buildSchema([account, draft, entry, page, priced]);

/** The client's end of a connection, for a test that sends as the server. */
class FakeSocket {
  static opened: FakeSocket[] = [];
  binaryType = '';
  readonly bufferedAmount = 0;
  readyState = 1;
  onopen: (() => void) | null = null;
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;
  onclose: ((event: { readonly code: number }) => void) | null = null;

  constructor() {
    FakeSocket.opened.push(this);
    queueMicrotask(() => this.onopen?.());
  }

  send(): void {}

  close(): void {
    this.readyState = 3;
  }

  hear(frame: Uint8Array | string): void {
    if (this.readyState === 1) this.onmessage?.({ data: typeof frame === 'string' ? frame : frame.slice().buffer });
  }
}

beforeEach(() => void vi.stubGlobal('WebSocket', FakeSocket));
afterEach(() => void vi.unstubAllGlobals());

const TABLES = [account, draft, entry, page, priced];
const id: fc.Arbitrary<CellValue> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<CellValue>('a', 'b', 'c', 'p') },
  { weight: 1, arbitrary: cellValue },
);
const document: fc.Arbitrary<CellValue> = fc.constantFrom(
  encodeDocumentCell({ kind: 'content', json: '{"a":1}' }),
  encodeDocumentCell({ kind: 'content', json: '{"__proto__":' }),
  encodeDocumentCell({ kind: 'update', documentId: new Uint8Array(16), updates: [new Uint8Array([0, 0])] }),
  encodeDocumentCell({
    kind: 'edit',
    documentId: new Uint8Array(16),
    generation: 1,
    update: new Uint8Array([1, 200, 200, 200, 14]),
  }),
  encodeDocumentCell({ kind: 'state', documentId: new Uint8Array(16), update: new Uint8Array([1, 9, 9]) }),
  '{"a":1}',
);
const value = fc.oneof(
  { weight: 3, arbitrary: cellValue },
  { weight: 1, arbitrary: document },
  { weight: 1, arbitrary: id },
);

/**
 * Rows of existing tables, of the device's own tables, or of unknown ones; with matching or random keys and columns.
 */
const group: fc.Arbitrary<ChangeGroup> = fc
  .record({
    table: fc.constantFrom(...TABLES),
    tableId: fc.option(
      fc.constantFrom(7, tableIdOf('rockpool_conflict'), tableIdOf('rockpool_meta'), tableIdOf('sqlite_schema')),
      { freq: 5 },
    ),
    kind: fc.constantFrom('insert' as const, 'update' as const, 'delete' as const),
    rowCount: fc.integer({ min: 1, max: 3 }),
    keyCount: fc.oneof({ weight: 8, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(2) }),
    stray: fc.option(fc.constantFrom(columnIdOf('id'), columnIdOf('gross'), 9), { freq: 5 }),
  })
  .chain(({ table, tableId, kind, rowCount, keyCount, stray }) => {
    const known = table.columns
      .filter(({ name, generated }) => name !== 'id' && generated === null)
      .map((column) => column.id);
    const columnIds = kind === 'delete' ? [] : [...new Set([...known, ...(stray === null ? [] : [stray])])];
    const rows = (arbitrary: fc.Arbitrary<CellValue>): fc.Arbitrary<CellValue[]> =>
      fc.array(arbitrary, { minLength: rowCount, maxLength: rowCount });
    return fc
      .tuple(
        fc.tuple(...Array.from({ length: keyCount }, () => rows(id))),
        fc.tuple(...columnIds.map(() => rows(value))),
      )
      .map(([keys, values]) => ({ tableId: tableId ?? table.id, kind, rowCount, keys, columnIds, values }));
  });

type Saying = (sync: SyncDatabase) => ServerMessage;

const delivery: fc.Arbitrary<Saying> = fc
  .record({
    whole: fc.option(fc.constant(true), { freq: 6 }),
    back: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: -1, max: 2 }) }),
    more: fc.nat({ max: 2 }),
    decides: fc.nat({ max: 2 }),
    rejects: fc.boolean(),
    groups: fc.array(group, { maxLength: 3 }),
  })
  .map(({ whole, back, more, decides, rejects, groups }) => ({ position }: SyncDatabase): Delivery => {
    const { cursor, lastAckedSequence } = position();
    const outcomes = Array.from({ length: decides }, (_, i): Outcome => {
      const sequence = lastAckedSequence + 1 + i;
      return rejects
        ? { kind: 'rejected', sequence, code: 'constraint-check', fields: {} }
        : { kind: 'admitted', sequence, watermark: cursor + 1, conflictCount: 0 };
    });
    const from = whole === true ? 0 : Math.max(0, cursor - back);
    return testDelivery({
      whole: whole === true,
      from,
      to: from + more,
      lastAckedSequence: lastAckedSequence + decides,
      outcomes,
      groups,
    });
  });
const welcome: fc.Arbitrary<Saying> = fc
  .record({
    logEpoch: fc.integer({ min: 1, max: 2 }),
    ahead: fc.nat({ max: 2 }),
    isOtherHash: fc.boolean(),
    fullResync: fc.boolean(),
    takeSnapshot: fc.boolean(),
  })
  .map(({ logEpoch, ahead, isOtherHash, fullResync, takeSnapshot }) => ({ position }: SyncDatabase): Welcome => {
    const { lastAckedSequence, decidedHash } = position();
    return testWelcome({
      protocolVersion: PROTOCOL_VERSION,
      logEpoch: testEpoch(logEpoch),
      lastAckedSequence: lastAckedSequence + ahead,
      decidedHash: isOtherHash ? new Uint8Array(16).fill(9) : decidedHash,
      fullResync,
      takeSnapshot,
    });
  });
/** The welcome of an honest server to a known device. */
const honestWelcome: Saying = ({ position }) =>
  testWelcome({
    protocolVersion: PROTOCOL_VERSION,
    lastAckedSequence: position().lastAckedSequence,
    decidedHash: position().decidedHash,
  });

type Step =
  | { readonly say: Saying; readonly damage: readonly [at: number, bits: number] | null }
  | { readonly frame: Uint8Array | string }
  | 'reconnect';
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: delivery.map((say): Step => ({ say, damage: null })) },
  { weight: 2, arbitrary: welcome.map((say): Step => ({ say, damage: null })) },
  { weight: 2, arbitrary: serverMessage.map((message): Step => ({ say: () => message, damage: null })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(delivery, fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })))
      .map(([say, damage]): Step => ({ say, damage })),
  },
  {
    weight: 1,
    arbitrary: fc
      .oneof(fc.uint8Array({ maxLength: 60 }), fc.string({ maxLength: 5 }))
      .map((frame): Step => ({ frame })),
  },
  { weight: 1, arbitrary: fc.constant<Step>('reconnect') },
);

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

/** What no server may change. */
function ownThings({ connection }: OpenDatabase): unknown {
  return [
    connection.rows('SELECT type, name, sql FROM sqlite_schema ORDER BY name'),
    connection.rows('SELECT * FROM draft'),
    connection.rows('PRAGMA integrity_check'),
  ];
}

/** Undecided writes are kept until the server reports their outcome, and rejected ones are kept for the user. */
function expectNothingLost(sync: SyncDatabase, before: ReturnType<typeof whereWritesAre>): void {
  const now = whereWritesAre(sync);
  // If a copy of the file has sent some of them, the device continues with the rest as a new site.
  if (now.site !== before.site) return;
  expect(now.pendingCount).toBe(before.pendingCount - (now.lastAckedSequence - before.lastAckedSequence));
  expect(now.rejectedCount).toBeGreaterThanOrEqual(before.rejectedCount);
}

function whereWritesAre(sync: SyncDatabase): {
  readonly site: string;
  readonly pendingCount: number;
  readonly rejectedCount: number;
  readonly lastAckedSequence: number;
} {
  return { ...sync.counts(), site: sync.siteId.join(), lastAckedSequence: sync.position().lastAckedSequence };
}

let applied = 0;

async function runHistory(steps: readonly Step[]): Promise<void> {
  const database = openInMemory({ schema });
  let requests = 0;
  const write = (sql: string): void => void database.write({ id: `w${++requests}`, statements: [{ sql, params: [] }] });
  write("INSERT INTO draft VALUES (1, 'mine')");
  write("INSERT INTO account (id, name, amount) VALUES ('a', 'Cash', 1)");
  write(`INSERT INTO page VALUES ('p', '{"a":0}')`);
  write("INSERT INTO entry (id, account_id) VALUES ('b', 'a')");
  const before = ownThings(database);
  const sync = testSync(database);
  const reports: SyncReport[] = [];
  const problems: string[] = [];
  FakeSocket.opened = [];
  const engine = createSyncEngine({
    url: 'ws://any',
    databaseId: 'budget',
    token: async () => 'token',
    database: sync,
    connect: connectOver(webSocketTransport),
    onReport: (report) => void reports.push(report),
    onProblem: ({ code }) => void problems.push(code),
    onStuck: () => undefined,
    nowMs: () => 1_700_000_000_000,
    random: () => 0,
  });
  const reconnect = async (): Promise<void> => {
    engine.tryNow();
    await turns();
    hear(honestWelcome);
  };
  const hear = (say: Saying, damage: readonly [number, number] | null = null): void => {
    const bytes = encodeMessage(say(sync));
    if (damage !== null) bytes[damage[0] % bytes.length] = (bytes[damage[0] % bytes.length] ?? 0) ^ damage[1];
    for (const frame of messageToFrames(bytes)) FakeSocket.opened.at(-1)?.hear(frame);
  };
  try {
    engine.start();
    await turns();
    hear(honestWelcome);
    for (const one of steps) {
      if (FakeSocket.opened.at(-1)?.readyState !== 1 || one === 'reconnect') await reconnect();
      if (one === 'reconnect') continue;
      const { cursor } = sync.position();
      const writes = whereWritesAre(sync);
      if ('frame' in one) FakeSocket.opened.at(-1)?.hear(one.frame);
      else hear(one.say, one.damage);
      await turns();
      expectNothingLost(sync, writes);
      if (sync.position().cursor > cursor) applied++;
    }
    expect([...reports.map(({ reason }) => reason?.code), ...problems]).not.toContain('internal');
    expect(ownThings(database)).toEqual(before);
    // Local work continues.
    write("UPDATE draft SET text = 'still mine'");
    write("INSERT INTO account (id, name) VALUES ('mine', 'Mine, too')");
    expect(database.connection.rows('SELECT text, (SELECT name FROM account WHERE id = ?) FROM draft', 'mine')).toEqual(
      [['still mine', 'Mine, too']],
    );
  } finally {
    engine.stop();
    database.close();
  }
}

it('whatever a server sends, the database stays intact, no pending change is lost, local data is untouched, and every failure has a code', async () => {
  applied = 0;
  const numRuns = atLevel({ test: 50, verify: 400 });
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), runHistory), { numRuns });
  // Enough deliveries arrived to write rows.
  expect(applied).toBeGreaterThan(numRuns / 4);
});
