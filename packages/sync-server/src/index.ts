export { issueToken, MIN_SECRET_BYTES, TOKEN_AUDIENCE, TOKEN_ISSUER, type TokenRequest } from './auth/jwt.ts';
export type { InvitationRequest, Member } from './auth/members.ts';
export type { Authenticate, Authorize, Principal } from './auth/principal.ts';
export type { Operation, Role } from './auth/role.ts';
export { createSyncServer, SYNC_PATH, type SyncServer, type SyncServerOptions } from './create-sync-server.ts';
export type { Retention } from './log/retention.ts';
export type { Log, LogFields } from './observe/log-line.ts';
export type { SessionLimits } from './session/limits.ts';
export { CLOSE_FAILURE } from './session/session.ts';
