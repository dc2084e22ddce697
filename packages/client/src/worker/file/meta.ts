import {
  decodeEarlierSites,
  encodeEarlierSites,
  FIRST_LOG_HASH,
  type ClockContact,
  type EarlierSite,
} from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import type { SqlParam, SqlValue } from '../../rpc/sql-value.ts';

/** The keys of rockpool_meta. */
export type MetaKey =
  | 'storage_format' // integer, see internal-tables.ts
  | 'site_id' // 16 bytes, created with the database; changes when the file turns out to be a copy
  | 'principal' // text, the user that the app has signed in; absent before the first sign-in
  // integer, the first changeset that may be sent for the principal; absent if the principal has never changed
  | 'first_of_principal'
  | 'database_id' // text, the server database that this one belongs to; absent before it was opened with sync
  | 'database_identity' // 16 bytes that the server issued for that database; absent before the first welcome
  // the earlier site ids (shared/src/protocol/earlier-site.ts); absent if the id has never changed. `upTo` 0 stands for
  // the last changeset of an older log epoch
  | 'earlier_sites'
  | 'is_restored' // 1: restored from a backup, and must become a new site before it sends; absent or NULL: it is not
  | 'branch_json' // BranchStart of a branch; absent in every other database
  | 'schema_json' // the schema of the app's tables: of one bundle, or of several united
  | 'schema_hash' // the hash of that schema, hex
  | 'schema_history_json' // hashes of the schemas installed in this file, one after another; absent before the second
  // 1: the server lacks the file's schema, which has columns that the app lacks; absent or 0: the server has it
  | 'synced_narrow'
  | 'migrations_json' // [tag, hash] of the app's migrations that have run; absent if there are none
  | 'log_epoch' // 16 bytes, NULL before the first welcome of a server
  | 'cursor' // integer, the last watermark applied
  | 'cursor_link' // 16 bytes, the log hash at the cursor; absent at 0
  // 1: needs a full resync, because the server may already have values in columns that were added here; absent or 0: it
  // needs none
  | 'wants_whole'
  // [table id, column ids] of columns without the server's values below the cursor, see unseen-columns.ts; absent or
  // NULL if there are none.
  | 'unseen_columns_json'
  | 'older_epoch_up_to' // integer, the last changeset written under an earlier log epoch; absent if there is none
  | 'document_generation' // integer, see documents/document-author.ts; absent for 1
  // 1: the server lets the principal write; 0: it lets them only read; absent or NULL: unknown
  | 'user_may_write'
  | 'token_sub' // text, the `sub` of the JWT of the principal's last session; absent or NULL: unknown
  | 'sync_paused' // 1: sync is paused; absent or 0: it is not
  | 'clock_contact_json'; // {localUs, serverMs} of a contact while nothing was pending; absent before the first

/** Reads and writes rockpool_meta. */
export class Meta {
  private readonly connection: Connection;
  /**
   * Values that were read or written at `knownAt`, which counts the writes to the table. A rollback counts as a write.
   */
  private readonly known: Map<MetaKey, SqlValue | undefined> = new Map();
  private knownAt = -1;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** False in a file without Rockpool's tables; all other members then fail. */
  get exists(): boolean {
    return this.connection.value("SELECT count(*) FROM sqlite_schema WHERE name = 'rockpool_meta'") === 1;
  }

  get(key: MetaKey): SqlValue | undefined {
    const writes = this.connection.writesOf('rockpool_meta');
    if (writes === null) return this.read(key);
    if (writes.count !== this.knownAt) {
      this.known.clear();
      this.knownAt = writes.count;
    }
    if (!this.known.has(key)) this.known.set(key, this.read(key));
    return this.known.get(key);
  }

  private read(key: MetaKey): SqlValue | undefined {
    return this.connection.value('SELECT value FROM rockpool_meta WHERE key = ?', key);
  }

  set(key: MetaKey, value: SqlParam): void {
    this.write('(?, ?)', [key], key, value);
  }

  /** Sets the cursor and its log hash. */
  setCursor(watermark: number, logHash: Uint8Array): void {
    this.write('(?, ?), (?, ?)', ['cursor', 'cursor_link'], 'cursor', watermark, 'cursor_link', logHash);
    this.known.set('cursor', watermark);
  }

  private write(rows: string, keys: readonly MetaKey[], ...params: readonly SqlParam[]): void {
    const countBefore = this.connection.writesOf('rockpool_meta')?.count;
    this.connection.run(
      `INSERT INTO rockpool_meta (key, value) VALUES ${rows} ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
      ...params,
    );
    for (const key of keys) this.known.delete(key);
    // The values of all other keys stay cached.
    const countAfter = this.connection.writesOf('rockpool_meta')?.count;
    if (this.knownAt === countBefore && countAfter !== undefined) this.knownAt = countAfter;
  }

  get siteId(): Uint8Array {
    return this.get('site_id') as Uint8Array;
  }

  /** See Push. */
  get earlierSites(): EarlierSite[] {
    const bytes = this.get('earlier_sites');
    return bytes === undefined ? [] : decodeEarlierSites(bytes as Uint8Array);
  }

  /** Ends the earlier sites at this sequence: the bases of later changesets cover what those sites wrote. */
  endEarlierSites(sequence: number): void {
    const ended = this.earlierSites.map(({ last, upTo }) => ({ last, upTo: Math.min(upTo, sequence) }));
    if (ended.length > 0) this.set('earlier_sites', encodeEarlierSites(ended));
  }

  /** Null before the first welcome. */
  get logEpoch(): Uint8Array | null {
    return (this.get('log_epoch') ?? null) as Uint8Array | null;
  }

  /** The first sequence of the current principal. Earlier changesets are not sent again. */
  get firstOfPrincipal(): number {
    return (this.get('first_of_principal') ?? -Infinity) as number;
  }

  /** Null before the database was opened with sync, and in a file that predates this key. */
  get databaseId(): string | null {
    return (this.get('database_id') ?? null) as string | null;
  }

  /** Null before the first welcome. */
  get databaseIdentity(): Uint8Array | null {
    return (this.get('database_identity') ?? null) as Uint8Array | null;
  }

  get cursor(): number {
    return this.get('cursor') as number;
  }

  get cursorHash(): Uint8Array {
    return (this.get('cursor_link') ?? FIRST_LOG_HASH) as Uint8Array;
  }

  get olderEpochUpTo(): number {
    return (this.get('older_epoch_up_to') ?? 0) as number;
  }

  get wantsFullResync(): boolean {
    return this.get('wants_whole') === 1;
  }

  get syncedWithAppSchema(): boolean {
    return this.get('synced_narrow') === 1;
  }

  get documentGeneration(): number {
    return (this.get('document_generation') ?? 1) as number;
  }

  get isSyncPaused(): boolean {
    return this.get('sync_paused') === 1;
  }

  /** Null before the first welcome of this principal. */
  get userMayWrite(): boolean | null {
    const value = this.get('user_may_write') ?? null;
    return value === null ? null : value === 1;
  }

  /** Null before the first session of this principal with a JWT. */
  get tokenSub(): string | null {
    return (this.get('token_sub') ?? null) as string | null;
  }

  /** Null before the first contact. */
  get clockContact(): ClockContact | null {
    const json = this.get('clock_contact_json');
    return json === undefined ? null : (JSON.parse(json as string) as ClockContact);
  }

  get schemaJson(): string {
    return this.get('schema_json') as string;
  }

  get schemaHash(): string {
    return this.get('schema_hash') as string;
  }
}
