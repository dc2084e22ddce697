import {
  FIRST_LOG_HASH,
  PROTOCOL_VERSION,
  type CellValue,
  type ChangeGroup,
  type ChangeKind,
  type Delivery,
  type Outcome,
  type TableSchema,
  type Welcome,
} from '@rockpool/shared';
import type { OpenDatabase } from '../../src/worker/database/open-database.ts';
import type { TouchedTables } from '../../src/rpc/query-dependencies.ts';
import type { SnapshotFile } from '../../src/worker/apply/snapshot-file.ts';
import { toSyncDatabase } from '../../src/worker/sync/sync-database.ts';
import type { SyncDatabase } from '../../src/worker/sync/sync-engine.ts';

/** Returns 16 equal bytes, as a log epoch or database identity. */
export const testEpoch = (number: number): Uint8Array => new Uint8Array(16).fill(number);

export function testWelcome(parts: Partial<Welcome> = {}): Welcome {
  return {
    type: 'welcome',
    protocolVersion: PROTOCOL_VERSION,
    databaseIdentity: testEpoch(7),
    logEpoch: testEpoch(1),
    watermark: 0,
    lastAckedSequence: 0,
    decidedHash: new Uint8Array(16),
    fullResync: false,
    serverNowMs: 1_700_000_000_000,
    canWrite: true,
    takeSnapshot: false,
    ...parts,
  };
}

export function testDelivery(parts: Partial<Delivery>): Delivery {
  return {
    type: 'delivery',
    whole: false,
    from: 0,
    to: 0,
    logHash: FIRST_LOG_HASH,
    lastAckedSequence: 0,
    outcomes: [],
    groups: [],
    ...parts,
  };
}

export function admitted(from: number, to: number): Outcome[] {
  return Array.from({ length: to - from + 1 }, (_, i) => ({
    kind: 'admitted',
    sequence: from + i,
    watermark: from + i,
    conflictCount: 0,
  }));
}

/** Rows of one table with text keys `id`, by column name. */
export function testGroup(
  kind: ChangeKind,
  table: TableSchema,
  rows: readonly (Readonly<Record<string, CellValue>> & { readonly id: string })[],
): ChangeGroup {
  const columns = table.columns.filter(
    ({ name, generated }) =>
      name !== 'id' && generated === null && (kind === 'insert' || rows.some((row) => name in row)),
  );
  const used = kind === 'delete' ? [] : columns;
  return {
    tableId: table.id,
    kind,
    rowCount: rows.length,
    keys: [rows.map(({ id }) => id)],
    columnIds: used.map(({ id }) => id),
    values: used.map(({ name }) => rows.map((row) => row[name] ?? null)),
  };
}

/** A sync database with a shorthand that applies a single delivery. */
export type TestSync = SyncDatabase & { applyDelivery(delivery: Delivery, snapshot?: SnapshotFile | null): boolean };

export function testSync(
  database: OpenDatabase,
  elapsedMs: () => number = () => 0,
  onApplied: (touched: TouchedTables) => void = () => undefined,
): TestSync {
  const sync = toSyncDatabase({ database, elapsedMs, onApplied });
  return Object.assign(sync, {
    applyDelivery: (delivery: Delivery, snapshot: SnapshotFile | null = null) =>
      sync.applyDeliveries([delivery], snapshot),
  });
}
