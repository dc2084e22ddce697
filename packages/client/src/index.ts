export { RockpoolError } from '@rockpool/shared';
export type { ErrorCode, ErrorData, ErrorFields, Recovery, Schema } from '@rockpool/shared';
export type {
  BatchOptions,
  Client,
  ClientOptions,
  DrizzleMigrations,
  Conflicts,
  Durability,
  LiveDocument,
  LiveQuery,
  LiveState,
  ParkedChange,
  ParkedChangeset,
  ParkedChangesets,
  ParkedValue,
  Persistence,
  PersistenceChoice,
  ResultColumns,
  SqlParam,
  SqlRow,
  SqlStatement,
  SqlValue,
  StatementResult,
  SyncOptions,
  SyncState,
  SyncStatus,
  TabRole,
  Transaction,
  TransactionOptions,
} from './client.ts';
export { createClient } from './create-client.ts';
export { newId } from './new-id.ts';
export { sql } from './tab/sql.ts';
