import { decodeOrigin, type Changeset } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import type { Changelog } from './changelog.ts';

/**
 * How long admitted changesets are kept, so that they can be sent again to a server that lost them in a restore from a
 * backup.
 */
export const ADMITTED_RETENTION_MS: number = 7 * 24 * 60 * 60 * 1000;

// Deliveries may arrive several times a second, but pruning needs the time of an outcome only to the hour. Each hour of
// the wall clock has its own row with the time of its last outcome, so that outcomes that follow closely do not
// postpone pruning, and nothing is pruned early.
const ACKNOWLEDGED_RESOLUTION_MS = 60 * 60 * 1000;

/** Consecutive changesets for one push. */
export interface PushBatch {
  /** The hash of the changeset before the first one. */
  readonly previousHash: Uint8Array;
  readonly changesets: readonly Changeset[];
}

/**
 * The part of the changelog that the server has not acknowledged, in order of sequence. Outcomes arrive in the same
 * order. A masked changeset is still sent, because sequences have no gaps.
 */
export class Outbox {
  private readonly connection: Connection;
  private readonly changelog: Changelog;
  private prunedMs = Number.NEGATIVE_INFINITY;

  constructor(connection: Connection, changelog: Changelog) {
    this.connection = connection;
    this.changelog = changelog;
  }

  /** The last sequence whose outcome has been applied; 0 if there is none. */
  lastAckedSequence(): number {
    return (this.last()?.[0] ?? 0) as number;
  }

  private last(): readonly [upTo: number, decidedMs: number] | undefined {
    return this.connection.knownRow(
      'rockpool_decided',
      'SELECT up_to, decided_ms FROM rockpool_decided ORDER BY up_to DESC LIMIT 1',
    ) as [number, number] | undefined;
  }

  /** The number of changesets without an outcome. */
  pendingCount(): number {
    return this.changelog.head().sequence - this.lastAckedSequence();
  }

  /** The changesets after `sequence`, up to `maxBytes` of bodies but at least one; null if there is none. */
  nextPush(sequence: number, maxBytes: number): PushBatch | null {
    if (this.changelog.head().sequence <= sequence) return null;
    const changesets: Changeset[] = [];
    let sizeBytes = 0;
    for (const { sequence: number, stampUs, base, body, origin } of this.changelog.readStoredAfter(sequence)) {
      sizeBytes += body.length;
      if (changesets.length > 0 && sizeBytes > maxBytes) break;
      const came = origin === null ? {} : { origin: decodeOrigin(origin) };
      changesets.push({ sequence: number, stampUs, base, body, ...came });
      if (sizeBytes >= maxBytes) break;
    }
    return changesets.length === 0 ? null : { previousHash: this.changelog.hashOf(sequence), changesets };
  }

  /**
   * Raises the last acknowledged sequence, and never lowers it. Call it in the transaction that applies the outcomes.
   */
  markAcknowledged(upTo: number, nowMs: number): void {
    const [acked, decidedMs] = this.last() ?? [-1, -1];
    if (acked >= upTo) return;
    if (decidedMs <= nowMs && decidedMs >= nowMs - (nowMs % ACKNOWLEDGED_RESOLUTION_MS)) {
      this.connection.run('UPDATE rockpool_decided SET up_to = ?, decided_ms = ? WHERE up_to = ?', upTo, nowMs, acked);
    } else this.connection.run('INSERT INTO rockpool_decided (up_to, decided_ms) VALUES (?, ?)', upTo, nowMs);
  }

  /**
   * Makes the changesets after `upTo` pending again: the server has lost their outcomes, or this database is a new
   * site.
   */
  markPendingAfter(upTo: number, nowMs: number): void {
    this.changelog.packs.unpackAfter(upTo);
    this.connection.run('DELETE FROM rockpool_decided WHERE up_to > ?', upTo);
    if (upTo > 0) this.markAcknowledged(upTo, nowMs);
  }

  /** Compresses some of the changesets before the last acknowledged one, if there are enough. Takes milliseconds. */
  pack(): void {
    this.changelog.packs.packUpTo(this.lastAckedSequence() - 1);
  }

  /** Prunes at most once an hour: retention is counted in days. */
  pruneIfDue(nowMs: number): void {
    const sinceMs = nowMs - this.prunedMs;
    if (sinceMs >= 0 && sinceMs < ACKNOWLEDGED_RESOLUTION_MS) return;
    this.prune(nowMs);
    this.prunedMs = nowMs;
  }

  /**
   * Removes changesets acknowledged more than ADMITTED_RETENTION_MS ago, except rejected ones and the last, whose hash
   * the next changeset needs.
   */
  prune(nowMs: number): void {
    this.connection.run('DELETE FROM rockpool_changelog WHERE kept_ms < ?', nowMs - ADMITTED_RETENTION_MS);
    const upTo = this.connection.value(
      'SELECT max(up_to) FROM rockpool_decided WHERE decided_ms < ?',
      nowMs - ADMITTED_RETENTION_MS,
    );
    if (typeof upTo !== 'number') return;
    this.connection.run('DELETE FROM rockpool_parked WHERE closed = 1 AND sequence < ?', upTo);
    this.connection.run(
      'DELETE FROM rockpool_changelog WHERE sequence > 0 AND sequence < ? AND sequence NOT IN (SELECT sequence FROM rockpool_parked)',
      upTo,
    );
    this.changelog.packs.removeBefore(upTo);
    this.connection.run('DELETE FROM rockpool_decided WHERE up_to < ?', upTo);
  }
}
