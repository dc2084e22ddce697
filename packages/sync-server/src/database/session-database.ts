import type { LiveDatabase } from './live-database.ts';

/** An open database as its sessions use it, on this thread or on another one. */
export type SessionDatabase = Pick<LiveDatabase, 'catchUp' | 'join' | 'leave' | 'push' | 'confirm' | 'audit' | 'show'>;
