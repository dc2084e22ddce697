import type { Server } from 'node:http';
import type { Hono } from 'hono';
import type { Schema } from '@rockpool/shared';
import type { Quotas } from './admission/quotas.ts';
import type { AdminAccess } from './auth/admin-access.ts';
import type { ChangesetToValidate } from './admission/validate.ts';
import type { BackupRules } from './backup/backup-rules.ts';
import type { TokenRequest, TokenRules } from './auth/jwt.ts';
import type { NatsOptions } from './bus/nats-bus.ts';
import type { MemberLimits, ServerMembers } from './auth/members.ts';
import type { Authenticate, Authorize } from './auth/principal.ts';
import type { ServerDatabase } from './backend/server-database.ts';
import type { Retention } from './log/retention.ts';
import type { Logger } from './observe/log-line.ts';
import type { PostgresSource } from './postgres/shard.ts';
import type { InProcessClient, InProcessSession } from './session/in-process.ts';
import type { Role } from './auth/role.ts';
import type { MetricsAccess } from './auth/metrics-access.ts';
import type { SessionLimits } from './session/limits.ts';
import type { SnapshotRules } from './snapshot/snapshots.ts';
import type { ScrubTimes } from './store/scrub.ts';

export const SERVER_VERSION = '0.1.0';

export interface SyncServerOptions {
  /**
   * Directory with one SQLite file per database. With `postgres`, these are only working copies. Created if missing.
   * One server process at a time may use it.
   */
  readonly dataDir: string;
  /**
   * URL of a PostgreSQL database that stores everything in place of `dataDir`, for any number of instances:
   * `postgresql://user:password@host/name`. With a list, each database is at one of the shards; the first shard also
   * has the members and the directory of databases, and must stay the first.
   */
  readonly postgres?: PostgresSource;
  /**
   * NATS, which carries messages between instances instead of PostgreSQL's NOTIFY. Needs `postgres`. Default: NOTIFY.
   */
  readonly nats?: NatsOptions;
  /**
   * The number of threads that own databases; each owns a share of them. With 1, databases run on the thread that
   * accepts connections, which `validate` and `database()` need; with more, one database's work delays only those of
   * its thread. Default 1; the command's default is the number of cores.
   */
  readonly threads?: number;
  /**
   * Maximum number of connections to each PostgreSQL server, at least 2: one of them only listens. With `threads`, at
   * least 2 for each thread and 2 more. Default: 16, or that number if it is larger.
   */
  readonly postgresConnections?: number;
  /**
   * URL that the other instances with the same `postgres` use to reach `app` of this one, such as
   * `http://10.0.0.5:4400/sync`: a session over plain HTTP continues at the instance that has it, whichever one a load
   * balancer chooses. Default: the address of the first server given to `attach`, with an address of this machine if
   * that server listens on all.
   */
  readonly instanceUrl?: string;
  /** The schema that the app's build wrote, read with decodeSchema. */
  readonly schema: Schema;
  /** Schemas of older app versions that are still in use. The server remembers those that it ran with itself. */
  readonly olderSchemas?: readonly Schema[];
  /**
   * Signs and verifies tokens with HS256; at least 32 random bytes. At least one of `secret`, `keySet`, `oidcIssuer`
   * and `authenticate` is required.
   */
  readonly secret?: string | Uint8Array;
  /**
   * The secret that `secret` replaced. Tokens of both are accepted until this option is removed, so users stay signed
   * in. It signs no tokens. Default: none.
   */
  readonly previousSecret?: string | Uint8Array;
  /**
   * A JWKS or its URL: public keys of an identity provider, for RS256, PS256, ES256, ES384 and EdDSA tokens. While the
   * URL does not respond, the keys that were fetched last are accepted for up to 24 hours.
   */
  readonly keySet?: TokenRules['keySet'];
  /** The issuer of an OpenID Connect provider, whose discovery document names the key set. */
  readonly oidcIssuer?: string;
  /** The required `iss` claim of tokens, except those of `oidcIssuer`. Default: `rockpool-server`. */
  readonly issuer?: string;
  /** The required `aud` claim of tokens. Default: `rockpool`. */
  readonly audience?: string;
  /** Verifies tokens, instead of the built-in verification by `secret` and `keySet`. */
  readonly authenticate?: Authenticate;
  /** Replaces authorization by token claims and members. */
  readonly authorize?: Authorize;
  /**
   * Origins of pages that may connect besides the server's own origin, such as `https://app.example.org`. Default:
   * none.
   */
  readonly origins?: readonly string[];
  /**
   * Addresses and networks of reverse proxies, such as `10.0.0.0/8`, whose `X-Forwarded-For` names the client. Limits
   * per address need it. Proxies on this machine are always trusted. Default: none.
   */
  readonly trustedProxies?: readonly string[];
  /** The wall clock, ms since 1970. If it is given, deadlines of sessions follow it too. */
  readonly now?: () => number;
  /** Default: JSON lines to stderr. Lines that a custom logger fails to write go to stderr too. */
  readonly log?: Logger;
  /**
   * Who may read `/metrics`. With a token, at least 16 characters, it also names the tenants with the largest
   * databases, as `SyncServer.metrics` does. With `none`, the server answers 404. Default: `public`, without names.
   */
  readonly metrics?: MetricsAccess;
  /**
   * Records a span for each push and each of its stages, with the tracer provider that the program has registered with
   * `@opentelemetry/api`, which has to be installed. Default: off.
   */
  readonly tracing?: boolean;
  /** Turns on the admin API and page (`SyncServer.admin`), for operators with this token. Default: off. */
  readonly admin?: AdminAccess;
  /**
   * The lowest role that may read versions of rows and past states. If `authorize` is set, it is called with the
   * operation of that role: `read`, `write` or `manage`. Default: `viewer`, like all rows.
   */
  readonly historyRole?: Role;
  /** Limits of sessions and connections. Each one that is left out keeps its default. */
  readonly limits?: Partial<SessionLimits>;
  /**
   * The app's own rule for changesets: null admits; a string rejects with `changeset-refused` and that reason, which
   * the author sees. Runs inside the commit, so it is synchronous. If it throws or returns anything else, that is
   * logged, and the changeset is refused for now; its third failure rejects it. Default: admits all.
   */
  readonly validate?: (databaseId: string, changeset: ChangesetToValidate) => string | null;
  /** When a first sync downloads a snapshot. */
  readonly snapshots?: Partial<SnapshotRules>;
  /** Size in bytes above which a delivery is sent in parts. Default 256 KiB. */
  readonly deliveryPartBytes?: number;
  /** How fast database files are compared with their checksums while the server is idle. Not used with `postgres`. */
  readonly scrub?: Partial<ScrubTimes>;
  /** How much one database, and one member of it, may store. A push above a quota is refused with `quota-exceeded`. */
  readonly quotas?: Partial<Quotas & MemberLimits>;
  /**
   * Names the tenant of a database, for `quotas.maxTenantBytes`, which is refused with `postgres`. While it throws or
   * returns something other than a text for a database, that is logged, and pushes to that database are refused for
   * now; with `threads`, from the next measurement on, within 10 s. Default: each database is a tenant.
   */
  readonly tenantOf?: (databaseId: string) => string;
  /**
   * Copies every database while it changes, to a folder or to S3-compatible storage, whose credentials are
   * `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` of the environment. Not with `postgres`. Default: no copies.
   */
  readonly backup?: BackupRules;
  /** How long tombstones are kept for offline clients, and conflicts for users. */
  readonly retention?: Partial<Retention>;
}

