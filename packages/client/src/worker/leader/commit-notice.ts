import type { Touched, TouchedTables } from '../../rpc/query-dependencies.ts';

/** What a leader tells of a commit. */
export type CommitNotice = CommitPosition & TouchedTables;

/** Where a leader's commits stand: numbers count up within one leadership. */
export interface CommitPosition {
  readonly leaderTerm: string;
  readonly commitNumber: number;
}

/** Follows the numbered notices of the leaders, so that a lost one is noticed by the next. */
export interface CommitFollower {
  /** What a notice says has changed; null if that is known already. */
  observe(notice: CommitNotice): Touched | null;
  /** The leader says where it stands without a new commit. */
  observePosition(position: CommitPosition): Touched | null;
}

/**
 * Within one leadership a notice follows the last one, was seen already, or leaves a gap: then everything may have
 * changed. So it may have between two leaderships, because a leader's last notices can die with it.
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
      return isNext ? { tables: notice.tables, changes: notice.changes } : 'all';
    },
    observePosition(position) {
      if (last !== null && last.leaderTerm === position.leaderTerm && position.commitNumber <= last.commitNumber)
        return null;
      moveTo(position);
      return 'all';
    },
  };
}
