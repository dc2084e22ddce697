import fc from 'fast-check';
import type { CellValue } from '../src/change/cell-value.ts';
import type { ChangeGroup, ChangeKind, ChangesetBody, ChangesetOrigin } from '../src/change/changeset.ts';
import type { AuditedTable } from '../src/protocol/audit.ts';
import { MAX_EARLIER_SITES } from '../src/protocol/limits.ts';
import type { ClientMessage, ServerMessage } from '../src/protocol/message-codec.ts';
import { PROTOCOL_FLOOR, PROTOCOL_VERSION } from '../src/protocol/protocol-version.ts';
import type { Outcome } from '../src/protocol/outcome.ts';
import type { PushedChangeset } from '../src/protocol/push.ts';
import { anyCharacter } from './any-character.ts';

/**
 * A record with the ordinary prototype, because fast-check also produces records without one, which no decoder returns.
 */
function plain<T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record<T>(shape, { noNullPrototype: true });
}

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

const syncableText: fc.Arbitrary<string> = fc
  .string({ unit: anyCharacter })
  .map((text) => text.replaceAll('\u0000', '').toWellFormed());

/** Every kind of value that can be synced, with edge cases. */
export const cellValue: fc.Arbitrary<CellValue> = fc.oneof(
  fc.constant(null),
  fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  fc.constantFrom(INT64_MIN, INT64_MAX, 2n ** 53n, 2n ** 53n - 1n, -(2n ** 53n), 2n ** 52n, 0n, -1n),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0), // SQLite has no -0
  syncableText,
  fc.uint8Array({ maxLength: 40 }),
);

export const keyPart: fc.Arbitrary<CellValue> = cellValue.filter((value) => value !== null);

const columnId: fc.Arbitrary<number> = fc.integer({ min: 1, max: 0xffff_ffff });

function matrix(columns: number, rows: number, value: fc.Arbitrary<CellValue>): fc.Arbitrary<CellValue[][]> {
  // Runs of one type and mixed runs both occur in real columns.
  const column = fc.oneof(
    fc.array(value, { minLength: rows, maxLength: rows }),
    value.chain((first) =>
      fc.array(
        value.filter((other) => typeof other === typeof first),
        { minLength: rows, maxLength: rows },
      ),
    ),
  );
  return fc.array(column, { minLength: columns, maxLength: columns });
}

export const changeGroup: fc.Arbitrary<ChangeGroup> = plain({
  kind: fc.constantFrom<ChangeKind>('insert', 'update', 'delete'),
  tableId: columnId,
  rowCount: fc.integer({ min: 1, max: 12 }),
  keyCount: fc.integer({ min: 1, max: 3 }),
  columnIds: fc.uniqueArray(columnId, { minLength: 1, maxLength: 4 }),
}).chain(({ kind, tableId, rowCount, keyCount, columnIds }) => {
  const columns = kind === 'delete' ? [] : columnIds;
  return fc
    .tuple(matrix(keyCount, rowCount, keyPart), matrix(columns.length, rowCount, cellValue))
    .map(([keys, values]) => ({ kind, tableId, rowCount, keys, columnIds: columns, values }));
});

export const changesetBody: fc.Arbitrary<ChangesetBody> = plain({
  atomic: fc.boolean(),
  groups: fc.array(changeGroup, { maxLength: 4 }),
  cellBases: fc.array(
    plain({ tableId: columnId, key: fc.array(keyPart, { minLength: 1, maxLength: 3 }), columnId, base: fc.nat() }),
    { maxLength: 3 },
  ),
});

const safe: fc.Arbitrary<number> = fc.maxSafeNat();
const spokenVersion: fc.Arbitrary<number> = fc.integer({ min: PROTOCOL_FLOOR, max: PROTOCOL_VERSION });
const id: fc.Arbitrary<Uint8Array> = fc.uint8Array({ minLength: 16, maxLength: 16 });

export const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  plain({ kind: fc.constant('admitted' as const), sequence: safe, watermark: safe, conflictCount: fc.nat() }),
  plain({
    kind: fc.constant('rejected' as const),
    sequence: safe,
    code: fc.constantFrom('constraint-unique' as const, 'schema-unknown-table' as const),
    fields: fc.constant({ table: 'entries', count: 2 }),
  }),
);

const origin: fc.Arbitrary<ChangesetOrigin> = plain({
  siteId: id,
  sequence: fc.integer({ min: 1, max: 2 ** 40 }),
  hash: id,
});

