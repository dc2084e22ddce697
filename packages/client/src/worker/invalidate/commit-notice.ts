import type { Touched, TouchedTables } from '../../rpc/query-dependencies.ts';

/** The touched table of a commit that changed the schema. */
export const SCHEMA_TABLE = 'sqlite_master';

/** A leader's notice of a commit. */
export type CommitNotice = CommitPosition & TouchedTables;

/** The position in a leader's commits. Numbers rise within one leadership. */
export interface CommitPosition {
  readonly leaderTerm: string;
  readonly commitNumber: number;
}

/** Follows the numbered notices of leaders, so that a gap reveals a lost notice. */
export interface CommitFollower {
  /** Returns the changes of a notice; null if the notice was already followed. */
  observe(notice: CommitNotice): Touched | null;
  /** The leader repeats its position without a new commit. */
  observePosition(position: CommitPosition): Touched | null;
}

/**
 * Within one leadership, a notice follows the last one, was seen already, or leaves a gap. After a gap, and under a
 * different leader, everything may have changed: the last notices of a leader can be lost with it. The same holds after
 * a change of the schema, because views hide the tables that queries read.
 */
export function createCommitFollower(): CommitFollower {
  let last: CommitPosition | null = null;

  function moveTo({ leaderTerm, commitNumber }: CommitPosition): void {
    last = { leaderTerm, commitNumber };
  }

  return {
    observe(notice) {
      const isNext =
        last !== null && last.leaderTerm === notice.leaderTerm && notice.commitNumber === last.commitNumber + 1;
      if (last !== null && last.leaderTerm === notice.leaderTerm && notice.commitNumber <= last.commitNumber)
        return null;
      moveTo(notice);
      return isNext && !notice.tables.includes(SCHEMA_TABLE)
        ? { tables: notice.tables, changes: notice.changes }
        : 'all';
    },
    observePosition(position) {
      if (last !== null && last.leaderTerm === position.leaderTerm && position.commitNumber <= last.commitNumber)
        return null;
      moveTo(position);
      return 'all';
    },
  };
}
