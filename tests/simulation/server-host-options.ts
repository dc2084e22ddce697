import type { Push, Schema } from '#shared/index.ts';
import type { Random } from './random.ts';
import type { EndOfServer } from './server-disk.ts';
import type { Operated } from './variant.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

export interface ServerHostOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly schema: Schema;
  /** Whether disk syncs, document threads and round trips to PostgreSQL take time. False if they take none. */
  readonly isSlow: boolean;
  /** The number of processes. Several processes share one PostgreSQL server. */
  readonly instances: number;
  /** Null if processes only die. */
  readonly operated: Operated | null;
  readonly onPush: (site: string, push: Push) => void;
  /** A client connected with a snapshot file. */
  readonly onFile: () => void;
  /** A client connected whose cursor is below the tombstone horizon. */
  readonly onReload: () => void;
  /** A document was compacted. */
  readonly onCompacted: () => void;
  /** A late edit of a compacted document arrived. */
  readonly onCarriedOver: () => void;
  /** A server process ended, with all its connections. */
  readonly onKilled: (how: EndOfServer['kind'], owner: Owner) => void;
  /** The program of a server that has stopped ended as well, with all its connections. */
  readonly onExit: (owner: Owner) => void;
  /** A disk sync failed, and the server gave up the database. */
  readonly onDiskFailed: () => void;
  /** The disk has run out of room. */
  readonly onDiskFull: () => void;
  /** A session ended because of the client's rights, its token or its unread bytes. */
  readonly onSessionEnd: (code: string) => void;
  /** A document was processed on another thread. */
  readonly onDocumentThread: () => void;
  readonly onError: (error: unknown) => void;
  readonly count: (what: string) => void;
}

/**
 * Where the server dies: before an upcoming statement, within or right after an upcoming COMMIT, or while it hands over
 * an upcoming frame.
 */
export interface Trap {
  readonly at: 'statement' | 'in commit' | 'after commit' | 'send';
  left: number;
  /** Whether the machine loses power, not only the process. */
  readonly losesPower?: boolean;
}