export interface SyncServer {
  /**
   * Plain HTTP: members, invitations, probes, snapshots. Mount it at the path of the sockets:
   * `app.route('/sync', server.app)`.
   */
  readonly app: Hono;
  /**
   * The admin API and page, to mount at `/admin`: `app.route('/admin', server.admin)`. Null without the option `admin`.
   */
  readonly admin: Hono | null;
  /** Accepts WebSocket upgrades of `path` (default `/sync`) on a host's HTTP server. Does not touch other paths. */
  attach(server: Server, path?: string): void;
  /**
   * Begins a session with a client of this process, without a socket, as `inProcess(server)` of `@rockpool/client/node`
   * does. For tests of apps. Throws `too-many-connections`, and `database-unavailable` after `close`.
   */
  connect(client: InProcessClient): InProcessSession;
  /**
   * A database for the program that runs the server: synced writes, and a feed of changes. Creates the database at its
   * first use. Throws `auth-database-forbidden` for an invalid id.
   */
  database(databaseId: string): ServerDatabase;
  /** Roles beyond those in tokens, and invitations. A change applies at once, also to open sessions. */
  readonly members: ServerMembers;
  /**
   * Resolves once the store can be used. Await it before letting clients in. Throws `database-unavailable`,
   * `config-invalid` or `schema-incompatible`.
   */
  ready(): Promise<void>;
  /** Returns a token signed with `secret`. Throws `config-invalid` on a server without a secret. */
  issueToken(request: TokenRequest): Promise<string>;
  /**
   * The metrics in Prometheus' text format, with the tenants that have the largest databases, for a host that serves
   * them at a separate address.
   */
  metrics(): string;
  /** Ends all sessions, settles pushes and closes the files. The caller closes its HTTP server itself. */
  close(): Promise<void>;
}
