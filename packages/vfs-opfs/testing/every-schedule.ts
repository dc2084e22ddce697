/**
 * Asked at each point where something else could happen: returns which of `count` possibilities does, 0 to `count` − 1.
 */
export type Choose = (count: number) => number;

/**
 * Runs `run` once for every sequence of choices that there is, depth first; a run makes the same choices again as the
 * one before up to the last that has a possibility left. Returns the number of runs, or throws after `limit` of them:
 * then "every" would not be true.
 */
export async function everySchedule(limit: number, run: (choose: Choose) => Promise<void>): Promise<number> {
  const schedule = new Schedule();
  let runs = 0;
  do {
    if (runs === limit) throw new Error(`more than ${limit} schedules`);
    runs += 1;
    schedule.rewind();
    await run((count) => schedule.choose(count));
  } while (schedule.next());
  return runs;
}

/** The choices of the run under way, and how many possibilities each had. */
class Schedule {
  readonly #chosen: number[] = [];
  readonly #counts: number[] = [];
  #depth = 0;

  rewind(): void {
    this.#depth = 0;
  }

  choose(count: number): number {
    const depth = this.#depth;
    this.#depth += 1;
    if (depth === this.#chosen.length) {
      this.#chosen.push(0);
      this.#counts.push(count);
    }
    return this.#chosen[depth]!;
  }

  /** Moves on to the next sequence; false when there is none. */
  next(): boolean {
    while (this.#chosen.length > 0) {
      const last = this.#chosen.length - 1;
      this.#chosen[last]! += 1;
      if (this.#chosen[last]! < this.#counts[last]!) return true;
      this.#chosen.pop();
      this.#counts.pop();
    }
    return false;
  }
}
