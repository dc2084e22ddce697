/** What the author of a write knows about it. */
type WriteState = 'open' | 'resolved' | 'rejected';

/** Records every write and judges the result of a read. A write is identified by its number. */
export class Oracle {
  private readonly states = new Map<number, WriteState>();
  private readonly resolved = new Set<number>();

  /** Call before the write. */
  begin(): number {
    const number = this.states.size;
    this.states.set(number, 'open');
    return number;
  }

  settle(number: number, state: 'resolved' | 'rejected'): void {
    this.states.set(number, state);
    if (state === 'resolved') this.resolved.add(number);
  }

  get counts(): { readonly writes: number; readonly resolved: number } {
    return { writes: this.states.size, resolved: this.resolved.size };
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
        (number) => this.states.get(number) === undefined || this.states.get(number) === 'rejected',
      );
      if (undead.length > 0) return `rows of writes that failed: ${undead.slice(0, 10).join(', ')}`;
      if (counter !== numbers.length)
        return `a transaction is incomplete: there are ${numbers.length} rows, and the counter is ${counter}`;
      return null;
    };
  }
}
