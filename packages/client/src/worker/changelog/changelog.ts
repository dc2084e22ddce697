import {
  changesetHash,
  decodeBefore,
  decodeChangesetBody,
  decodeOrigin,
  encodeBefore,
  encodeChangesetBody,
  encodeOrigin,
  FIRST_PREVIOUS_HASH,
  MAX_CHANGESET_BYTES,
  nextLocalStampUs,
  RockpoolError,
  stampToMs,
  type BeforeGroup,
  type ChangeGroup,
  type Changeset,
  type ChangesetOrigin,
  type CellBase,
  type LastStamp,
  type LocalTime,
} from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import { ChangelogPacks } from './changelog-packs.ts';
import type { DecodedChangeset } from './decoded-changeset.ts';
import { CHANGELOG_COLUMNS, toStoredChangeset, type StoredChangeset } from './stored-changeset.ts';

/** The newest changeset. Sequence 0 if there is none yet. */
export interface ChangelogHead extends LastStamp {
  readonly sequence: number;
  readonly hash: Uint8Array;
}

/** The changes of a transaction, which are about to become a changeset. */
export interface NewChangeset {
  /** Whether the server must admit it as a whole: see ChangesetBody. */
  readonly atomic: boolean;
  readonly groups: readonly ChangeGroup[];
  /** Old values, one entry per group, in the same order. */
  readonly before: readonly BeforeGroup[];
  readonly cellBases: readonly CellBase[];
  /** The cursor at the time of the write. */
  readonly base: number;
  /** The changeset from which this one was re-created. */
  readonly origin?: ChangesetOrigin | undefined;
}

/** rockpool_changelog: each write appends its changeset in its own transaction. Reads include packed changesets. */
export class Changelog {
  readonly packs: ChangelogPacks;
  private readonly connection: Connection;
  /** The head that `append` stored. Valid until the table is written again. */
  private appended: { readonly head: ChangelogHead; readonly writes: number } | null = null;

  constructor(connection: Connection) {
    this.connection = connection;
    this.packs = new ChangelogPacks(connection);
  }

  head(): ChangelogHead {
    // A rollback counts as a write.
    if (this.appended !== null && this.appended.writes === this.connection.writesOf('rockpool_changelog')?.count)
      return this.appended.head;
    const row = this.connection.knownRow(
      'rockpool_changelog',
      'SELECT sequence, stamp_us, shift_us, hash FROM rockpool_changelog WHERE sequence > 0 ORDER BY sequence DESC LIMIT 1',
    );
    if (row === undefined) return { sequence: 0, stampUs: 0, shiftUs: 0, hash: FIRST_PREVIOUS_HASH };
    return {
      sequence: row[0] as number,
      stampUs: row[1] as number,
      shiftUs: row[2] as number,
      hash: row[3] as Uint8Array,
    };
  }

  /**
   * Assigns the changeset a sequence and stamp, stores it and returns the sequence. Throws `changeset-too-large` beyond
   * MAX_CHANGESET_BYTES, which could never be sent.
   */
  append(changes: NewChangeset, localTime: LocalTime): number {
    const body = encodeChangesetBody({ atomic: changes.atomic, groups: changes.groups, cellBases: changes.cellBases });
    if (body.length > MAX_CHANGESET_BYTES) {
      throw new RockpoolError('changeset-too-large', { sizeBytes: body.length, maxBytes: MAX_CHANGESET_BYTES });
    }
    const head = this.head();
    const changeset: Changeset = {
      sequence: head.sequence + 1,
      stampUs: nextLocalStampUs(localTime.nowUs(), head.stampUs),
      base: changes.base,
      body,
    };
    const { sequence, stampUs } = changeset;
    const hash = changesetHash(head.hash, changeset);
    const shiftUs = localTime.shiftUs(stampUs);
    this.connection.run(
      'INSERT INTO rockpool_changelog (sequence, stamp_us, base, hash, body, before, shift_us, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      sequence,
      stampUs,
      changeset.base,
      hash,
      body,
      encodeBefore(changes.before),
      shiftUs,
      changes.origin === undefined ? null : encodeOrigin(changes.origin),
    );
    const writes = this.connection.writesOf('rockpool_changelog')?.count;
    if (writes !== undefined) this.appended = { head: { sequence, stampUs, shiftUs, hash }, writes };
    return sequence;
  }

