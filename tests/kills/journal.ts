import type { FoundTabs, Report } from './report.ts';

/** The reports of all tabs, and the problems in them. */
export class Journal {
  readonly acknowledged: Record<string, number> = {};
  readonly faults: string[] = [];
  /** The time of the first opening as writer after each browser start, without competitors. */
  readonly firstOpeningsMs: number[] = [];
  readonly counts = { acknowledged: 0, writerLooks: 0, readerLooks: 0, reads: 0, full: 0 };
  longestReadMs = 0;
  #isFirstOpening = true;
  #listeners = new Set<() => void>();

  /** Call when the browser restarts. */
  begin(): void {
    this.#isFirstOpening = true;
  }

  take(tab: string, report: Report): void {
    switch (report.kind) {
      case 'opened':
        if (report.role === 'writer' && this.#isFirstOpening) {
          this.#isFirstOpening = false;
          this.firstOpeningsMs.push(report.elapsedMs);
        }
        break;
      case 'acknowledged':
        this.counts.acknowledged += 1;
        this.acknowledged[tab] = Math.max(this.acknowledged[tab] ?? 0, report.sequence);
        break;
      case 'found':
        this.counts[report.role === 'writer' ? 'writerLooks' : 'readerLooks'] += 1;
        this.#judge(tab, report);
        break;
      case 'stall':
        this.counts.reads += report.reads;
        this.longestReadMs = Math.max(this.longestReadMs, report.longestMs);
        break;
      case 'full':
        this.counts.full += 1;
        if (report.code !== 'storage-full') this.faults.push(`${tab}: a lack of space was reported as ${report.code}`);
        break;
      case 'failed':
        this.faults.push(`${tab}: ${report.message}`);
        break;
    }
    for (const listener of this.#listeners) listener();
  }

  /** Resolves once `isReached` returns true. Checks after every report. */
  until(isReached: () => boolean, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (reached: boolean): void => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        resolve(reached);
      };
      const look = (): void => {
        if (isReached()) end(true);
      };
      const timer = setTimeout(() => end(false), timeoutMs);
      this.#listeners.add(look);
      look();
    });
  }

  #judge(tab: string, { role, integrity, tabs, readFrom }: Extract<Report, { kind: 'found' }>): void {
    const fault = (what: string): void => void this.faults.push(`${tab} as ${role}: ${what}`);
    if (integrity !== 'ok') fault(`integrity_check: ${integrity}`);
    for (const [name, atLeast] of Object.entries(readFrom)) {
      const { last, count, incomplete } = tabs[name] ?? { last: 0, count: 0, incomplete: 0 };
      if (last < atLeast)
        fault(`transaction ${atLeast} of ${name} was acknowledged, but the last stored one is ${last}`);
      if (count !== last) fault(`${name} has ${count} transactions, but the last one is ${last}`);
      if (incomplete > 0) fault(`${incomplete} transactions of ${name} are incomplete`);
    }
    // While a writer checks, no other tab writes, so at most one transaction is committed but not yet reported.
    if (role === 'writer') this.#judgeIssued(tabs, fault);
  }

  #judgeIssued(tabs: FoundTabs, fault: (what: string) => void): void {
    for (const [name, { last }] of Object.entries(tabs)) {
      const acknowledged = this.acknowledged[name] ?? 0;
      if (last > acknowledged + 1)
        fault(`transaction ${last} of ${name} was never issued; the last acknowledged one is ${acknowledged}`);
      // From now on, every later check must find the transaction.
      this.acknowledged[name] = Math.max(acknowledged, last);
    }
  }
}
