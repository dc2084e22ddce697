/** What became of a write, as its author knows it. */
type Fate = 'open' | 'resolved' | 'rejected';

/** Remembers every write, and judges what a read shows. A write is known by its number. */
export class Oracle {
  private readonly fates = new Map<number, Fate>();
  private readonly resolved = new Set<number>();

  /** Before the write is asked for. */
  begin(): number {
    const number = this.fates.size;
    this.fates.set(number, 'open');
    return number;
  }

  settle(number: number, fate: 'resolved' | 'rejected'): void {
    this.fates.set(number, fate);
    if (fate === 'resolved') this.resolved.add(number);
  }

  get counts(): { readonly writes: number; readonly resolved: number } {
    return { writes: this.fates.size, resolved: this.resolved.size };
  }

  /** To be called before the read. What it returns judges the result: null, or what is wrong with it. */
  expectation(): (read: { readonly numbers: readonly number[]; readonly counter: number }) => string | null {
    const owed = [...this.resolved];
    return ({ numbers, counter }) => {
      const seen = new Set(numbers);
      if (seen.size !== numbers.length) return `${numbers.length - seen.size} writes took effect twice`;
      const lost = owed.filter((number) => !seen.has(number));
      if (lost.length > 0) return `lost: ${lost.slice(0, 10).join(', ')}`;
      const undead = numbers.filter(
        (number) => this.fates.get(number) === undefined || this.fates.get(number) === 'rejected',
      );
      if (undead.length > 0) return `there although they failed: ${undead.slice(0, 10).join(', ')}`;
      if (counter !== numbers.length) return `half a transaction: ${numbers.length} rows, counted ${counter}`;
      return null;
    };
  }
}
