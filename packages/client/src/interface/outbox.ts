import type { WaitingChangeset } from '../rpc/rejected-changeset.ts';

/**
 * The transactions of this device that the server has not decided. `status.pendingCount` counts them, and withdrawn
 * ones until the server has decided. They are sent in order, so one that the server refuses, for example above a
 * quota, holds up all later ones.
 */
export interface Outbox {
  /**
   * Reads the list once, oldest first, up to `limit` transactions. Default limit: 100. Withdrawn transactions are in
   * `rejected` instead.
   */
  list(options?: { readonly limit?: number }): Promise<WaitingChangeset[]>;
  /**
   * Takes a transaction back: its changes disappear from the tables, and it becomes a rejected changeset with the
   * reason `changeset-withdrawn`, which can be retried, replaced or dropped. Later transactions stay; those that no
   * longer fit the rows become rejected too, or lose in the conflict log. Resolves when this is stored, with true also
   * if the transaction was withdrawn before, and with false if no such transaction waits: the server has decided it,
   * or the client has no server.
   *
   * Nothing is sent until the server has confirmed, at once or after the next connection, that it lacks the
   * transaction; the rejected changeset is `decided: false` meanwhile. If the server has it, because it had arrived
   * before, it leaves `rejected` again and its changes return to the tables. Otherwise later transactions are sent
   * under a new site id, of which a server admits a limited number for each user (`maxSitesPerPrincipal`).
   *
   * ```ts
   * const [oldest] = await client.outbox.list({ limit: 1 });
   * if (oldest !== undefined) await client.outbox.withdraw(oldest.id);
   * ```
   */
  withdraw(id: string): Promise<boolean>;
}
