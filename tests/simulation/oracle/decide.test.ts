import { expect, it } from 'vitest';
import { decide } from './decide.ts';
import type { RowWrite } from './recorded-writes.ts';
import { NOTHING_NULLED, type Author, type Row, type Version } from './row-rules.ts';
import { RowStates } from './row-states.ts';
import { ORACLE_TABLES, type OracleTable } from './tables.ts';

const version = (watermark: number, more: Partial<Version> = {}): Version => ({
  watermark,
  stampUs: watermark,
  site: `site ${watermark}`,
  principals: new Set(['d1']),
  ...more,
});

const gone = (deleted: Version, more: Partial<Row> = {}): Row => ({
  inserted: version(1),
  deleted,
  waitsFor: null,
  updates: [],
  cells: new Map(),
  nulled: NOTHING_NULLED,
  ...more,
});

/** Has seen nothing of others. */
const author: Author = {
  version: version(9),
  isOfOlderEpoch: false,
  hasSeenRow: () => false,
  hadRow: () => false,
  hasSeenDelete: () => false,
  hasSeenUpdate: () => false,
  hasSeenCell: () => false,
};

const ACCOUNT = "account 'a'";
const ENTRY = "entry 'e'";

const insertAccount: RowWrite = {
  table: ORACLE_TABLES.get('account') as OracleTable,
  row: ACCOUNT,
  key: ["'a'"],
  kind: 'insert',
  values: new Map([['name', "'Cash'"]]),
};

it.each([
  ['returns with its parent', gone(version(3), { waitsFor: ACCOUNT }), true, []],
  ['stays deleted if a device deleted it', gone(version(3)), false, []],
  ['is not judged if it was missing when it was taken over', gone(version(3, { isUnknown: true })), false, [ENTRY]],
])('a deleted row %s', (_, entry, returns, open) => {
  const states = new RowStates();
  states.set(ENTRY, entry);
  const decision = decide(states, [insertAccount], author, { isAtomic: false });
  expect(decision.changed.get(ACCOUNT)?.deleted).toBeNull();
  expect(decision.changed.get(ENTRY)?.deleted === null).toBe(returns);
  expect([...decision.open.keys()]).toEqual(open);
});
