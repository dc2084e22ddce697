import type { ResultRow } from './samples.ts';

/**
 * The target of a line, as a share of a peer's figure from the same run: absolute times mean little on another machine.
 */
export interface Target {
  readonly workload: string;
  readonly title: string;
  /** The variant of Rockpool that must reach the target; '' is the default configuration. */
  readonly variant: string;
  readonly atMost: number;
  /** True for figures where more is better: `atMost` is then the minimum. */
  readonly isAtLeast?: boolean;
  /**
   * The figure to compare with: that of the subject with this label (see `labelOf`), or of the best peer. `absolute`:
   * none; `atMost` is in the unit of the line.
   */
  readonly of: 'best peer' | 'absolute' | (string & {});
  /** Where the time goes, for a line that is known to miss its target. */
  readonly account?: string;
}

export interface Verdict {
  readonly target: Target;
  readonly ours: ResultRow | undefined;
  readonly peer: ResultRow | undefined;
  readonly ratio: number | undefined;
  readonly isReached: boolean;
}

export const OURS = 'rockpool';

/** Subjects that run without a browser or are not peers: shown beside the peers, but never counted as the best peer. */
const REFERENCES: ReadonlySet<string> = new Set(['native', 'floor']);

export function labelOf({ subject, variant }: Pick<ResultRow, 'subject' | 'variant'>): string {
  return variant === '' ? subject : `${subject} (${variant})`;
}

export function judge(targets: readonly Target[], rows: readonly ResultRow[]): Verdict[] {
  return targets.map((target) => {
    const line = rows.filter(({ workload }) => workload === target.workload);
    const ours = line.find(({ subject, variant }) => subject === OURS && variant === target.variant);
    const peers = line.filter(({ subject }) => subject !== OURS && !REFERENCES.has(subject));
    const peer = target.of === 'best peer' ? bestOf(peers) : peers.find((row) => labelOf(row) === target.of);
    const against = target.of === 'absolute' ? 1 : peer?.median;
    const ratio = ours === undefined || against === undefined ? undefined : ours.median / against;
    return {
      target,
      ours,
      peer,
      ratio,
      isReached: ratio !== undefined && (target.isAtLeast === true ? ratio >= target.atMost : ratio <= target.atMost),
    };
  });
}

function bestOf(rows: readonly ResultRow[]): ResultRow | undefined {
  return rows.toSorted((a, b) => (a.better === 'lower' ? a.median - b.median : b.median - a.median))[0];
}