  /**
   * The hash of a changeset, on which the next changeset's hash is based. Throws for a pruned changeset. The last
   * acknowledged changeset is never pruned.
   */
  hashOf(sequence: number): Uint8Array {
    if (sequence === 0) return FIRST_PREVIOUS_HASH;
    const hash = this.findHash(sequence);
    if (hash === null)
      throw new RockpoolError('internal', { problem: 'a changeset is missing from the changelog', sequence });
    return hash;
  }

  /**
   * The origin of a changeset of this site: the changeset itself, or the one from which it was re-created. Undefined if
   * unknown: for a pruned changeset, and for one of an earlier site that was renumbered before origins were stored.
   */
  originOf(sequence: number, siteId: Uint8Array): ChangesetOrigin | undefined {
    const [row] = this.connection.rows('SELECT origin, hash FROM rockpool_changelog WHERE sequence = ?', sequence);
    if (row === undefined) return undefined;
    const [origin, hash] = row as [Uint8Array | null, Uint8Array];
    if (origin !== null) return decodeOrigin(origin);
    return sequence > 0 ? { siteId, sequence, hash } : undefined;
  }

  /** The hash of a changeset; null if the changeset does not exist or was pruned. */
  findHash(sequence: number): Uint8Array | null {
    const hash = this.connection.value('SELECT hash FROM rockpool_changelog WHERE sequence = ?', sequence);
    return (hash as Uint8Array | undefined) ?? this.packs.find(sequence)?.hash ?? null;
  }

  /**
   * The start of the gapless run of changesets that ends with the newest; the newest sequence plus 1 if there is none.
   */
  firstRetained(): number {
    // Compares changesets and packs by their last sequence.
    const gap = this.connection.value(
      `WITH kept (first, last) AS (SELECT sequence, sequence FROM rockpool_changelog WHERE sequence > 0 UNION ALL SELECT first, last FROM rockpool_changelog_pack)
       SELECT max(first) FROM kept AS run WHERE first - 1 NOT IN (SELECT last FROM kept)`,
    );
    return typeof gap === 'number' ? gap : this.head().sequence + 1;
  }

  /** Null for a pruned changeset. */
  read(sequence: number): DecodedChangeset | null {
    const [row] = this.connection.rows(
      `SELECT ${CHANGELOG_COLUMNS} FROM rockpool_changelog WHERE sequence = ?`,
      sequence,
    );
    const stored = row === undefined ? this.packs.find(sequence) : toStoredChangeset(row);
    return stored === undefined ? null : decode(stored);
  }

  /** Changesets after `sequence`, in order, one at a time. The transaction must stay open meanwhile. */
  *readAfter(sequence: number): Generator<DecodedChangeset> {
    for (const stored of this.readStoredAfter(sequence)) yield decode(stored);
  }

  /** Like `readAfter`, but returns the changesets as stored. */
  *readStoredAfter(sequence: number): Generator<StoredChangeset> {
    if (this.head().sequence <= sequence) return;
    let after = sequence;
    for (const [first, last] of this.packs.rangesAfter(sequence)) {
      yield* this.rowsBetween(after, first);
      for (const changeset of this.packs.contentsOf(last)) if (changeset.sequence > sequence) yield changeset;
      after = last;
    }
    yield* this.rowsBetween(after, Number.MAX_SAFE_INTEGER);
  }

  private *rowsBetween(after: number, before: number): Generator<StoredChangeset> {
    const statement = this.connection.prepare(
      `SELECT ${CHANGELOG_COLUMNS} FROM rockpool_changelog WHERE sequence > ? AND sequence < ? ORDER BY sequence`,
    );
    try {
      statement.bindParams([after, before]);
      while (statement.step()) yield toStoredChangeset(statement.readValues());
    } finally {
      statement.release();
    }
  }
}

function decode({ sequence, stampUs, shiftUs, base, body, before }: StoredChangeset): DecodedChangeset {
  const { atomic, groups, cellBases } = decodeChangesetBody(body);
  return {
    sequence,
    stampUs,
    writtenMs: stampToMs(stampUs + shiftUs),
    base,
    atomic,
    groups,
    before: decodeBefore(before, groups),
    cellBases,
  };
}
