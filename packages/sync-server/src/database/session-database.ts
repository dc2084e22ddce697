import type { LiveDatabase } from './live-database.ts';

/** The part of an open database that its sessions use. The database may be on another thread. */
export type SessionDatabase = Pick<LiveDatabase, 'catchUp' | 'join' | 'leave' | 'push' | 'confirm' | 'audit' | 'show'>;
