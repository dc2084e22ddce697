import { newId, RockpoolError, sql, type Client, type Persistence } from '#client/index.ts';
import { freshName, openTab, type BrowserTab } from '#client/testing/browser-tabs.ts';
import { buildSchema } from '#shared/index.ts';
import { column, table } from '#sync-server/testing/test-schema.ts';
import { Random } from '../simulation/random.ts';
import { Oracle } from './oracle.ts';

export interface ChaosOptions {
  readonly seed: number;
  readonly stepsOfEachTab: number;
  readonly persistence: Persistence;
}

export interface ChaosReport {
  readonly steps: Readonly<Record<Step, number>>;
  readonly writes: number;
  readonly resolved: number;
  readonly longestStep: string;
  readonly longestMs: number;
}

type Step = 'open' | 'write' | 'write and die' | 'read' | 'close' | 'reload' | 'die';

const TABS = 5;
/** A step that takes this long is stuck even on a busy machine. */
const STUCK_MS = 3 * 60_000;
/** Steps of an open tab. Mostly work; about every tenth step closes or kills the tab. */
const STEPS: readonly Step[] = [
  ...Array<Step>(10).fill('write'),
  ...Array<Step>(7).fill('read'),
  'close',
  'reload',
  'die',
  'write and die',
];

const id = column('id', 'text', { notNull: true });
const schema = buildSchema([
  table('entry', [id, column('number', 'integer', { notNull: true })]),
  table('tally', [id, column('count', 'integer', { notNull: true })]),
]);

/**
 * Five tabs open, write, read, close, reload and die at random and independently, until each has made its number of
 * steps. Throws an error with the seed if a read is wrong or a step does not end. The seed decides what each tab does,
 * not how the browser interleaves them.
 */
export async function runTabChaos({ seed, stepsOfEachTab, persistence }: ChaosOptions): Promise<ChaosReport> {
  const name = freshName();
  const oracle = new Oracle();
  const steps: Record<Step, number> = { open: 0, write: 0, 'write and die': 0, read: 0, close: 0, reload: 0, die: 0 };
  let [longestStep, longestMs] = ['', 0];
  let failure: Error | null = null;

  async function timed<T>(step: Step, run: () => Promise<T>): Promise<T> {
    steps[step]++;
    const startedMs = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stuck = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`stuck for ${STUCK_MS} ms in: ${step}`)), STUCK_MS);
    });
    try {
      return await Promise.race([run(), stuck]);
    } finally {
      clearTimeout(timer);
      const tookMs = performance.now() - startedMs;
      if (tookMs > longestMs) [longestStep, longestMs] = [step, tookMs];
    }
  }

  async function write(client: Client): Promise<void> {
    const number = oracle.begin();
    try {
      await client.batch([
        sql`INSERT INTO entry VALUES (${newId()}, ${number})`,
        sql`INSERT INTO tally VALUES ('all', 1) ON CONFLICT (id) DO UPDATE SET count = count + 1`,
      ]);
      oracle.settle(number, 'resolved');
    } catch (thrown) {
      oracle.settle(number, 'rejected');
      throw thrown;
    }
  }

  const open = async (): Promise<BrowserTab> => timed('open', () => openTab({ name, schema, persistence }));

  async function live(random: Random, first: BrowserTab): Promise<void> {
    let tab: BrowserTab | null = first;
    for (let left = stepsOfEachTab; left > 0 && failure === null; left--) {
      const opened: BrowserTab = (tab ??= await open());
      const step = random.pick(STEPS);
      switch (step) {
        case 'write':
          await timed(step, () => Promise.all(Array.from({ length: 1 + random.below(5) }, () => write(opened.client))));
          break;
        case 'write and die':
          // Not awaited: a promise of a closed page never settles.
          for (let count = 1 + random.below(5); count > 0; count--) write(opened.client).catch(() => undefined);
          await pause(random.below(10));
          steps[step]++;
          opened.kill();
          tab = null;
          break;
        case 'read':
          await timed(step, () => check(opened.client, oracle));
          break;
        case 'close':
          await timed(step, () => opened.client.close());
          opened.kill();
          tab = null;
          await pause(random.below(200));
          break;
        case 'reload':
          steps[step]++;
          opened.kill();
          tab = await open();
          break;
        case 'die':
          steps[step]++;
          opened.kill();
          tab = null;
          await pause(random.below(200));
      }
    }
    await tab?.client.close();
    tab?.kill();
  }

  const opened = await Promise.all(Array.from({ length: TABS }, open));
  const lives = opened.map((first, index) =>
    live(new Random(seed * TABS + index), first).catch((thrown: unknown) => {
      failure ??= thrown as Error;
    }),
  );
  await Promise.all(lives);
  if (failure === null) await lookAgain().catch((thrown: unknown) => (failure = thrown as Error));
  if (failure !== null) throw new Error(`seed ${seed} on ${persistence}: ${reasonOf(failure)}`, { cause: failure });
  return { steps, ...oracle.counts, longestStep, longestMs: Math.round(longestMs) };

  async function lookAgain(): Promise<void> {
    const last = await open();
    await check(last.client, oracle);
    await last.client.close();
    last.kill();
  }
}

async function check(client: Client, oracle: Oracle): Promise<void> {
  const judge = oracle.expectation();
  const rows = await client.query<{ number: number; counter: number }>(
    "SELECT number, (SELECT count FROM tally WHERE id = 'all') AS counter FROM entry",
  );
  const problem = judge({ numbers: rows.map(({ number }) => number), counter: rows[0]?.counter ?? 0 });
  if (problem !== null) throw new Error(`a read of the ${client.status.current.role}: ${problem}`);
}

function reasonOf(failure: Error): string {
  return failure instanceof RockpoolError ? `${failure.code} ${failure.message}` : failure.message;
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
