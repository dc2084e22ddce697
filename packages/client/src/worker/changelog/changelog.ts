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

/** The newest changeset. Sequence 0 if there is none yet. */
export interface ChangelogHead extends LastStamp {
  readonly sequence: number;
  readonly hash: Uint8Array;
}

/** The changes of a transaction that are about to become a changeset. */
export interface NewChangeset {
  /** Admitted as a whole or not: see ChangesetBody. */
  readonly atomic: boolean;
  readonly groups: readonly ChangeGroup[];
  /** Old values, one entry per group, in the same order. */
  readonly before: readonly BeforeGroup[];
  readonly cellBases: readonly CellBase[];
  /** The cursor at the time of the write. */
  readonly base: number;
  /** The changeset that this one is re-created from. */
  readonly origin?: ChangesetOrigin | undefined;
}

/** A decoded changeset of the changelog, with old values. */
export interface DecodedChangeset {
  readonly sequence: number;
  /** The device's wall clock at the time of the write. */
  readonly writtenMs: number;
  readonly base: number;
  readonly atomic: boolean;
  readonly groups: readonly ChangeGroup[];
  readonly before: readonly BeforeGroup[];
  readonly cellBases: readonly CellBase[];
}

/** rockpool_changelog: each write appends its changeset in its own transaction. */
export class Changelog {
  private readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  head(): ChangelogHead {
    const [row] = this.connection.rows(
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
   * Gives a changeset its sequence and stamp, stores it and returns the sequence. Throws `changeset-too-large` beyond
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
    this.connection.run(
      'INSERT INTO rockpool_changelog (sequence, stamp_us, base, hash, body, before, shift_us, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      changeset.sequence,
      changeset.stampUs,
      changeset.base,
      changesetHash(head.hash, changeset),
      body,
      encodeBefore(changes.before),
      localTime.shiftUs(changeset.stampUs),
      changes.origin === undefined ? null : encodeOrigin(changes.origin),
    );
    return changeset.sequence;
  }

  /**
   * The hash of a changeset, which the next changeset's hash builds on. Throws for a pruned changeset. The last
   * acknowledged one is never pruned.
   */
  hashOf(sequence: number): Uint8Array {
    if (sequence === 0) return FIRST_PREVIOUS_HASH;
    const hash = this.connection.value('SELECT hash FROM rockpool_changelog WHERE sequence = ?', sequence);
    if (hash === undefined)
      throw new RockpoolError('internal', { problem: 'a changeset is missing from the changelog', sequence });
    return hash as Uint8Array;
  }

  /**
   * The first changeset that a changeset of this site came from: itself, or the one that it was re-created from.
   * Undefined where that is not known: for a pruned changeset, and for one of an earlier site that was renumbered before
   * origins were stored.
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
    return (this.connection.value('SELECT hash FROM rockpool_changelog WHERE sequence = ?', sequence) ??
      null) as Uint8Array | null;
  }

  /**
   * The start of the gapless run of changesets that ends with the newest; the newest sequence plus 1 if there is none.
   */
  firstRetained(): number {
    const { sequence: last } = this.head();
    const gap = this.connection.value(
      'SELECT max(sequence) FROM rockpool_changelog AS row WHERE sequence > 0 AND NOT EXISTS (SELECT 1 FROM rockpool_changelog WHERE sequence = row.sequence - 1)',
    );
    return typeof gap === 'number' ? gap : last + 1;
  }

  /** Null for a pruned changeset. */
  read(sequence: number): DecodedChangeset | null {
    const [row] = this.connection.rows(
      'SELECT sequence, stamp_us + shift_us, base, body, before FROM rockpool_changelog WHERE sequence = ?',
      sequence,
    );
    return row === undefined ? null : decodeRow(row);
  }

  /** Changesets after `sequence`, in order, one at a time. The transaction must stay open meanwhile. */
  *readAfter(sequence: number): Generator<DecodedChangeset> {
    const statement = this.connection.prepare(
      'SELECT sequence, stamp_us + shift_us, base, body, before FROM rockpool_changelog WHERE sequence > ? ORDER BY sequence',
    );
    try {
      statement.bindParams([sequence]);
      while (statement.step()) yield decodeRow(statement.readValues());
    } finally {
      statement.release();
    }
  }
}

function decodeRow(row: readonly unknown[]): DecodedChangeset {
  const [sequence, writtenUs, base, body, before] = row as readonly [number, number, number, Uint8Array, Uint8Array];
  const { atomic, groups, cellBases } = decodeChangesetBody(body);
  return {
    sequence,
    writtenMs: stampToMs(writtenUs),
    base,
    atomic,
    groups,
    before: decodeBefore(before, groups),
    cellBases,
  };
}
