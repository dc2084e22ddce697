import type { FoundTabs, OpeningWork, Report } from './report.ts';

/** The longest time without any report, after which the tabs count as hanging. Even a busy machine is faster. */
const SILENCE_MS = 60_000;

/** The reports of all tabs, and the problems in them. */
export class Journal {
  readonly acknowledged: Record<string, number> = {};
  readonly faults: string[] = [];
  /** The time of the first opening as writer after each browser start, without competitors. */
  readonly firstOpeningsMs: number[] = [];
  readonly counts = { acknowledged: 0, writerLooks: 0, readerLooks: 0, reads: 0, full: 0 };
  longestReadMs = 0;
  #mostReadBytes = 0;
  #longestLogBytes = 0;
  #start = 0;
  #isFirstOpening = true;
  #listeners = new Set<() => void>();

  /** Call when the browser restarts. Returns the number of the start, which its pages repeat in their reports. */
  begin(): number {
    this.#isFirstOpening = true;
    this.#start += 1;
    return this.#start;
  }

  /** A report of a killed browser may arrive when the next browser has started. */
  take(tab: string, start: number, report: Report): void {
    switch (report.kind) {
      case 'opened':
        this.#judgeWork(tab, report.work);
        if (start === this.#start && this.#isFirstOpening) {
          this.#isFirstOpening = false;
          this.firstOpeningsMs.push(report.elapsedMs);
          this.#judgeFirstOpening(tab, report.work);
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

  /** One sentence about the openings, for people. */
  openings(): string {
    const sorted = this.firstOpeningsMs.toSorted((a, b) => a - b);
    const ms = (index: number): string => `${Math.round(sorted.at(index) ?? NaN)} ms`;
    const kib = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`;
    return (
      `the first opening took ${ms(Math.floor(sorted.length / 2))} (median) and ${ms(-1)} (at most); ` +
      `the longest log was ${kib(this.#longestLogBytes)}, and an opening read at most ${kib(this.#mostReadBytes)}`
    );
  }

  /** Resolves to true once `isReached` returns true, and to false once no tab has reported for `SILENCE_MS`. */
  until(isReached: () => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (reached: boolean): void => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        resolve(reached);
      };
      const look = (): void => {
        timer.refresh();
        if (isReached()) end(true);
      };
      const timer = setTimeout(() => end(false), SILENCE_MS);
      this.#listeners.add(look);
      look();
    });
  }

  /** An opening after a kill waits for nothing: the killed browser has released its locks and handles. */
  #judgeFirstOpening(tab: string, { isLockFree, refusedHandles }: OpeningWork): void {
    if (!isLockFree) this.faults.push(`${tab}: the writer's lock was held before any tab had opened the database`);
    if (refusedHandles > 0)
      this.faults.push(`${tab}: a handle was refused ${refusedHandles} times before any tab had opened the database`);
  }

  /** An opening reads no part of the log twice, so that its work is bounded by the length of the log. */
  #judgeWork(tab: string, { logBytes, readBytes, rereadBytes }: OpeningWork): void {
    this.#longestLogBytes = Math.max(this.#longestLogBytes, logBytes);
    this.#mostReadBytes = Math.max(this.#mostReadBytes, readBytes);
    if (rereadBytes > 0) this.faults.push(`${tab}: an opening read ${rereadBytes} of ${readBytes} bytes again`);
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
