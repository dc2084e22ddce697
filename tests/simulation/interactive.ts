import { RockpoolError, toRockpoolError, type ErrorCode } from '#shared/index.ts';
import type { Transaction } from '#client/interface/writes.ts';
import { OwnTransactions } from '#client/tab/own-transactions.ts';
import { runTransaction, type TransactionSource } from '#client/tab/transaction.ts';
import type { Random } from './random.ts';
import { checkNoEffect, isHonest } from './sending.ts';
import type { Tab } from './tab.ts';
import type { World } from './world.ts';
import { draftId } from './subject-writes.ts';
import { randomTransaction } from './writes.ts';

/** Thrown by the app's own code, to roll back. */
class ChangedMind extends Error {}

/** Errors that may end a transaction and that its author receives. */
const HONEST_ENDS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['transaction-timeout', 'transaction-ended']);

/** How long the app computes between two steps, in ms. The last is longer than the time limit of a transaction. */
const THINKING_MS = [0, 0, 1, 5, 40, 300, 6_000] as const;

/**
 * Runs a transaction of several calls through the shipped page code. Each step also adds itself to a local row, which
 * must then have every step so far exactly once.
 */
export function transactInSteps(world: World, tab: Tab, random: Random, mark: string): void {
  const { tally, model, time } = world;
  tally.add('open transaction');
  const isAtomic = random.chance(0.2);
  if (isAtomic) model.atomic.add(mark);
  const source: TransactionSource = {
    transact: (id, ask) => tab.membership.transact(id, ask),
    commit: (id) => tab.membership.commit(id),
  };
  const steps = new WrittenSteps(tab, random, mark);
  let isOver = false;
  tab.device.openTransactions.set(mark, tab);
  const transacting = tab.run(() =>
    runTransaction(source, `${mark} in steps`, (tx) => steps.run(tx), { atomic: isAtomic }, new OwnTransactions()),
  );
  const end = (): void => {
    isOver = true;
    tab.device.openTransactions.delete(mark);
  };
  transacting.then(
    () => {
      end();
      if (!tab.owner.isAlive) return;
      if (!model.commits.has(mark)) world.fault(`${mark} was committed in steps and is not in the changelog`);
      model.acknowledged.add(mark);
      tally.add('open transaction committed');
      world.note(`${mark} committed`);
    },
    (thrown: unknown) => {
      end();
      if (!tab.owner.isAlive) return;
      if (thrown instanceof StepsDiffer) return world.fault(`${mark}: ${thrown.message}`);
      const code = thrown instanceof ChangedMind ? 'rolled back' : toRockpoolError(thrown).code;
      world.note(`${mark} ended: ${code}`);
      tally.add(`open transaction ended: ${code}`);
      if (!(thrown instanceof ChangedMind) && !isHonestEnd(tab, thrown))
        world.fault(`${mark} failed with ${String(thrown)}`);
      else checkNoEffect(world, tab, mark, code);
    },
  );
  const { leader, browser } = tab.device;
  if (leader !== tab && random.chance(0.5))
    time.after(random.below(20), () => (random.chance(0.7) ? browser.doubleAsks(2) : browser.loseAnswers(1)));
  // The tab, or its leader, often dies while the transaction is open.
  if (random.chance(0.15))
    time.after(random.below(60), () => {
      if (isOver || !tab.owner.isAlive) return;
      tally.add('crash in an open transaction');
      tab.kill();
    });
  else if (leader !== tab && random.chance(0.3))
    time.after(random.below(60), () => {
      if (isOver || leader?.owner.isAlive !== true) return;
      tally.add('crash of the leader of an open transaction');
      leader.kill();
    });
}

function isHonestEnd(tab: Tab, thrown: unknown): boolean {
  return thrown instanceof RockpoolError && (isHonest(tab, thrown) || HONEST_ENDS.has(thrown.code));
}

class StepsDiffer extends Error {}

/** The statements of one transaction, each followed by its number in a local row. */
class WrittenSteps {
  private readonly random: Random;
  private readonly id: number;
  private readonly statements: ReturnType<typeof randomTransaction>;
  private written = '';

  constructor(tab: Tab, random: Random, mark: string) {
    this.random = random;
    this.id = draftId(`${mark} in steps`);
    this.statements = randomTransaction(tab, random, mark);
  }

  async run(tx: Transaction): Promise<void> {
    const { random } = this;
    await tx.execute("INSERT INTO draft (id, content) VALUES (?, '')", [this.id]);
    for (const [number, statement] of this.statements.entries()) {
      await tx.execute(statement);
      await this.write(tx, `${number};`);
      if (random.chance(0.2)) await this.undo(tx);
      if (random.chance(0.3)) await this.think();
    }
    if (random.chance(0.1)) throw new ChangedMind();
  }

  private async write(tx: Transaction, step: string): Promise<void> {
    await tx.execute('UPDATE draft SET content = content || ? WHERE id = ?', [step, this.id]);
    this.written += step;
    await this.check(tx);
  }

  /** A nested transaction that is rolled back has no effect. */
  private async undo(tx: Transaction): Promise<void> {
    const before = this.written;
    try {
      await tx.transaction(async (inner) => {
        await this.write(inner, 'undone;');
        throw new ChangedMind();
      });
    } catch (thrown) {
      if (!(thrown instanceof ChangedMind)) throw thrown;
    }
    this.written = before;
    await this.check(tx);
  }

  private async check(tx: Transaction): Promise<void> {
    const [row] = await tx.query<{ content: string }>('SELECT content FROM draft WHERE id = ?', [this.id]);
    if (row?.content !== this.written)
      throw new StepsDiffer(`the steps ${row?.content ?? 'nothing'} were executed instead of ${this.written}`);
  }

  private think(): Promise<void> {
    return new Promise((resolve) => void setTimeout(resolve, this.random.pick(THINKING_MS)));
  }
}
