import { RockpoolError } from '@rockpool/shared';
import { isPrincipalId, PRINCIPAL_PROBLEM } from '../auth/jwt.ts';
import type { BackendChangeset } from '../database/backend-writes.ts';
import type { LiveDatabase } from '../database/live-database.ts';
import { collectChangeset, type BackendTransaction } from './backend-transaction.ts';
import { changesAfter, followChanges, type FeedChange, type FeedPosition } from './change-feed.ts';

/** A database for the server's own program. Its writes sync like those of clients. */
export interface ServerDatabase {
  /**
   * Writes atomically. Resolves, once durable, with the watermark, or with null if `body` wrote nothing. `principal` is
   * the author in the conflict log (default `server`). Rejects with the reason of a rejection, such as
   * `constraint-unique`, with `row-missing` if a row that it updates or deletes is deleted meanwhile (with the
   * `deleteRule` `update-wins`, an update brings the row back instead), with `transaction-ended` if `body` is
   * asynchronous, with `config-invalid` for an invalid `principal`, or with an error of `body`, and writes nothing.
   * After `database-unavailable` the write may or may not be stored.
   */
  transaction(
    body: (transaction: BackendTransaction) => void,
    options?: { readonly principal?: string },
  ): Promise<number | null>;
  /**
   * Returns the changes since a position, as state (see FeedChange), or null if there are none. Without a position,
   * returns the full state.
   */
  changesAfter(position: FeedPosition | null): Promise<FeedChange | null>;
  /**
   * Yields the changes since a position, then those of every later commit, even after the database was reopened. Break
   * out of the loop, or abort, to stop. Throws `database-unavailable` if an operator closes, replaces or deletes the
   * database: begin again from the last position.
   */
  changes(options?: {
    readonly from?: FeedPosition | null;
    readonly signal?: AbortSignal;
  }): AsyncGenerator<FeedChange, void, undefined>;
}

/** `stopped` aborts when the server closes. */
export function toServerDatabase(
  open: () => Promise<LiveDatabase>,
  now: () => number,
  stopped: AbortSignal,
): ServerDatabase {
  return {
    async transaction(body, { principal = 'server' } = {}) {
      if (!isPrincipalId(principal))
        throw new RockpoolError('config-invalid', { count: 1, problems: `principal: ${PRINCIPAL_PROBLEM}` });
      const live = await open();
      await live.catchUp();
      live.settle();
      // `body` may have read a commit that is under way. Its result or error is returned once that commit is durable.
      let changeset: BackendChangeset | null;
      try {
        changeset = collectChangeset(live.file, body);
      } catch (error) {
        await live.catchUp();
        throw error;
      }
      if (changeset !== null) return live.write(changeset.body, principal, now(), changeset.rows);
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
