export { RockpoolError } from '@rockpool/shared';
export type { ErrorCode, ErrorData, ErrorFields, Recovery, Schema } from '@rockpool/shared';
export type {
  Client,
  ClientOptions,
  Durability,
  LiveQuery,
  LiveState,
  SqlParam,
  SqlRow,
  SqlStatement,
  SqlValue,
  StatementResult,
  SyncOptions,
  SyncState,
  SyncStatus,
  TabRole,
} from './client.ts';
export { createClient } from './create-client.ts';
export { newId } from './new-id.ts';
export { sql } from './tab/sql.ts';
