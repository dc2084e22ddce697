import { expect } from 'vitest';
import { runSeeds, seedsFrom } from './run-seeds.ts';
import { silentPassesAsText, tooManySilentPasses } from './silent-passes.ts';
import { SIZES, type SizeName } from './sizes.ts';

/** Events that must occur in a run, because otherwise the run proves nothing about them. */
export const MUST_HAPPEN: readonly string[] = [
  'children of a key of two columns',
  'children that keep their parent',
  'children that lose their parent',
  'clock frozen or backwards',
  'clock jump',
  'COMMIT without an answer',
  'commit followed by every instance',
  'commit of another instance followed',
  'addition made again from the ledger',
  'app rolled back',
  'app updated',
  'app updated over pending writes',
  'atomic write',
  'branch merged',
  'changed key',
  'commit of the server that does not last yet',
  'comparison at a cursor',
  'comparison of an older schema',
  'conflict',
  'connected device compared with what the server had',
  'copied file',
  'crash in an open transaction',
  'crash in the merge of a branch',
  'crash of the leader of an open transaction',
  'crash of client',
  'crash of client at a send',
  'crash of client at a storage call',
  'crash of one of several instances',
  'crash of server',
  'crash of server in a commit',
  'cut',
  'database closed',
  'database taken offline',
  'deliveries applied together',
  'disk of server failed',
  'disk of server full',
  'document compacted',
  'document in another thread',
  'doubled frame',
  'doubled push',
  'doubled request to the leader',
  'drop rejected',
  'edit beside a masked one',
  'edit of a compacted document carried over',
  'edit of a document by its Y.Doc',
  'group changed of a deleted row',
  'half-open connection',
  'leader change',
  'lease taken',
  'look in the middle of a write',
  'lost answer of the leader',
  'lost notice',
  'lost reply',
  'new log epoch',
  'notice between instances doubled',
  'notice between instances late',
  'notice between instances lost',
  'open transaction committed',
  'open transaction ended: rolled back',
  'open transaction ended: transaction-lost',
  'open transaction ended: transaction-timeout',
  'opened for another database',
  'older schema in the end',
  'oracle: changeset judged',
  'oracle: entry judged',
  'oracle: rejection judged',
  'outdated tab reloaded',
  'page that sees the others',
  'partition',
  'PostgreSQL restarted',
  'PostgreSQL unavailable',
  'past state read',
  'power cut of client',
  'power cut of server',
  'power cut on indexeddb',
  'power cut on opfs',
  'power cut on opfs-exclusive',
  'power cut under strict durability',
  'problem replica-diverged',
  'quota reached',
  'read through the leader',
  'rejection',
  'reload below the floor',
  'repeated request',
  'request repeated by a browser',
  'restored backup',
  'restored below instances',
  'restored from the ledger',
  'retry rejected',
  'row of a key alone',
  'row read as it was',
  'room again on indexeddb',
  'room again on opfs',
  'room again on opfs-exclusive',
  'role revoked',
  'role viewer',
  'server stalled',
  'server stopped',
  'session ended: auth-database-forbidden',
  'session ended: auth-forbidden',
  'session ended: auth-token-expired',
  'session ended: quota-exceeded',
  'session ended: slow-consumer',
  'session over HTTP',
  'slow path',
  'snapshot file of a client',
  'suspended tab',
  'transaction lost in a power cut',
  'unflushed calls of a client lost',
  'swapped frames',
  'token renewed in a session',
  'transaction taken back',
  'transaction withdrawn',
  'welcome of one of several instances',
  'withdrawn transaction that had been sent',
  'withdrawn transaction that stayed away',
];

/** A run that prints nothing for 20 minutes counts as stuck, however busy the machine is. */
const LINE_EVERY_MS = 60_000;

export interface SimulationRun {
  readonly name: string;
  readonly first: number;
  readonly histories: number;
  readonly size: SizeName;
  /** Seeds in place of the last ones, as quick histories, for events that short ones lack. Default: none. */
  readonly directed?: readonly number[];
}

/**
 * Runs histories and prints what happened in them. Fails with the seed of the first failing history and the command
 * that repeats it.
 */
export async function runSimulation({ name, first, histories, size, directed = [] }: SimulationRun): Promise<void> {
  let printedMs = performance.now();
  const run = await runSeeds({
    seeds: seedsFrom(first, histories - directed.length),
    size: SIZES[size],
    onHistory: (done) => {
      if (performance.now() - printedMs < LINE_EVERY_MS) return;
      printedMs = performance.now();
      console.info(`${name}: ${done} of ${histories} histories`);
    },
  });
  const longer = await runSeeds({ seeds: directed, size: SIZES.quick });
  run.tally.include(longer.tally.counts);
  console.info(
    `${name}: ${run.histories + longer.histories} histories, ${(run.histories / run.seconds).toFixed(1)} a second\n${String(run.tally)}`,
  );
  console.info(`${name}: checks that could not decide\n${silentPassesAsText(run.tally)}`);
  for (const { seed, failure } of run.failures)
    throw new Error(`seed ${seed} failed: ${failure}\nAgain: ${replayCommand(seed, size)}`);
  for (const { seed, failure } of longer.failures)
    throw new Error(`seed ${seed} failed: ${failure}\nAgain: ${replayCommand(seed, 'quick')}`);
  for (const what of MUST_HAPPEN) expect(run.tally.of(what), what).toBeGreaterThan(0);

  expect(tooManySilentPasses(run.tally, run.histories + longer.histories), 'silent passes').toEqual([]);

  const again = seedsFrom(first, Math.ceil(histories / 100));
  const repeated = await runSeeds({ seeds: again, size: SIZES[size], expected: run.hashes });
  expect(repeated.failures, 'the same seed produces the same history').toEqual([]);
}

export function replayCommand(seed: number, size: SizeName): string {
  return `node_modules/.bin/node tests/simulation/replay.ts ${seed} ${size}`;
}
