/** A seeded random number generator (xorshift, 32 bits), so that the sample files are identical on every machine. */
export interface Random {
  /** An integer from `low` to `high`, both inclusive. */
  between(low: number, high: number): number;
  pick<T>(choices: readonly T[]): T;
  chance(percent: number): boolean;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0 || 1;
  const next = (): number => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  const between = (low: number, high: number): number => low + (next() % (high - low + 1));
  return {
    between,
    pick: <T>(choices: readonly T[]): T => {
      const choice = choices[between(0, choices.length - 1)];
      if (choice === undefined) throw new Error('pick needs a list with at least one item');
      return choice;
    },
    chance: (percent) => between(1, 100) <= percent,
  };
}
