export { RockpoolError, type CellValue, type ChangeKind } from '@rockpool/shared';
export {
  issueToken,
  MIN_SECRET_BYTES,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  type TokenRequest,
  type TokenRules,
} from './auth/jwt.ts';
export type { AdminAccess } from './auth/admin-access.ts';
export type { BackupRules } from './backup/backup-rules.ts';
export type { BackupPlace } from './backup/open-destination.ts';
export type { Quotas } from './admission/quotas.ts';
export type { Invitation, Member } from './auth/member-store.ts';
export type { InvitationRequest, MemberLimits, ServerMembers } from './auth/members.ts';
export type { MetricsAccess } from './auth/metrics-access.ts';
export type { Authenticate, Authorize, Principal } from './auth/principal.ts';
export type { Operation, Role } from './auth/role.ts';
export type { NatsOptions } from './bus/nats-bus.ts';
export type { BackendTransaction } from './backend/backend-transaction.ts';
export type { FeedChange, FeedPosition } from './backend/change-feed.ts';
export type { BackendRow, BackendValue } from './backend/column-value.ts';
export type { RowUpdate } from './backend/row-updates.ts';
export type { ServerDatabase } from './backend/server-database.ts';
export type { ChangesetToValidate } from './admission/validate.ts';
export { createSyncServer, SYNC_PATH } from './create-sync-server.ts';
export type { Retention } from './log/retention.ts';
export type { Logger, LogFields } from './observe/log-line.ts';
export type { BackendRowChange, NamedRow } from './merge/named-row.ts';
export type { PostgresSource, Shard } from './postgres/shard.ts';
export type { InProcessClient, InProcessSession } from './session/in-process.ts';
export type { SessionLimits } from './session/limits.ts';
export type { WaitingRoomLimits } from './session/waiting-room.ts';
export type { SnapshotRules } from './snapshot/snapshots.ts';
export type { ScrubTimes } from './store/scrub.ts';
export { CLOSE_FAILURE } from './session/session.ts';
export type { SyncServer, SyncServerOptions } from './sync-server.ts';
