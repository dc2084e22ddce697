import { join } from 'node:path';
import type { BenchBrowser, BenchTab } from '../harness/browser.ts';
import { openNodeTab } from '../harness/node-tab.ts';
import type { Samples } from '../report/samples.ts';
import { OURS } from '../report/target.ts';
import type { Role } from './adapters/adapter.ts';
import type { Sizes } from './dataset.ts';
import type { Dataset } from './fill.ts';
import { runs, slugOf, type Subject } from './subjects.ts';
import type { Unit, Workload } from './workload.ts';
import { TWO_TABS_MS } from './workloads/two-tabs.ts';
import type { FilledPart, Plan } from './workloads.ts';

/** Enough time for both tabs to be ready. */
const LOOP_STARTS_AFTER_MS = 300;
/** The database that several tabs have open. */
const SHARED = 'shared';

export interface RunOptions {
  readonly plan: Plan;
  readonly subjects: readonly Subject[];
  readonly sizes: Sizes;
  /**
   * The maximum number of rounds: no further round starts when the time is up. Subjects take turns within a round, each
   * round starting with a different one, so that other load on the machine affects all equally.
   */
  readonly rounds: number;
  /** Only these workloads; all when undefined. */
  readonly workloads: ReadonlySet<string> | undefined;
  /** The folder for the files of the native reference. */
  readonly folder: string;
  launch(): Promise<BenchBrowser>;
  /** False for a browser that loses its storage when it ends: cold then means only a new page and worker. */
  readonly restartsBrowser: boolean;
  urlOf(host: string): string;
}

interface DatabaseSession {
  readonly name: string;
  readonly role?: Role;
  /** The rows that fill the database when it is first opened. */
  readonly dataset?: Dataset;
}

/** Runs one plan. Reports and omits failures, then continues. */
export class StorageRun {
  readonly #options: RunOptions;
  readonly #samples: Samples;
  /** Subjects that failed to fill a database; workloads that need it are skipped. */
  readonly #broken = new Set<string>();
  #browser: BenchBrowser | undefined;
  /** Time spent on work that further rounds do not repeat. */
  #onceMs = 0;

  constructor(options: RunOptions, samples: Samples) {
    this.#options = options;
    this.#samples = samples;
  }

  async run(): Promise<void> {
    const { plan, rounds } = this.#options;
    const startMs = performance.now();
    try {
      await this.#restartBrowser();
      for (let round = 0; round < rounds; round++) {
        const elapsedMs = performance.now() - startMs;
        const perRoundMs = (elapsedMs - this.#onceMs) / round;
        if (round > 0 && elapsedMs + perRoundMs > plan.withinMinutes * 60_000) {
          console.log(`  Stopped after ${round} of ${rounds} rounds: no time for another.`);
          return;
        }
        await this.#round(round);
      }
    } finally {
      await this.#browser?.close();
    }
  }

  /** Runs everything once. The first round includes the longest workloads, which run only once in total. */
  async #round(round: number): Promise<void> {
    const { plan } = this.#options;
    for (const workloads of plan.onEmpty) await this.#emptyDatabases(workloads, round);
    for (const part of plan.onFilled) await this.#filledDatabases(part, round);
    if (plan.withTwoTabs) await this.#twoTabs(round);
    if (plan.withThreeTabs === true) await this.#threeTabs(round);
    if (plan.withLiveQueries) await this.#liveQueries(round);
    if (round === 0) await this.#once(() => this.#emptyDatabases(plan.once, round));
  }

