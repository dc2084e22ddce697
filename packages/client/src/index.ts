export { RockpoolError } from '@rockpool/shared';
export type { ErrorCode, ErrorData, ErrorFields, Recovery, Schema } from '@rockpool/shared';
export type { Branch, Client, SyncControl } from './client.ts';
export type {
  BranchCellChange,
  BranchConflict,
  BranchInfo,
  BranchMergeOptions,
  BranchPreview,
  BranchRowChange,
} from './interface/branch-merge.ts';
export type { ClientOptions, DrizzleMigrations, SyncOptions, TokenAnswer } from './interface/client-options.ts';
export type { LiveDocument, LiveDocumentState } from './interface/live-document.ts';
export type { LiveQuery, LiveState } from './interface/live-query.ts';
export type { Outbox } from './interface/outbox.ts';
export type { PastMoment, PastOptions, PastState } from './interface/past-state.ts';
export type { Peer, Presence } from './interface/presence.ts';
export type { Conflicts, RejectedChangesets } from './interface/rejections-and-conflicts.ts';
export type {
  RestoreConflict,
  RestorePlan,
  RestorePlanOptions,
  RestorePreview,
  RestoreSelection,
} from './interface/restore-plan.ts';
export type {
  ColumnChange,
  DocumentHistory,
  DocumentHistoryPage,
  DocumentOperation,
  DocumentVersion,
  RowHistory,
  RowHistoryPage,
  RowHistoryState,
  RowVersion,
  VersionName,
} from './interface/row-history.ts';
export type { Subscribable } from './interface/subscribable.ts';
export type { BatchOptions, ResultColumns, Transaction, TransactionOptions, Write } from './interface/writes.ts';
export type { Persistence, PersistenceChoice } from './rpc/persistence.ts';
export type { RejectedChange, RejectedChangeset, RejectedValue, WaitingChangeset } from './rpc/rejected-changeset.ts';
export type { RowKey } from './rpc/row-key.ts';
export type { ChangeStage, ChangeSyncState, RowSyncState } from './rpc/row-sync-state.ts';
export type { SqlStatement, StatementResult } from './rpc/sql-statement.ts';
export type { SqlParam, SqlRow, SqlValue } from './rpc/sql-value.ts';
export type { SnapshotProgress } from './rpc/snapshot-progress.ts';
export type {
  StuckStage,
  SyncRemedy,
  SyncStage,
  SyncState,
  SyncStatus,
  SyncWait,
  TabRole,
  WaitStage,
} from './rpc/sync-status.ts';
export type { TransportName } from './rpc/transport.ts';
export type { DocumentPath, PathStep, RichText, Run } from '@rockpool/shared/document';
export { createClient } from './create-client.ts';
export {
  backupDatabase,
  deleteDatabase,
  listDatabases,
  restoreDatabase,
  quarantineDatabase,
  type RestoreOptions,
} from './databases.ts';
export type { DatabaseInfo, Durability } from './rpc/worker-api.ts';
export { bindTextarea } from './document/bind-textarea.ts';
export { newId } from './new-id.ts';
export { searchText } from './search-text.ts';
export { sql } from './tab/sql.ts';
