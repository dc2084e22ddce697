/**
 * Called whenever more than one event could come next. Returns the index of the chosen event, from 0 to `count` − 1.
 */
export type Choose = (count: number) => number;

/**
 * Runs `run` once for every possible sequence of choices, depth first. Each run repeats the choices of the run before
 * up to the last one with an untried alternative. Stops early once `isDone` returns true after a run. Returns the
 * number of runs. Throws after `limit` runs, because the result would then not cover every schedule.
 */
export async function everySchedule(
  limit: number,
  run: (choose: Choose) => Promise<void>,
  isDone: () => boolean = () => false,
): Promise<number> {
  const schedule = new Schedule();
  let runs = 0;
  do {
    if (runs === limit) throw new Error(`the test has more than ${limit} schedules`);
    runs += 1;
    schedule.rewind();
    await run((count) => schedule.choose(count));
  } while (!isDone() && schedule.next());
  return runs;
}

/** The choices of the current run, and how many alternatives each had. */
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

  /** Moves on to the next sequence. Returns false when there is none. */
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
