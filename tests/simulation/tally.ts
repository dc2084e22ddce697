/** Counts events. A simulation in which an event never happens proves nothing about it. */
export class Tally {
  readonly counts = new Map<string, number>();

  add(what: string, count = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }

  of(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  include(other: Iterable<readonly [string, number]>): void {
    for (const [what, count] of other) this.add(what, count);
  }

  toString(): string {
    return [...this.counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([what, count]) => `${what} ${count}`)
      .join(', ');
  }
}
