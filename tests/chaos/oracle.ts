/** The author's knowledge of a write. */
type Fate = 'open' | 'resolved' | 'rejected';

/** Records every write and judges the result of a read. A write is identified by its number. */
export class Oracle {
  private readonly fates = new Map<number, Fate>();
  private readonly resolved = new Set<number>();

  /** Call before the write. */
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

  /** Call before the read. Returns a function that judges the result: null, or the problem. */
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