const changesetRun: fc.Arbitrary<PushedChangeset[]> = fc
  .tuple(
    fc.integer({ min: 1, max: 2 ** 40 }),
    fc.array(
      fc.tuple(
        plain({ stampUs: safe, ageUs: safe, base: safe, body: fc.uint8Array() }),
        fc.option(origin, { freq: 1 }),
      ),
      { minLength: 1, maxLength: 5 },
    ),
  )
  .map(([first, entries]) =>
    entries.map(([entry, origin], index) => ({
      sequence: first + index,
      ...entry,
      ...(origin === null ? {} : { origin }),
    })),
  );

const u32: fc.Arbitrary<number> = fc.integer({ min: 0, max: 0xffff_ffff });
const auditedTable: fc.Arbitrary<AuditedTable> = fc
  .constantFrom(1, 2, 16)
  .chain((ranges) =>
    plain({ tableId: columnId, sums: fc.array(u32, { minLength: ranges * 2, maxLength: ranges * 2 }) }),
  );

const presenceState = {
  tabId: id,
  topic: fc.string({ maxLength: 20 }),
  stateJson: fc.option(fc.json({ maxDepth: 2 }), { nil: null }),
};

export const clientMessage: fc.Arbitrary<ClientMessage> = fc.oneof(
  plain({
    type: fc.constant('hello' as const),
    protocolVersion: spokenVersion,
    token: fc.string(),
    databaseId: fc.string(),
    databaseIdentity: fc.option(id),
    siteId: id,
    schemaHash: fc.string(),
    logEpoch: fc.option(id),
    cursor: safe,
    cursorHash: id,
    lastAckedSequence: safe,
    decidedHash: id,
    lastSequence: safe,
    fullResync: fc.boolean(),
    snapshot: fc.oneof(
      fc.constant('refused' as const),
      fc.constant('accepted' as const),
      plain({ logEpoch: id, watermark: safe, logHash: id }),
    ),
  }),
  fc
    .tuple(changesetRun, fc.array(plain({ last: origin, upTo: safe }), { maxLength: MAX_EARLIER_SITES }))
    .chain(([changesets, earlierSites]) =>
      plain({
        type: fc.constant('push' as const),
        previousHash: id,
        olderEpochUpTo: safe,
        ...(earlierSites.length > 0 && { earlierSites: fc.constant(earlierSites) }),
        changesets: fc.constant(changesets),
      }),
    ),
  plain({ type: fc.constant('confirm' as const), cursor: safe, lastAckedSequence: safe }),
  plain({ type: fc.constant('renew-token' as const), token: fc.string() }),
  plain({ type: fc.constant('ping' as const) }),
  plain({ type: fc.constant('audit' as const), cursor: safe, tables: fc.array(auditedTable, { maxLength: 3 }) }),
  plain({ type: fc.constant('presence' as const), states: fc.array(plain(presenceState), { maxLength: 3 }) }),
);

export const serverMessage: fc.Arbitrary<ServerMessage> = fc.oneof(
  plain({
    type: fc.constant('welcome' as const),
    protocolVersion: spokenVersion,
    databaseIdentity: id,
    logEpoch: id,
    watermark: safe,
    lastAckedSequence: safe,
    decidedHash: id,
    serverNowMs: safe,
    fullResync: fc.boolean(),
    canWrite: fc.boolean(),
    takeSnapshot: fc.boolean(),
  }),
  fc.tuple(fc.nat(), fc.nat(), fc.boolean()).chain(([from, more, whole]) =>
    plain({
      type: fc.constant('delivery' as const),
      whole: fc.constant(whole),
      from: fc.constant(from),
      to: fc.constant(from + more),
      logHash: id,
      lastAckedSequence: safe,
      outcomes: fc.array(outcome, { maxLength: 3 }),
      groups: fc.array(changeGroup, { maxLength: 3 }),
    }),
  ),
  plain({
    type: fc.constant('failure' as const),
    code: fc.constant('auth-token-expired' as const),
    fields: fc.constant({ seconds: 3 }),
  }),
  plain({ type: fc.constant('pong' as const), serverNowMs: safe }),
  plain({ type: fc.constant('delivery-part' as const), groups: fc.array(changeGroup, { maxLength: 3 }) }),
  plain({
    type: fc.constant('presence-update' as const),
    whole: fc.boolean(),
    seen: fc.array(plain({ siteId: id, principal: fc.string(), name: fc.string(), sinceMs: safe, ...presenceState }), {
      maxLength: 3,
    }),
  }),
  plain({
    type: fc.constant('audit-answer' as const),
    cursor: safe,
    compared: fc.boolean(),
    differing: fc.array(plain({ tableId: columnId, ranges: fc.array(fc.nat(), { maxLength: 3 }) }), { maxLength: 3 }),
    groups: fc.array(
      changeGroup.filter(({ kind }) => kind === 'insert'),
      { maxLength: 2 },
    ),
  }),
);
