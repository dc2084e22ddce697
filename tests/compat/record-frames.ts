/*
 * Records one frame of each message of the current protocol version in protocol-<version>.json. Run it once when a
 * version is released (`node tests/compat/record-frames.ts`); the frames never change afterwards.
 */
import { writeFileSync } from 'node:fs';
import {
  encodeChangesetBody,
  encodeMessage,
  messageToFrames,
  PROTOCOL_VERSION,
  tableIdOf,
  columnIdOf,
  type ChangeGroup,
  type ClientMessage,
  type ServerMessage,
} from '#shared/index.ts';
import { toHex, toRecordable, type RecordedFrame } from './frames.ts';

const id = Uint8Array.from({ length: 16 }, (_, index) => index * 7);
const groups: ChangeGroup[] = [
  {
    tableId: tableIdOf('entry'),
    kind: 'insert',
    rowCount: 2,
    keys: [['e1', 'e2']],
    columnIds: [columnIdOf('amount'), columnIdOf('note'), columnIdOf('rate')],
    values: [
      [-4210n, 2n ** 62n],
      ['Brötchen', null],
      [0.5, -1e300],
    ],
  },
  {
    tableId: tableIdOf('entry'),
    kind: 'update',
    rowCount: 1,
    keys: [['e1']],
    columnIds: [columnIdOf('note')],
    values: [[Uint8Array.of(0, 255)]],
  },
  { tableId: tableIdOf('rate'), kind: 'delete', rowCount: 1, keys: [['2026-11'], [7n]], columnIds: [], values: [] },
];
const body = encodeChangesetBody({
  atomic: true,
  groups,
  cellBases: [{ tableId: tableIdOf('entry'), key: ['e1'], columnId: 0, base: 300 }],
});

const fromClient: ClientMessage[] = [
  {
    type: 'hello',
    protocolVersion: PROTOCOL_VERSION,
    token: 'a.b.c',
    databaseId: 'budget-1',
    databaseIdentity: null,
    siteId: id,
    schemaHash: '0'.repeat(32),
    logEpoch: null,
    cursor: 0,
    cursorHash: new Uint8Array(16),
    lastAckedSequence: 0,
    decidedHash: new Uint8Array(16),
    lastSequence: 0,
    fullResync: false,
    snapshot: 'accepted',
  },
  {
    type: 'hello',
    protocolVersion: PROTOCOL_VERSION,
    token: '',
    databaseId: 'b',
    databaseIdentity: id,
    siteId: id,
    schemaHash: 'f'.repeat(32),
    logEpoch: id,
    cursor: 2 ** 40,
    cursorHash: id,
    lastAckedSequence: 129,
    decidedHash: id,
    lastSequence: 130,
    fullResync: true,
    snapshot: { logEpoch: id, watermark: 2 ** 40, logHash: id },
  },
  {
    type: 'push',
    previousHash: id,
    olderEpochUpTo: 0,
    changesets: [{ sequence: 130, stampUs: 1_763_683_200_000_123, ageUs: 1500, base: 12, body }],
  },
  {
    type: 'push',
    previousHash: id,
    olderEpochUpTo: 131,
    changesets: [
      { sequence: 131, stampUs: 1_763_683_200_000_124, ageUs: 1500, base: 12, body },
      {
        sequence: 132,
        stampUs: 1_763_683_200_000_125,
        ageUs: 0,
        base: 13,
        origin: { siteId: id, sequence: 300, hash: id.toReversed() },
        body,
      },
    ],
  },
  {
    type: 'push',
    previousHash: id,
    olderEpochUpTo: 0,
    earlierSites: [
      { last: { siteId: id, sequence: 7, hash: id.toReversed() }, upTo: 0 },
      { last: { siteId: id.toReversed(), sequence: 300, hash: id }, upTo: 2 ** 40 },
    ],
    changesets: [{ sequence: 1, stampUs: 1_763_683_200_000_126, ageUs: 0, base: 13, body }],
  },
  { type: 'confirm', cursor: 13, lastAckedSequence: 130 },
  { type: 'renew-token', token: 'd.e.f' },
  { type: 'ping' },
  {
    type: 'audit',
    cursor: 14,
    tables: [
      { tableId: tableIdOf('entry'), sums: [1, 2 ** 32 - 1] },
      { tableId: tableIdOf('rate'), sums: [1, 2, 3, 4] },
    ],
  },
  {
    type: 'presence',
    states: [
      { tabId: id, topic: '', stateJson: '{"page":"budget"}' },
      { tabId: id, topic: '["notes",["n1"],"body"]', stateJson: null },
    ],
  },
];
const fromServer: ServerMessage[] = [
  {
    type: 'welcome',
    protocolVersion: PROTOCOL_VERSION,
    databaseIdentity: id,
    logEpoch: id,
    watermark: 12,
    lastAckedSequence: 129,
    decidedHash: id,
    fullResync: false,
    serverNowMs: 1_763_683_200_000,
    canWrite: true,
    takeSnapshot: false,
  },
  {
    type: 'delivery',
    whole: false,
    from: 12,
    to: 14,
    logHash: id,
    lastAckedSequence: 131,
    outcomes: [
      { kind: 'admitted', sequence: 130, watermark: 13, conflictCount: 1 },
      { kind: 'rejected', sequence: 131, code: 'constraint-unique', fields: { table: 'account', columns: 'name' } },
    ],
    groups,
  },
  { type: 'failure', code: 'auth-token-expired', fields: {} },
  { type: 'pong', serverNowMs: 1_763_683_200_000 },
  {
    type: 'audit-answer',
    cursor: 14,
    compared: true,
    differing: [
      { tableId: tableIdOf('entry'), ranges: [] },
      { tableId: tableIdOf('rate'), ranges: [1] },
    ],
    groups: groups.slice(0, 1),
  },
  { type: 'delivery-part', groups },
  {
    type: 'presence-update',
    whole: true,
    seen: [
      {
        siteId: id,
        principal: 'ann',
        name: 'Ann Åkesson',
        sinceMs: 1_763_683_200_000,
        tabId: id,
        topic: '',
        stateJson: '{}',
      },
    ],
  },
];

function record(side: RecordedFrame['side'], message: ClientMessage | ServerMessage): RecordedFrame {
  const frames = messageToFrames(encodeMessage(message));
  if (frames.length !== 1) throw new Error(`a recorded message must fit in one frame; this one has ${frames.length}`);
  return { side, frame: toHex(frames[0] as Uint8Array), message: toRecordable(message) };
}

const recorded = [
  ...fromClient.map((message) => record('client', message)),
  ...fromServer.map((message) => record('server', message)),
];
const file = new URL(`protocol-${PROTOCOL_VERSION}.json`, import.meta.url);
writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`, { flag: 'wx' });
