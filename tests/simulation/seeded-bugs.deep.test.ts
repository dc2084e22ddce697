import { describe, expect, it } from 'vitest';
import { huntBugs, tableOf } from './hunt-bugs.ts';
import { SEEDED_BUGS } from './seeded-bugs.ts';

// Most are caught within ten histories; the rarest needs two sites that write in the same microsecond.
const MOST_HISTORIES = 300;
const TIMEOUT_MS = 60 * 60_000;

describe('the simulation', () => {
  it.each(SEEDED_BUGS)(
    'catches: $name',
    async ({ name }) => {
      for await (const caught of huntBugs([name], MOST_HISTORIES)) {
        console.info(tableOf([caught]));
        expect(caught.histories, 'caught').not.toBeNull();
      }
    },
    TIMEOUT_MS,
  );
});
