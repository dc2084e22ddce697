import type { LiveDatabase } from '../database/live-database.ts';
import { collectChangeset, type BackendTransaction } from './backend-transaction.ts';
import { changesAfter, followChanges, type FeedChange, type FeedPosition } from './change-feed.ts';

/** A database as the server's own program sees it: what it writes syncs like anybody's writes. */
export interface ServerDatabase {
  /**
   * Writes all or nothing, durable when it resolves; gives the watermark, or null where nothing was written.
   * `principal` is named as the author (default `server`). Throws why it was rejected, such as `constraint-unique`, and
   * what `body` throws: then nothing has happened. After `database-unavailable` nobody knows: it may stand.
   */
  transaction(
    body: (transaction: BackendTransaction) => void,
    options?: { readonly principal?: string },
  ): Promise<number | null>;
  /** What changed since a position, as state; null: nothing. Without a position everything. */
  changesAfter(position: FeedPosition | null): Promise<FeedChange | null>;
  /**
   * The same, and from then on whatever changes, also where the database has to be opened anew. Break out of the loop,
   * or abort, to stop.
   */
  changes(options?: {
    readonly from?: FeedPosition | null;
    readonly signal?: AbortSignal;
  }): AsyncGenerator<FeedChange, void, undefined>;
}

/** `stopped`: the server closes. */
export function toServerDatabase(
  open: () => Promise<LiveDatabase>,
  now: () => number,
  stopped: AbortSignal,
): ServerDatabase {
  return {
    async transaction(body, { principal = 'server' } = {}) {
      const live = await open();
      await live.catchUp();
      live.settle();
      // The commit of what waited may be under way, and `body` has seen it: whatever comes of that is given back when
      // it lasts.
      let changeset: Uint8Array | null;
      try {
        changeset = collectChangeset(live.file, body);
      } catch (error) {
        await live.catchUp();
        throw error;
      }
      if (changeset !== null) return live.write(changeset, principal, now());
      await live.catchUp();
      return null;
    },
    async changesAfter(position) {
      const live = await open();
      return live.read(() => changesAfter(live, position));
    },
    changes: ({ from = null, signal } = {}) =>
      followChanges(open, from, signal === undefined ? stopped : AbortSignal.any([signal, stopped])),
  };
}
