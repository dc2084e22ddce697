import type { Push } from '../../packages/shared/src/index.ts';

/** What arrived at the server of one changeset, each time that it came. */
interface Arrival {
  readonly receivedMs: number;
  readonly ageUs: number;
  readonly base: number;
}

/** One line of the server's log. */
export interface LoggedStamp {
  readonly watermark: number;
  /** Hex. */
  readonly site: string;
  readonly sequence: number;
  readonly stampUs: number;
}

/**
 * Where a write stands in time, by docs/merge-rules.md ("Clocks"): when it came less how old its author says it is,
 * above all that its site wrote and saw before. Worked out here from what was on the wire, so that a server that places
 * a write elsewhere is found out, whoever wins by it.
 */
export class StampCheck {
  private readonly arrivals = new Map<string, Arrival[]>();

  onPush(site: string, { changesets }: Push, receivedMs: number): void {
    for (const { sequence, ageUs, base } of changesets) {
      const name = `${site} ${sequence}`;
      this.arrivals.set(name, [...(this.arrivals.get(name) ?? []), { receivedMs, ageUs, base }]);
    }
  }

  /**
   * Of a log in its order. `wasRestored`: how much of this log the author of a write of an older epoch counts as having
   * seen depends on restores that are past.
   */
  wrongStamp(log: readonly LoggedStamp[], wasRestored: boolean): string | null {
    const lastOfSite = new Map<string, number>();
    const highestUpTo: number[] = [0];
    for (const { watermark, site, sequence, stampUs } of log) {
      const arrivals = this.arrivals.get(`${site} ${sequence}`) ?? [];
      const possible = arrivals.map(({ receivedMs, ageUs, base }) => {
        const earliest = Math.max(0, receivedMs * 1000 - ageUs, (lastOfSite.get(site) ?? 0) + 1);
        const latest = Math.max(earliest, (highestUpTo[Math.min(base, watermark - 1)] ?? 0) + 1);
        return { earliest: wasRestored ? earliest : latest, latest };
      });
      if (!possible.some(({ earliest, latest }) => stampUs >= earliest && stampUs <= latest))
        return `changeset ${sequence} of ${site} has the stamp ${stampUs} in the log, and not one of ${JSON.stringify(possible)}`;
      lastOfSite.set(site, stampUs);
      highestUpTo[watermark] = Math.max(highestUpTo[watermark - 1] ?? 0, stampUs);
    }
    return null;
  }
}
