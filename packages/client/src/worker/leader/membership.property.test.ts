import type { RockpoolError } from '@rockpool/shared';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { FakeBrowser, settle, statement, type FakeTab } from '../../../testing/fake-tabs.ts';

type Step =
  | { readonly kind: 'open' | 'write' | 'kill' | 'close' | 'suspend' | 'resume'; readonly tab: number }
  | { readonly kind: 'advance'; readonly durationMs: number }
  | { readonly kind: 'deliveries'; readonly counts: readonly number[] };

const tabNumber = fc.nat({ max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('write' as const), tab: tabNumber }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('open' as const, 'kill' as const, 'close' as const, 'suspend' as const, 'resume' as const),
      tab: tabNumber,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      durationMs: fc.oneof(fc.nat({ max: 12_000 }), fc.constant(80_000)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('deliveries' as const),
      counts: fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 5 }),
    }),
  },
);

interface Written {
  readonly sql: string;
  readonly author: FakeTab;
  outcome: 'waiting' | 'done' | RockpoolError;
}

/** Performs the steps, and then lets all work finish in a world without faults. */
async function play(
  steps: readonly { readonly step: Step; readonly rest: boolean }[],
): Promise<{ browser: FakeBrowser; written: Written[] }> {
  const browser = new FakeBrowser();
  const tabs: (FakeTab | undefined)[] = [];
  const written: Written[] = [];
  for (const { step, rest } of steps) {
    if (step.kind === 'advance') await browser.advance(step.durationMs);
    else if (step.kind === 'deliveries') {
      let next = 0;
      browser.deliveries = () => step.counts[next++ % step.counts.length] ?? 1;
    } else playOn(step.kind, step.tab);
    if (rest) await settle();
  }
  browser.deliveries = () => 1;
  for (const tab of tabs) if (tab?.isAlive) void tab.membership.resume();
  await browser.advance(90_000); // Longer than a tab waits for the leader's announcement.
  return { browser, written };

  function playOn(kind: 'open' | 'write' | 'kill' | 'close' | 'suspend' | 'resume', number: number): void {
    const tab = tabs[number];
    if (kind === 'open' && (tab === undefined || !tab.isAlive || tab.ended.length > 0)) {
      const opened = browser.tab();
      tabs[number] = opened;
      opened.membership.open().catch(() => undefined);
    }
    if (tab === undefined || !tab.isAlive) return;
    if (kind === 'write') {
      const write: Written = { sql: `write ${written.length}`, author: tab, outcome: 'waiting' };
      written.push(write);
      tab.membership.write([statement(write.sql)]).then(
        () => void (write.outcome = 'done'),
        (error: RockpoolError) => void (write.outcome = error),
      );
    }
    if (kind === 'kill') tab.kill();
    if (kind === 'close') void tab.membership.close();
    if (kind === 'suspend') void tab.membership.suspend();
    if (kind === 'resume') void tab.membership.resume();
  }
}

/** A tab is suspended and closed in the task of its write, before the request is sent. */
const CLOSED_BEFORE_ASKED: { step: Step; rest: boolean }[] = [
  { step: { kind: 'write', tab: 0 }, rest: true },
  { step: { kind: 'write', tab: 1 }, rest: false },
  { step: { kind: 'suspend', tab: 1 }, rest: false },
  { step: { kind: 'close', tab: 1 }, rest: false },
];

it('tabs that share a database neither lose nor repeat a write, whichever of them die, close or sleep, and whatever happens to messages', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ step, rest: fc.boolean() }), { maxLength: 40 }), async (steps) => {
      const { browser, written } = await play([
        { step: { kind: 'open', tab: 0 }, rest: false },
        { step: { kind: 'open', tab: 1 }, rest: false },
        ...steps,
      ]);
      const { effects } = browser.file;

      expect(new Set(effects).size, 'nothing took effect twice').toBe(effects.length);
      for (const { sql, outcome, author } of written) {
        if (outcome === 'done') expect(effects).toContain(sql);
        if (outcome === 'waiting') expect(author.isAlive, 'nobody waits forever').toBe(false);
      }
      for (const author of new Set(written.map((write) => write.author))) {
        const mine = written
          .filter((write) => write.author === author && effects.includes(write.sql))
          .map(({ sql }) => sql);
        expect(
          effects.filter((sql) => mine.includes(sql)),
          'the writes of a tab keep their order',
        ).toEqual(mine);
      }
    }),
    { numRuns: 100, examples: [[CLOSED_BEFORE_ASKED]] },
  );
});
