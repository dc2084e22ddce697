import type { Changeset } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import type { Changelog } from './changelog.ts';

/** Admitted changesets are kept this long, so that a server restored from a backup can be given back what it lost. */
export const ADMITTED_RETENTION_MS: number = 7 * 24 * 60 * 60 * 1000;

// Deliveries come several a second while people work together; when they were decided matters by the hour.
const ACKNOWLEDGED_RESOLUTION_MS = 60 * 60 * 1000;

/** Changesets in order, as they are sent. */
export interface PushBatch {
  /** Of the changeset before the first one. */
  readonly previousHash: Uint8Array;
  readonly changesets: readonly Changeset[];
}

/**
 * The part of the changelog that the server has not decided about, in order of their numbers. Decisions come in the
 * same order. A rejected changeset that is not decided is still sent: the numbers have no gaps.
 */
export class Outbox {
  private readonly connection: Connection;
  private readonly changelog: Changelog;

  constructor(connection: Connection, changelog: Changelog) {
    this.connection = connection;
    this.changelog = changelog;
  }

  /** The last changeset whose outcome is known here; 0 for none. */
  lastAckedSequence(): number {
    return (this.connection.value('SELECT max(up_to) FROM rockpool_decided') ?? 0) as number;
  }

  /** How many changesets wait for an outcome. */
  pendingCount(): number {
    return this.changelog.head().sequence - this.lastAckedSequence();
  }

  /** The next changesets after `sequence`, up to about `maxBytes` of bodies, at least one; null when there is none. */
  nextPush(sequence: number, maxBytes: number): PushBatch | null {
    const statement = this.connection.prepare(
      'SELECT sequence, stamp_us, base, body FROM rockpool_changelog WHERE sequence > ? ORDER BY sequence',
    );
    const changesets: Changeset[] = [];
    let sizeBytes = 0;
    try {
      statement.bindParams([sequence]);
      while (sizeBytes < maxBytes && statement.step()) {
        const [number, stampUs, base, body] = statement.readValues() as [number, number, number, Uint8Array];
        sizeBytes += body.length;
        if (changesets.length > 0 && sizeBytes > maxBytes) break;
        changesets.push({ sequence: number, stampUs, base, body });
      }
    } finally {
      statement.release();
    }
    return changesets.length === 0 ? null : { previousHash: this.changelog.hashOf(sequence), changesets };
  }

  /** Call in the transaction that applies the outcomes. What was decided before stays so. */
  markAcknowledged(upTo: number, nowMs: number): void {
    const [last] = this.connection.rows(
      'SELECT up_to, decided_ms FROM rockpool_decided ORDER BY up_to DESC LIMIT 1',
    ) as [number, number][];
    if (last !== undefined && last[0] >= upTo) return;
    if (last !== undefined && nowMs >= last[1] && nowMs - last[1] < ACKNOWLEDGED_RESOLUTION_MS) {
      this.connection.run(
        'UPDATE rockpool_decided SET up_to = ?, decided_ms = ? WHERE up_to = ?',
        upTo,
        nowMs,
        last[0],
      );
    } else this.connection.run('INSERT INTO rockpool_decided (up_to, decided_ms) VALUES (?, ?)', upTo, nowMs);
  }

  /**
   * The server has lost what it had decided after this number, or this database is another site now: it is pending
   * again.
   */
  markPendingAfter(upTo: number, nowMs: number): void {
    this.connection.run('DELETE FROM rockpool_decided WHERE up_to > ?', upTo);
    if (upTo > 0) this.markAcknowledged(upTo, nowMs);
  }

  /**
   * Removes what was decided longer ago than ADMITTED_RETENTION_MS, except rejected ones and the last one, whose hash
   * the next needs.
   */
  prune(nowMs: number): void {
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
    this.connection.run('DELETE FROM rockpool_decided WHERE up_to < ?', upTo);
  }
}
