import type { RockpoolError, Schema } from '@rockpool/shared';
import type { PersistenceChoice } from '../rpc/persistence.ts';
import type { TransportName } from '../rpc/transport.ts';
import type { Durability } from '../rpc/worker-api.ts';

export interface ClientOptions {
  /**
   * The name of the database on this device. All tabs of an origin that use the same name share one database. 1 to 64
   * letters, digits, `_`, `-` or `.`, starting with a letter or digit.
   */
  readonly name: string;
  /** The return value of `defineSchema`. */
  readonly schema: Schema;
  /**
   * The migrations that drizzle-kit generated. Each runs once per database; all new ones run in one transaction.
   * Without them, Rockpool migrates additively: it adds missing tables, columns and indexes.
   */
  readonly migrations?: DrizzleMigrations;
  /** The server to sync with. Without it the client works on this device only. */
  readonly sync?: SyncOptions;
  /**
   * Default `relaxed`: a write survives a crash of the tab, the worker and the browser. `strict` also survives power
   * loss: a write resolves after a flush, which concurrent writes share. A write whose flush fails rejects with
   * `storage-unflushed`: it is committed and will be sent, so do not repeat it, but power loss on this device may undo
   * it.
   */
  readonly durability?: Durability;
  /**
   * Where the database is stored. Default `durable`: the best durable storage of this browser; `status.persistence`
   * names it. Any other value uses exactly that storage; `indexeddb` and `memory` have databases separate from those in
   * files. `memory` loses everything when the tab closes and shares nothing between tabs. Rockpool never falls back to
   * it.
   */
  readonly persistence?: PersistenceChoice;
  /**
   * Called with failures that belong to no call, for example of a background task. Default: the page's `error` event,
   * as for any uncaught error.
   */
  readonly onError?: (error: RockpoolError) => void;
}

/** drizzle-kit's journal `meta/_journal.json`, and the text of its SQL files by `m0000`, tag or path. */
export interface DrizzleMigrations {
  readonly journal: { readonly entries: readonly { readonly idx: number; readonly tag: string }[] };
  readonly migrations: Readonly<Record<string, string>>;
}

/** The return value of the app's `token` callback; see SyncOptions. */
export type TokenAnswer = string | Response | null;

export interface SyncOptions {
  /** The URL of the server: `wss://…`, or `ws://` on a trusted network. */
  readonly url: string;
  /** The server's database to sync with: 1 to 64 letters, digits, `_` or `-`. */
  readonly databaseId: string;
  /** The transport to the server. Only the option of the tab that syncs has an effect. Default `auto`. */
  readonly transport?: TransportName;
  /**
   * A stable id of the signed-in user. With it, Rockpool never sends one user's pending changes as another user.
   * Changes written before the first sign-in belong to the first principal. Opening as another principal while changes
   * are pending fails with `other-principal` and keeps the changes: sign the first user in again, or use another
   * `name`. If `token` returns a JWT whose `sub` differs from the one of this user's earlier sessions on the device,
   * for example because another tab has signed another user in, the state is `needs-auth` with the reason
   * `other-principal`. Before the first session, and for any other token, Rockpool cannot know the user: return a token
   * only if it belongs to this user. Without a principal, the app itself must keep the changes of different users
   * separate.
   */
  readonly principal?: string;
  /**
   * Returns a token for the server. Rockpool calls it for every connection and every snapshot download, and 30 s before
   * a JWT expires, so it may fetch a fresh token each time.
   *
   * Return the token, a `Response` whose text is the token (`token: () => fetch('/token')`), or `null` while no user is
   * signed in.
   *
   * `status` distinguishes three kinds of failure. Rockpool retries all of them, and `client.sync.tryNow()` retries
   * immediately:
   * - **Not signed in**: state `needs-auth`. The callback returned `null`, returned or threw a response of 401 or 403,
   *   or threw a `RockpoolError` such as `new RockpoolError('auth-database-forbidden')`.
   * - **The app's own server is unreachable**: state `offline`, reason `network-unreachable` with `stage: 'token'`, and
   *   `status` if there was a response. `fetch` failed, a deadline passed, the response was 408, 425, 429 or 5xx, or an
   *   HTML page came instead of a token, as from the sign-in page of a public network or a server without that path.
   * - **The callback failed**: state `blocked`, reason `token-callback-failed`; `onError` receives the error, with the
   *   thrown value as its `cause`. The callback threw anything else, returned any other HTTP status, or returned a
   *   value that is not a string, is empty, or contains a character that a bearer token cannot have.
   *
   * The HTTP status is taken from a `Response`, or from an error's `status`, `statusCode` or `response.status`. A
   * callback that does not settle within 15 s counts as unreachable.
   */
  readonly token: () => Promise<TokenAnswer> | TokenAnswer;
  /**
   * Makes the first opening on a device wait for the server's snapshot, one file that loads many times faster than
   * single rows. Opening waits for the network once in the life of a database: up to `answerWithinMs` (default 3000)
   * for the token, the start of the response and a snapshot that is still being built, then for as long as bytes
   * arrive. Without a response, or if the server's database is small, the client opens empty and fills as it syncs.
   * With `migrations`, the rows are copied in one step, about a second for 100,000 rows: other tabs that open wait for
   * it, and if the page is closed meanwhile, the client also opens empty.
   * Default: opening never waits, and the snapshot downloads in the background.
   */
  readonly firstSync?: {
    readonly answerWithinMs?: number;
    /**
     * Called in every tab with the bytes received so far. Also called for a later full resync, for example of a device
     * that was offline too long; `status.snapshot` then has the same numbers.
     */
    readonly onProgress?: (progress: { readonly receivedBytes: number; readonly totalBytes: number }) => void;
  };
}
