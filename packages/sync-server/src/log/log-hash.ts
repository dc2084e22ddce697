import { randomBytes, timingSafeEqual } from 'node:crypto';
import { LOG_HASH_BYTES } from '@rockpool/shared';
import { readMeta, writeMeta } from '../sqlite/meta.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import type { LogEpoch } from './log-epoch.ts';
import { nativeSha256 } from './sha256.ts';

/** Together with the existing rows, these values determine the effect of a changeset. */
export interface HashedEntry {
  readonly watermark: number;
  readonly hash: Uint8Array;
  readonly stampUs: number;
  readonly base: number;
  readonly isOfOlderEpoch: boolean;
  readonly isRepetition: boolean;
}

const CHAIN_BYTES = LOG_HASH_BYTES / 2;
const SECRET_BYTES = 32;

/** Creates the key of the seals. Copies of the file have the same key. */
export function createLogSecret(sql: SqliteFile): void {
  writeMeta(sql, 'log_secret', randomBytes(SECRET_BYTES));
}

/**
 * Log hashes, 16 bytes each, opaque to clients:
 *
 *   0 ······ 8 ······ 16
 *   │ chain  │ seal   │
 *
 *   chain  hash of the previous log hash and of everything that determines what the changeset does
 *   seal   keyed hash of the log epoch, the watermark and the chain. Only this database can compute it
 *
 * A client that is ahead of the log proves by a valid seal that the log once had this entry, so the file was replaced
 * by an older copy. Without a valid seal, the hash proves nothing.
 */
export class LogHashes {
  private readonly sql: SqliteFile;
  private readonly epoch: Pick<LogEpoch, 'id'>;
  /** Undefined if not read yet. Null if the file predates seals. */
  private secret: Uint8Array | null | undefined = undefined;

  constructor(sql: SqliteFile, epoch: Pick<LogEpoch, 'id'>) {
    this.sql = sql;
    this.epoch = epoch;
  }

  /** Call inside the transaction of the entry. */
  next(before: Uint8Array, entry: HashedEntry): Uint8Array {
    const secret = this.readSecret() ?? this.addSecret();
    const { watermark, hash, stampUs, base, isOfOlderEpoch, isRepetition } = entry;
    const merged = `${stampUs} ${base} ${isOfOlderEpoch ? 'older' : base}${isRepetition ? ' repetition' : ''}`;
    const logHash = new Uint8Array(LOG_HASH_BYTES);
    const digest = nativeSha256(before, Buffer.concat([hash, Buffer.from(merged)]));
    for (let i = 0; i < CHAIN_BYTES; i++) logHash[i] = digest[i] as number;
    const seal = this.seal(secret, watermark, logHash.subarray(0, CHAIN_BYTES));
    for (let i = CHAIN_BYTES; i < LOG_HASH_BYTES; i++) logHash[i] = seal[i - CHAIN_BYTES] as number;
    return logHash;
  }

  /** Clears cached values that an aborted transaction, or another writer of the file, may have changed. */
  reload(): void {
    this.secret = undefined;
  }

  /** Whether this database computed the hash, for this watermark and in the current log epoch. */
  isGenuine(watermark: number, logHash: Uint8Array): boolean {
    const secret = this.readSecret();
    // A log that predates seals has no secret.
    if (secret === null) return false;
    return timingSafeEqual(
      logHash.subarray(CHAIN_BYTES),
      this.seal(secret, watermark, logHash.subarray(0, CHAIN_BYTES)),
    );
  }

  private seal(secret: Uint8Array, watermark: number, chain: Uint8Array): Uint8Array {
    const epoch = this.epoch.id;
    // The parts have a fixed length and the result is truncated, so the plain hash of the secret and the message is a
    // MAC.
    const message = Buffer.alloc(epoch.length + 8 + CHAIN_BYTES);
    message.set(epoch);
    message.writeBigUInt64BE(BigInt(watermark), epoch.length);
    message.set(chain, epoch.length + 8);
    return nativeSha256(secret, message).subarray(0, LOG_HASH_BYTES - CHAIN_BYTES);
  }

  private readSecret(): Uint8Array | null {
    return (this.secret ??= (readMeta(this.sql, 'log_secret') ?? null) as Uint8Array | null);
  }

  private addSecret(): Uint8Array {
    createLogSecret(this.sql);
    return this.readSecret() as Uint8Array;
  }
}
