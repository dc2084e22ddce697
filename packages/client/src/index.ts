export { RockpoolError } from '@rockpool/shared';
export type { ErrorCode, ErrorData, ErrorFields, Recovery, Schema } from '@rockpool/shared';
export type {
  BatchOptions,
  ChangeStage,
  Client,
  ClientOptions,
  DrizzleMigrations,
  Conflicts,
  Durability,
  LiveDocument,
  LiveDocumentState,
  LiveQuery,
  LiveState,
  RejectedChange,
  RejectedChangeset,
  RejectedChangesets,
  RejectedValue,
  Persistence,
  PersistenceChoice,
  Peer,
  Presence,
  ResultColumns,
  ChangeSyncState,
  RowKey,
  RowSyncState,
  SqlParam,
  SqlRow,
  SqlStatement,
  SqlValue,
  StatementResult,
  StuckStage,
  Subscribable,
  SyncControl,
  SyncOptions,
  SyncRemedy,
  SyncStage,
  SyncState,
  SyncStatus,
  TabRole,
  TransportName,
  TokenAnswer,
  Transaction,
  TransactionOptions,
  Write,
} from './client.ts';
export type { RichText } from '@rockpool/shared/document';
export { createClient } from './create-client.ts';
export {
  backupDatabase,
  deleteDatabase,
  listDatabases,
  restoreDatabase,
  quarantineDatabase,
  type RestoreOptions,
} from './databases.ts';
export type { DatabaseInfo } from './rpc/worker-api.ts';
export { newId } from './new-id.ts';
export { searchText } from './search-text.ts';
export { sql } from './tab/sql.ts';
