import type { Push } from '#shared/index.ts';

/** One arrival of a changeset at the server. */
interface Arrival {
  readonly receivedMs: number;
  readonly ageUs: number;
  readonly base: number;
  /** By earlier site of the sender's file, in hex: its last sequence. */
  readonly earlierSites: ReadonlyMap<string, number>;
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
 * Computes the stamp of a write by docs/merge-rules.md ("Clocks"): its arrival minus its declared age, but later than
 * everything that its site wrote and saw before. Uses only what was sent, so that a server that computes a different
 * stamp is detected, whichever write wins.
 */
export class StampCheck {
  private readonly arrivals = new Map<string, Arrival[]>();

  onPush(site: string, { changesets, earlierSites: named = [] }: Push, receivedMs: number): void {
    for (const { sequence, ageUs, base } of changesets) {
      const earlierSites = new Map(
        named
          .filter(({ upTo }) => sequence <= upTo)
          .map(({ last }) => [Buffer.from(last.siteId).toString('hex'), last.sequence]),
      );
      const name = `${site} ${sequence}`;
      this.arrivals.set(name, [...(this.arrivals.get(name) ?? []), { receivedMs, ageUs, base, earlierSites }]);
    }
  }

  /**
   * Returns a wrong stamp in an ordered log. `wasRestored`: past restores decide how much of this log the author of a
   * write from an older log epoch has seen.
   */
  wrongStamp(log: readonly LoggedStamp[], wasRestored: boolean): string | null {
    const lastOfSite = new Map<string, number>();
    const lastUpTo = (site: string, sequence: number): number =>
      Math.max(0, ...log.filter((one) => one.site === site && one.sequence <= sequence).map(({ stampUs }) => stampUs));
    const highestUpTo: number[] = [0];
    for (const { watermark, site, sequence, stampUs } of log) {
      const arrivals = this.arrivals.get(`${site} ${sequence}`) ?? [];
      const possible = arrivals.map(({ receivedMs, ageUs, base, earlierSites }) => {
        const earliest = Math.max(0, receivedMs * 1000 - ageUs, (lastOfSite.get(site) ?? 0) + 1);
        const ofFile = [...earlierSites].map((last) => lastUpTo(...last));
        const latest = Math.max(
          earliest,
          (highestUpTo[Math.min(base, watermark - 1)] ?? 0) + 1,
          ...ofFile.map((us) => us + 1),
        );
        return { earliest: wasRestored ? earliest : latest, latest };
      });
      if (!possible.some(({ earliest, latest }) => stampUs >= earliest && stampUs <= latest))
        return `changeset ${sequence} of ${site} has the stamp ${stampUs} in the log, which is not one of ${JSON.stringify(possible)}`;
      lastOfSite.set(site, stampUs);
      highestUpTo[watermark] = Math.max(highestUpTo[watermark - 1] ?? 0, stampUs);
    }
    return null;
  }
}