  async #once(work: () => Promise<unknown>): Promise<void> {
    const startMs = performance.now();
    await work();
    this.#onceMs += performance.now() - startMs;
  }

  /** A new database for each subject. */
  async #emptyDatabases(workloads: readonly Workload[], round: number): Promise<void> {
    const wanted = workloads.filter(({ id }) => this.#isWanted(id));
    if (wanted.length === 0) return;
    for (const subject of this.#inTurn(round, wanted)) {
      await this.#session(subject, { name: `${wanted[0]?.id.toLowerCase()}-${round}`, dataset: 'empty' }, (tab) =>
        this.#measureAll(tab, subject, wanted, round),
      );
    }
  }

  /**
   * One database for each subject, filled in the first round. Each round uses a new browser, so its first workload runs
   * with cold caches.
   */
  async #filledDatabases({ dataset, workloads, coldOpenId }: FilledPart, round: number): Promise<void> {
    const wanted = workloads.filter(({ id }) => this.#isWanted(id));
    const isColdOpenWanted = coldOpenId !== undefined && this.#isWanted(coldOpenId);
    if (wanted.length === 0 && !isColdOpenWanted) return;
    if (round === 0) await this.#once(() => this.#fillAll(dataset, workloads));
    await this.#restartBrowser();
    for (const subject of this.#inTurn(round, workloads)) {
      if (this.#broken.has(`${slugOf(subject)} ${dataset}`)) continue;
      await this.#session(subject, { name: dataset }, async (tab, openMs) => {
        if (isColdOpenWanted && runs(subject, coldOpenId)) this.#add(coldOpenId, subject, 'ms', openMs);
        await this.#measureAll(tab, subject, wanted, round);
      });
    }
  }

  async #fillAll(dataset: Dataset, workloads: readonly Workload[]): Promise<void> {
    for (const subject of this.#inTurn(0, workloads)) {
      const isFilled = await this.#session(subject, { name: dataset, dataset }, () => Promise.resolve());
      if (!isFilled) this.#broken.add(`${slugOf(subject)} ${dataset}`);
    }
  }

  /** One tab writes occasionally, another reads continuously. */
  async #twoTabs(round: number): Promise<void> {
    if (!this.#isWanted('L8w') && !this.#isWanted('L8r')) return;
    for (const subject of await this.#sharing(round, (candidate) => runs(candidate, 'L8w'))) {
      await this.#session(subject, { name: SHARED }, async (writer) => {
        await this.#reading(subject, async (reader) => {
          const startAtMs = Date.now() + LOOP_STARTS_AFTER_MS;
          const [write, read] = await Promise.all([
            writer.bench.loop('write', startAtMs),
            reader.bench.loop('read', startAtMs),
          ]);
          this.#add('L8w', subject, 'ms', write.medianMs);
          this.#add('L8r', subject, 'ms', read.medianMs);
          this.#add('L8wMax', subject, 'ms', write.maxMs);
          this.#add('L8rMax', subject, 'ms', read.maxMs);
        });
      });
    }
  }

  /** One tab writes occasionally, two others read continuously: reads per second of both together. */
  async #threeTabs(round: number): Promise<void> {
    if (!this.#isWanted('reads')) return;
    for (const subject of await this.#sharing(round, () => true)) {
      await this.#session(subject, { name: SHARED }, (writer) =>
        this.#reading(subject, (one) =>
          this.#reading(subject, async (other) => {
            const startAtMs = Date.now() + LOOP_STARTS_AFTER_MS;
            const [write, ...reads] = await Promise.all([
              writer.bench.loop('write', startAtMs),
              one.bench.loop('read', startAtMs),
              other.bench.loop('read', startAtMs),
            ]);
            this.#add('reads', subject, '1/s', ((reads[0].count + reads[1].count) * 1000) / TWO_TABS_MS, 'higher');
            this.#add('write', subject, 'ms', write.medianMs);
          }),
        ),
      );
    }
  }

  /** The subjects that several tabs can open at once, with the database that they share. */
  async #sharing(round: number, isWanted: (subject: Subject) => boolean): Promise<Subject[]> {
    const subjects = this.#inTurn(round, []).filter((subject) => subject.manyTabs && isWanted(subject));
    if (round === 0)
      for (const subject of subjects)
        await this.#session(subject, { name: SHARED, dataset: 'shared' }, () => Promise.resolve());
    return subjects;
  }

  async #reading(subject: Subject, body: (tab: BenchTab) => Promise<void>): Promise<void> {
    await this.#session(subject, { name: SHARED, role: 'reader' }, body);
  }

  async #liveQueries(round: number): Promise<void> {
    if (!this.#isWanted('live')) return;
    for (const subject of this.#inTurn(round, []).filter(({ hasLiveQueries }) => hasLiveQueries)) {
      await this.#session(subject, { name: `live-${round}`, dataset: 'values' }, async (tab) => {
        const { medianMs, p95Ms } = await tab.bench.liveQueries();
        this.#add('liveP50', subject, 'ms', medianMs);
        this.#add('liveP95', subject, 'ms', p95Ms);
      });
    }
  }

  /**
   * Opens a database in a new tab, hands it over with the time that opening took, and closes both. False when anything
   * failed.
   */
  async #session(
    subject: Subject,
    database: DatabaseSession,
    body: (tab: BenchTab, openMs: number) => Promise<void>,
  ): Promise<boolean> {
    const { adapter, settings } = subject;
    const { name, role = 'writer', dataset } = database;
    const tab = await this.#openTab(subject);
    try {
      // The first read is of a table that an empty database does not have.
      const openMs = await tab.bench.open(
        { adapter, settings, database: name, role },
        (name === 'main' || name === 'values') && dataset === undefined,
      );
      if (dataset !== undefined) await tab.bench.fill(dataset, this.#options.sizes, Object.keys(subject.lacks ?? {}));
      await body(tab, openMs);
      await tab.bench.close();
      return true;
    } catch (error) {
      console.log(
        `  ${slugOf(subject)}, ${name}: ${error instanceof Error ? error.message.split('\n').slice(0, 4).join(' ') : String(error)}`,
      );
      return false;
    } finally {
      await tab.close();
    }
  }

  async #openTab(subject: Subject): Promise<BenchTab> {
    if (subject.medium === 'native') return openNodeTab(join(this.#options.folder, slugOf(subject)));
    if (this.#browser === undefined) throw new Error('this subject needs a browser, and none was started');
    return this.#browser.openTab(this.#options.urlOf(slugOf(subject)));
  }

  async #measureAll(tab: BenchTab, subject: Subject, workloads: readonly Workload[], round: number): Promise<void> {
    for (const workload of workloads) {
      if (!runs(subject, workload.id) || (subject.medium === 'native' && workload.thread === 'page')) continue;
      const measure = (): Promise<number> =>
        tab.bench.measure(workload.id, { sizes: this.#options.sizes, seed: round + 1 });
      if (workload.isWarm === true) await measure();
      for (let i = 0; i < (workload.repeats ?? 1); i++) this.#add(workload.id, subject, workload.unit, await measure());
    }
  }

  #add(workload: string, subject: Subject, unit: Unit, value: number, better: 'lower' | 'higher' = 'lower'): void {
    const id = this.#options.plan.prefix + workload;
    this.#samples.add({ workload: id, subject: subject.name, variant: subject.variant, unit, better }, value);
    console.log(`  ${id} ${slugOf(subject)}: ${Number(value.toPrecision(3))} ${unit}`);
  }

  #isWanted(workloadId: string): boolean {
    return this.#options.workloads?.has(this.#options.plan.prefix + workloadId) ?? true;
  }

  /** Subjects that run any of the workloads (all, if none is named), each round beginning with a different subject. */
  #inTurn(round: number, workloads: readonly Workload[]): Subject[] {
    const { subjects } = this.#options;
    const start = round % subjects.length;
    return [...subjects.slice(start), ...subjects.slice(0, start)].filter(
      (subject) => workloads.length === 0 || workloads.some(({ id }) => runs(subject, id)),
    );
  }

  /**
   * The first page of a new browser starts processes that the others use too, and so do its first worker, its first
   * storage and its first WebAssembly: the first subject would pay for all.
   */
  async #warmUp(browser: BenchBrowser): Promise<void> {
    const peer = this.#options.subjects.find(({ name, medium }) => name !== OURS && medium !== 'native');
    const tab = await browser.openTab(this.#options.urlOf('warm-up'));
    try {
      if (peer === undefined) return;
      await tab.bench.open(
        { adapter: peer.adapter, settings: peer.settings, database: 'warm-up', role: 'writer' },
        false,
      );
      await tab.bench.close();
    } finally {
      await tab.close();
    }
  }

  async #restartBrowser(): Promise<void> {
    if (this.#browser !== undefined && !this.#options.restartsBrowser) return;
    await this.#browser?.close();
    this.#browser = await this.#options.launch();
    await this.#warmUp(this.#browser);
  }
}
